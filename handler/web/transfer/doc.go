// Package transfer has the pages that import files into namespaces and export namespaces as
// files: one namespace, or several in one file.
package transfer

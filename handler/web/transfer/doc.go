// Package transfer has the pages that bring flags and segments into a namespace, and out of it:
// the comparison with another namespace or an earlier state, which brings selected ones over,
// the import of files, and exports as files, of one namespace or several.
package transfer

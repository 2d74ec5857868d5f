// Package settings has the pages of settings: the visitor's profile and sessions, static
// tokens, access, namespaces, the server, and the list of keys.
package settings

// Package guidon is the domain of a feature-flag service: namespaces, flags, segments,
// and their evaluation for an entity.
//
// Flags are read from an immutable [Snapshot] and written with [Store.Update].
// [Service] implements defaults, validation and error messages. Transports call it, and
// it calls a [Store]. The package imports only the standard library.
package guidon

// Package guidon is the domain of a feature-flag service: namespaces, flags,
// segments, their rules, and what they answer for an entity.
//
// Everything about flags is read from an immutable [Snapshot] and written
// through [Store.Update]. [Service] is the one place where permissions,
// defaults, validation and error texts live; transports call it and stores
// serve it. The package imports the standard library only.
package guidon

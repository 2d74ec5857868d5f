// Package guidon is the engine of a feature-flag service: namespaces, flags and segments,
// immutable snapshots of them, and their evaluation for an entity. A program that
// evaluates flags in its own process needs nothing else.
//
// It imports only the standard library. Package analysis says what flags do beyond one
// result. Package service implements the service over a store: writes, documents and tokens.
package guidon

// Package codec turns the JSON bodies, query strings and path variables of the
// HTTP interface into wire messages, and wire messages into JSON (contract 1.2
// and 1.3). It knows the messages only by their descriptors, so that an
// operation needs no code of its own here; the few messages of evaluation have
// some all the same, for speed. It also reads the evaluation contexts of OFREP,
// which no message holds; and a [Reader] is for the JSON of others.
//
// It serves the shapes that package wire uses: scalars, enums, lists, maps from
// string to string, Timestamp, Struct, Value, ListValue and Empty; a test fails
// when a message brings another one. google.api.HttpBody is not JSON and not
// for this package.
//
// Every function may be called concurrently. Every error about what a caller
// sent is a *guidon.Error with code InvalidArgument.
package codec

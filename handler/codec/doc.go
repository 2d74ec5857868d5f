// Package codec turns the JSON bodies, query strings and path variables of the
// HTTP interface into wire messages, and wire messages into JSON (contract 1.2
// and 1.3). It uses the descriptors of the messages, so that an operation needs no
// code here; only the messages of evaluation have their own code, for speed. It
// also reads the evaluation contexts of OFREP, which fit no message. [Reader] is for
// JSON that has no message at all.
//
// It supports the types that package wire uses: scalars, enums, lists, maps from
// string to string, Timestamp, Duration, Struct, Value, ListValue and Empty. A test fails if
// a message uses another one. google.api.HttpBody is not JSON and not supported.
//
// All functions are safe for concurrent use. An error caused by the input is a
// *guidon.Error with code InvalidArgument or TooLarge.
package codec

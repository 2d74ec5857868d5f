// Package exchange serves operations over HTTP.
//
// An [Exchange] is one request with its response. A [Router] finds the operation: it is
// built from the one table of rows, the few routes that are not operations, and the
// mounts of pages. The [Form] of a row decodes the request and encodes the response and
// the errors; [Messages] is that of JSON messages.
package exchange

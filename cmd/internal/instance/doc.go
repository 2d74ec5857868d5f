// Package instance makes an instance of the service out of its configuration, as
// far as it is the same whatever runtime runs it: log, database, cache, handler,
// first token, cleanup.
package instance

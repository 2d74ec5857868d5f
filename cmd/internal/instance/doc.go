// Package instance creates the parts of the service that are the same for all runtimes
// from the configuration: log, database, cache, handler, first token, cleanup.
package instance

// Package handler is the http.Handler of the service, and runs the operations of all
// transports.
//
// routes.go is the map of the API. Its table has a row for each operation, with its gRPC
// name, its HTTP routes, the role that it needs and its function. OFREP and the event
// streams, which have no messages, come with their HTTP form. The
// few routes that are not operations are those of package diagnostics.
//
// Each subject is a package of its own. Its functions convert the request, read a
// [service.View] or call [service.Service], and convert the result. Package call runs
// them for every transport, and package exchange serves them over HTTP.
package handler

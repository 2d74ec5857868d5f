// Package handler is the one http.Handler of the service, and the one path that
// every call takes whatever its transport.
//
// routes.go is the map of the API: a table of operations, each with its gRPC
// name, its HTTP routes and a function from wire message to wire message, and
// below it the few routes that are not operations. Messages stop here: a
// function turns its request into a call of [guidon.Service] and the answer into
// a message, and knows nothing of HTTP or gRPC.
package handler

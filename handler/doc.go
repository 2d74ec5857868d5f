// Package handler is the http.Handler of the service, and runs the operations of all
// transports.
//
// routes.go is the map of the API. Its table lists the operations, each with its gRPC
// name, its HTTP routes and a function from wire message to wire message. The few
// routes that are not operations follow.
//
// Wire messages are confined to this package: the function of an operation turns its
// request into a call of [service.Service] and the result into a message. It does not
// depend on HTTP or gRPC.
package handler

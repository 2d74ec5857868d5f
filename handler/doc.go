// Package handler is the http.Handler of the service, and runs the operations of all
// transports.
//
// routes.go is the map of the API. Its table lists the operations, each with its gRPC
// name, its HTTP routes and its function. OFREP and the event streams, which have no
// messages, come with the function that serves them over HTTP. The few routes that are
// not operations follow.
//
// Wire messages are confined to this package: the function of an operation converts its
// request, reads a [service.View] or calls [service.Service], and converts the result. It
// does not depend on HTTP or gRPC.
package handler

package handler

import (
	"context"
	"net/http"
	"strings"

	"google.golang.org/protobuf/proto"
)

// Route is a method and a path that lead to an operation. Pattern is in chi's
// syntax; its variables are fields of the request message, in snake_case.
type Route struct{ Method, Pattern string }

// Area is the part of the API that an operation belongs to, as far as
// authentication is concerned (operations 1.2).
type Area uint8

// The areas.
const (
	AreaManagement     Area = iota // exempt where management is excluded
	AreaEvaluation                 // exempt where evaluation is excluded
	AreaAuthentication             // tokens and the caller itself: never exempt
	AreaPublic                     // never authenticated
	AreaMeta                       // what the instance is: never exempt
	AreaOFREP                      // exempt where OFREP is excluded
)

// effect says what an operation changes.
type effect uint8

const (
	reads  effect = iota
	writes        // a namespace: If-Match applies
	issues        // authentications: If-Match does not apply
)

// Bounds of a request body: bytes, and members and elements of its JSON.
const (
	defaultBodyLimit  = 4 << 20
	importBodyLimit   = 64 << 20
	defaultValueLimit = 100_000
	importValueLimit  = 2_000_000
)

// Operation is one call of the API, over HTTP and gRPC alike. It is immutable.
type Operation struct {
	Name   string // full gRPC name, "/flipt.Flipt/CreateFlag"
	Routes []Route
	Area   Area

	effect         effect
	queryOnly      bool // the request is in the query string whatever the method
	versioned      bool // the answer has an ETag, and a form for each version of client
	evaluation     bool // evaluates flags, outside the areas for that
	stale          bool // goes on from memory while the database does not answer
	limits         Limits
	newRequest     func() proto.Message
	releaseRequest func(proto.Message) // nil where requests are not used again
	newResponse    func() proto.Message
	run            func(h *Handler, ctx context.Context, request *Request) (Response, error)
}

// message is a pointer to a generated message struct.
type message[T any] interface {
	*T
	proto.Message
}

// op returns the operation that fn carries out.
func op[Q, A any, PQ message[Q], PA message[A]](
	name string, effect effect, area Area, routes []Route,
	fn func(h *Handler, ctx context.Context, request PQ) (PA, error),
) *Operation {
	return exchanging[A, Q, PA, PQ](name, effect, area, routes,
		func(h *Handler, ctx context.Context, m PQ, _ *Request) (Response, error) {
			answer, err := fn(h, ctx, m)
			if err != nil {
				return Response{}, err
			}
			return Response{Message: answer}, nil
		})
}

// exchanging is op for an fn that looks at more of the request than its message,
// or answers more than one.
func exchanging[A, Q any, PA message[A], PQ message[Q]](
	name string, effect effect, area Area, routes []Route,
	fn func(h *Handler, ctx context.Context, m PQ, request *Request) (Response, error),
) *Operation {
	return &Operation{
		Name: name, Routes: routes, Area: area,
		effect: effect, limits: Limits{defaultBodyLimit, defaultValueLimit},
		newRequest:  func() proto.Message { return PQ(new(Q)) },
		newResponse: func() proto.Message { return PA(new(A)) },
		run: func(h *Handler, ctx context.Context, request *Request) (Response, error) {
			return fn(h, ctx, request.Message.(PQ), request)
		},
	}
}

// inQuery makes the operation read its request from the query string.
func (o *Operation) inQuery() *Operation {
	o.queryOnly = true
	return o
}

// withVersions says of the answer that it has an ETag, and a form for each
// version of client.
func (o *Operation) withVersions() *Operation {
	o.versioned = true
	return o
}

// servesStale lets the operation go on while the database does not answer, with
// the state that is held.
func (o *Operation) servesStale() *Operation {
	o.stale = true
	return o
}

// evaluating says that the operation evaluates flags, though its area is another.
func (o *Operation) evaluating() *Operation {
	o.evaluation = true
	return o
}

// reusingRequests lets the messages of an operation that evaluates one flag be used
// again.
func (o *Operation) reusingRequests() *Operation {
	o.newRequest, o.releaseRequest = takeEvaluationRequest, releaseEvaluationRequest
	return o
}

// large gives the operation the bounds of an import.
func (o *Operation) large() *Operation {
	o.limits = Limits{importBodyLimit, importValueLimit}
	return o
}

// NewRequest returns an empty request message.
func (o *Operation) NewRequest() proto.Message { return o.newRequest() }

// Release lets the memory of a request message serve another one. A transport may
// call it once, for a message that [Operation.NewRequest] returned; nothing of it
// but its texts is to be used after that.
func (o *Operation) Release(m proto.Message) {
	if o.releaseRequest != nil {
		o.releaseRequest(m)
	}
}

// NewResponse returns an empty response message.
func (o *Operation) NewResponse() proto.Message { return o.newResponse() }

// Service returns the full name of the gRPC service, "flipt.Flipt".
func (o *Operation) Service() string {
	return o.Name[1:strings.LastIndexByte(o.Name, '/')]
}

// Method returns the name of the gRPC method, "CreateFlag".
func (o *Operation) Method() string {
	return o.Name[strings.LastIndexByte(o.Name, '/')+1:]
}

// Writes tells whether the operation changes a namespace, so that If-Match
// applies to it.
func (o *Operation) Writes() bool { return o.effect == writes }

// ServesStale tells whether the operation goes on, with the state that is held,
// while the database does not answer. Its answers then say how old that is.
func (o *Operation) ServesStale() bool { return o.stale }

// evaluates reports whether the operation serves the evaluation of flags.
func (o *Operation) evaluates() bool {
	return o.evaluation || o.Area == AreaEvaluation || o.Area == AreaOFREP
}

// Versioned tells whether the answer has an ETag, so that If-None-Match applies
// to it, and a form for each version of client.
func (o *Operation) Versioned() bool { return o.versioned }

// HasBody tells whether the request of the route is in the body. Otherwise it
// is in the query string. Path variables come on top of either.
func (o *Operation) HasBody(route Route) bool {
	return !o.queryOnly && (route.Method == http.MethodPost || route.Method == http.MethodPut)
}

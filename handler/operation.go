package handler

import (
	"context"
	"net/http"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon/service"
)

// Route is a method and a path of an operation. Pattern is in chi's syntax; its
// variables are fields of the request message, in snake_case.
type Route struct{ Method, Pattern string }

// Area is the part of the API that an operation belongs to for authentication
// (operations 1.2).
type Area uint8

// The areas and when they are exempt from authentication.
const (
	AreaManagement     Area = iota // exempt if management is excluded
	AreaEvaluation                 // exempt if evaluation is excluded
	AreaAuthentication             // tokens and the caller itself: never exempt
	AreaPublic                     // always exempt
	AreaMeta                       // information about the instance: never exempt
	AreaOFREP                      // exempt if OFREP is excluded
)

// effect is what an operation changes.
type effect uint8

const (
	reads  effect = iota
	writes        // a namespace: If-Match applies
	issues        // authentications: If-Match does not apply
)

// Limits of a request body: bytes, and members and elements of its JSON.
const (
	defaultBodyLimit  = 4 << 20
	importBodyLimit   = 256 << 20
	defaultValueLimit = 100_000
	importValueLimit  = 20_000_000
)

// form serves the requests of an operation over HTTP in a format of their own.
type form func(h *Handler, x *exchange, o *Operation)

// Operation is an operation of the API: over both HTTP and gRPC or, if it has a form,
// over HTTP only. It is immutable.
type Operation struct {
	Name   string // full gRPC name, "/flipt.Flipt/CreateFlag"; with a form the path
	Routes []Route
	Area   Area

	form           form // nil if requests and responses are messages
	streams        bool // the response is an event stream
	effect         effect
	queryOnly      bool // the request is in the query string whatever the method
	versioned      bool // the response has an ETag and depends on the client version
	evaluation     bool // evaluates flags, although the area is not an evaluation area
	stale          bool // can be served from memory while the database is unavailable
	limits         Limits
	newRequest     func() proto.Message
	releaseRequest func(proto.Message) // nil if requests are not pooled
	newResponse    func() proto.Message
	run            func(h *Handler, ctx context.Context, c *call, request *Request) (Response, error)
}

// message is a pointer to a generated message struct.
type message[T any] interface {
	*T
	proto.Message
}

// read returns an operation that reads a namespace, which need not exist.
func read[Q, A any, PQ message[Q], PA message[A]](
	name string, area Area, routes []Route,
	fn func(v service.View, m PQ) (PA, error),
) *Operation {
	return list[A, Q, PA, PQ](name, area, routes, func(v service.View, m PQ, _ *Request) (Response, error) {
		answer, err := fn(v, m)
		return responseOf(answer, err)
	})
}

// list is read for an fn that may return its response in pieces.
func list[A, Q any, PA message[A], PQ message[Q]](
	name string, area Area, routes []Route,
	fn func(v service.View, m PQ, request *Request) (Response, error),
) *Operation {
	return viewing[A, Q, PA, PQ](name, area, routes, (*service.Service).ViewOrEmpty, fn)
}

// listExisting is list for a namespace that must exist.
func listExisting[A, Q any, PA message[A], PQ message[Q]](
	name string, area Area, routes []Route,
	fn func(v service.View, m PQ, request *Request) (Response, error),
) *Operation {
	return viewing[A, Q, PA, PQ](name, area, routes, (*service.Service).View, fn)
}

func viewing[A, Q any, PA message[A], PQ message[Q]](
	name string, area Area, routes []Route,
	view func(s *service.Service, ctx context.Context, namespace string, d service.Demand) (service.View, error),
	fn func(v service.View, m PQ, request *Request) (Response, error),
) *Operation {
	return ask[A, Q, PA, PQ](name, reads, area, routes,
		func(h *Handler, ctx context.Context, c *call, m PQ, request *Request) (response Response, err error) {
			v, err := view(h.service, ctx, request.about(), c.demand)
			if err == nil {
				response, err = fn(v, m, request)
			}
			response.State = v.State
			return response, err
		})
}

// write returns an operation that changes a namespace.
func write[Q, A any, PQ message[Q], PA message[A]](
	name string, area Area, routes []Route,
	fn func(ctx context.Context, s *service.Service, w service.Write, m PQ) (PA, int64, error),
) *Operation {
	return ask[A, Q, PA, PQ](name, writes, area, routes,
		func(h *Handler, ctx context.Context, c *call, m PQ, request *Request) (Response, error) {
			answer, revision, err := fn(ctx, h.service, c.write(), m)
			response, err := responseOf(answer, err)
			response.State = service.State{Namespace: request.about(), Revision: revision}
			return response, err
		})
}

// issue returns an operation that changes authentications.
func issue[Q, A any, PQ message[Q], PA message[A]](
	name string, routes []Route,
	fn func(ctx context.Context, s *service.Service, w service.Write, m PQ) (PA, error),
) *Operation {
	return ask[A, Q, PA, PQ](name, issues, AreaAuthentication, routes,
		func(h *Handler, ctx context.Context, c *call, m PQ, _ *Request) (Response, error) {
			answer, err := fn(ctx, h.service, c.write(), m)
			return responseOf(answer, err)
		})
}

// inform returns an operation that reads something else than a namespace.
func inform[Q, A any, PQ message[Q], PA message[A]](
	name string, area Area, routes []Route,
	fn func(h *Handler, ctx context.Context, c *call, m PQ) (PA, error),
) *Operation {
	return ask[A, Q, PA, PQ](name, reads, area, routes,
		func(h *Handler, ctx context.Context, c *call, m PQ, _ *Request) (Response, error) {
			answer, err := fn(h, ctx, c, m)
			return responseOf(answer, err)
		})
}

// responseOf returns the response with the message, unless err is an error.
func responseOf(m proto.Message, err error) (Response, error) {
	if err != nil {
		return Response{}, err
	}
	return Response{Message: m}, nil
}

// ask returns any operation. fn states in the response what it is about.
func ask[A, Q any, PA message[A], PQ message[Q]](
	name string, effect effect, area Area, routes []Route,
	fn func(h *Handler, ctx context.Context, c *call, m PQ, request *Request) (Response, error),
) *Operation {
	return &Operation{
		Name: name, Routes: routes, Area: area,
		effect: effect, limits: Limits{defaultBodyLimit, defaultValueLimit},
		newRequest:  func() proto.Message { return PQ(new(Q)) },
		newResponse: func() proto.Message { return PA(new(A)) },
		run: func(h *Handler, ctx context.Context, c *call, request *Request) (Response, error) {
			return fn(h, ctx, c, request.Message.(PQ), request)
		},
	}
}

// validating makes the operation run check before it reads anything (contract 1.2).
func (o *Operation) validating(check func(m proto.Message) error) *Operation {
	run := o.run
	o.run = func(h *Handler, ctx context.Context, c *call, request *Request) (Response, error) {
		if err := check(request.Message); err != nil {
			return Response{}, err
		}
		return run(h, ctx, c, request)
	}
	return o
}

// inQuery sets queryOnly.
func (o *Operation) inQuery() *Operation {
	o.queryOnly = true
	return o
}

// withVersions sets versioned.
func (o *Operation) withVersions() *Operation {
	o.versioned = true
	return o
}

// servesStale sets stale.
func (o *Operation) servesStale() *Operation {
	o.stale = true
	return o
}

// evaluating sets evaluation.
func (o *Operation) evaluating() *Operation {
	o.evaluation = true
	return o
}

// reusingRequests pools the request messages of an operation that evaluates one flag.
func (o *Operation) reusingRequests() *Operation {
	o.newRequest, o.releaseRequest = takeEvaluationRequest, releaseEvaluationRequest
	return o
}

// large sets the limits of an import.
func (o *Operation) large() *Operation {
	o.limits = Limits{importBodyLimit, importValueLimit}
	return o
}

// NewRequest returns an empty request message.
func (o *Operation) NewRequest() proto.Message { return o.newRequest() }

// Release returns a request message to the pool. A transport may call it once for a
// message returned by [Operation.NewRequest]. Afterwards only the strings of the message
// may be used.
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

// Writes reports whether the operation changes a namespace, so that If-Match applies to
// it.
func (o *Operation) Writes() bool { return o.effect == writes }

// ServesStale reports whether the operation can be served from memory while the database
// is unavailable. The response then states the age of the data.
func (o *Operation) ServesStale() bool { return o.stale }

// evaluates reports whether the operation serves the evaluation of flags.
func (o *Operation) evaluates() bool {
	return o.evaluation || o.Area == AreaEvaluation || o.Area == AreaOFREP
}

// Versioned reports whether the response has an ETag, so that If-None-Match applies, and
// depends on the version of the client.
func (o *Operation) Versioned() bool { return o.versioned }

// HasBody reports whether the request of the route is in the body. Otherwise it is in
// the query string. Path variables override both.
func (o *Operation) HasBody(route Route) bool {
	return !o.queryOnly && (route.Method == http.MethodPost || route.Method == http.MethodPut)
}

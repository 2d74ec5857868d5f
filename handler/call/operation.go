package call

import (
	"context"
	"io"
	"net/http"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon/service"
)

// Route is a method and a path of an operation. Pattern is in chi's syntax; its
// variables are fields of the request message, in snake_case.
type Route struct{ Method, Pattern string }

// Variables returns the names of the pattern's variables, in order.
func (r Route) Variables() []string {
	var names []string
	for _, part := range strings.Split(r.Pattern, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			names = append(names, strings.TrimSuffix(name, "}"))
		}
	}
	return names
}

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

// Limits of most request bodies: bytes, and members and elements of the JSON.
const (
	defaultBodyLimit  = 4 << 20
	defaultValueLimit = 100_000
)

// Operation is an operation of the API: over both HTTP and gRPC or, if it has no
// messages, over HTTP only. It is immutable.
type Operation struct {
	Name   string // full gRPC name, "/flipt.Flipt/CreateFlag"; without messages the path
	Routes []Route
	Area   Area

	disabled       bool
	effect         effect
	queryOnly      bool // the request is in the query string whatever the method
	versioned      bool // the response has an ETag and depends on the client version
	evaluation     bool // evaluates flags, although the area is not an evaluation area
	stale          bool // can be served from memory while the database is unavailable
	limits         Limits
	long           *LongBody            // nil if no body is long
	newRequest     func() proto.Message // nil if there are no messages
	releaseRequest func(proto.Message)  // nil if requests are not pooled
	newResponse    func() proto.Message
	run            Func
}

// Func runs an operation for a caller who is known and may call it. The State of its
// response is also set beside an error, as far as it is known.
type Func func(ctx context.Context, s *service.Service, c *Call, request *Request) (Response, error)

// LongBody is how an operation decodes a body over HTTP that is too long to be decoded as
// a whole.
type LongBody struct {
	Whole   int64 // the longest body that is decoded as a whole, in bytes
	TooLong error // for a body that exceeds the limit of the operation
	// Decode decodes the body while it reads it: into m, and into what becomes the
	// request's Payload.
	Decode func(body io.Reader, m proto.Message) (payload any, err error)
}

// NewOperation returns an operation without messages that is served in a format of its
// own, with a single route. Its requests come with a Payload.
func NewOperation(route Route, area Area, bytes int64, run Func) *Operation {
	return &Operation{Name: route.Pattern, Routes: []Route{route}, Area: area, limits: Limits{Bytes: bytes}, run: run}
}

// message is a pointer to a generated message struct.
type message[T any] interface {
	*T
	proto.Message
}

// Read returns an operation that reads a namespace, which need not exist.
func Read[Q, A any, PQ message[Q], PA message[A]](
	name string, area Area, routes []Route,
	fn func(v service.View, m PQ) (PA, error),
) *Operation {
	return List[A, Q, PA, PQ](name, area, routes, func(v service.View, m PQ, _ *Request) (Response, error) {
		answer, err := fn(v, m)
		return responseOf(answer, err)
	})
}

// List is Read for an fn that may return its response in pieces.
func List[A, Q any, PA message[A], PQ message[Q]](
	name string, area Area, routes []Route,
	fn func(v service.View, m PQ, request *Request) (Response, error),
) *Operation {
	return viewing[A, Q, PA, PQ](name, area, routes, (*service.Service).ViewOrEmpty, fn)
}

// ListExisting is List for a namespace that must exist.
func ListExisting[A, Q any, PA message[A], PQ message[Q]](
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
		func(ctx context.Context, s *service.Service, c *Call, m PQ, request *Request) (response Response, err error) {
			v, err := view(s, ctx, request.about(), c.Demand)
			if err == nil {
				response, err = fn(v, m, request)
			}
			response.State = v.State
			return response, err
		})
}

// Change returns an operation that changes a namespace.
func Change[Q, A any, PQ message[Q], PA message[A]](
	name string, area Area, routes []Route,
	fn func(ctx context.Context, s *service.Service, w service.Write, m PQ) (PA, int64, error),
) *Operation {
	return ask[A, Q, PA, PQ](name, writes, area, routes,
		func(ctx context.Context, s *service.Service, c *Call, m PQ, request *Request) (Response, error) {
			answer, revision, err := fn(ctx, s, c.Write(), m)
			response, err := responseOf(answer, err)
			response.State = service.State{Namespace: request.about(), Revision: revision}
			return response, err
		})
}

// Issue returns an operation that changes authentications.
func Issue[Q, A any, PQ message[Q], PA message[A]](
	name string, routes []Route,
	fn func(ctx context.Context, s *service.Service, w service.Write, m PQ) (PA, error),
) *Operation {
	return ask[A, Q, PA, PQ](name, issues, AreaAuthentication, routes,
		func(ctx context.Context, s *service.Service, c *Call, m PQ, _ *Request) (Response, error) {
			answer, err := fn(ctx, s, c.Write(), m)
			return responseOf(answer, err)
		})
}

// Inform returns an operation that reads something else than a namespace.
func Inform[Q, A any, PQ message[Q], PA message[A]](
	name string, area Area, routes []Route,
	fn func(ctx context.Context, s *service.Service, c *Call, m PQ) (PA, error),
) *Operation {
	return ask[A, Q, PA, PQ](name, reads, area, routes,
		func(ctx context.Context, s *service.Service, c *Call, m PQ, _ *Request) (Response, error) {
			answer, err := fn(ctx, s, c, m)
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

// Ask returns an operation that reads and needs more than the other kinds give. fn
// states in the response what it is about.
func Ask[A, Q any, PA message[A], PQ message[Q]](
	name string, area Area, routes []Route,
	fn func(ctx context.Context, s *service.Service, c *Call, m PQ, request *Request) (Response, error),
) *Operation {
	return ask[A, Q, PA, PQ](name, reads, area, routes, fn)
}

func ask[A, Q any, PA message[A], PQ message[Q]](
	name string, effect effect, area Area, routes []Route,
	fn func(ctx context.Context, s *service.Service, c *Call, m PQ, request *Request) (Response, error),
) *Operation {
	return &Operation{
		Name: name, Routes: routes, Area: area,
		effect: effect, limits: Limits{defaultBodyLimit, defaultValueLimit},
		newRequest:  func() proto.Message { return PQ(new(Q)) },
		newResponse: func() proto.Message { return PA(new(A)) },
		run: func(ctx context.Context, s *service.Service, c *Call, request *Request) (Response, error) {
			return fn(ctx, s, c, request.Message.(PQ), request)
		},
	}
}

// Validating makes the operation run check before it reads anything (contract 1.2).
func (o *Operation) Validating(check func(m proto.Message) error) *Operation {
	run := o.run
	o.run = func(ctx context.Context, s *service.Service, c *Call, request *Request) (Response, error) {
		if err := check(request.Message); err != nil {
			return Response{}, err
		}
		return run(ctx, s, c, request)
	}
	return o
}

// Writing marks an operation that changes a namespace, although it was made by [Ask].
func (o *Operation) Writing() *Operation {
	o.effect = writes
	return o
}

// Issuing marks an operation that changes authentications, although it was made by [Ask].
func (o *Operation) Issuing() *Operation {
	o.effect = issues
	return o
}

// EnabledIf disables the operation unless it is enabled. Only trusted callers of this
// process can call a disabled one.
func (o *Operation) EnabledIf(enabled bool) *Operation {
	o.disabled = !enabled
	return o
}

// InQuery makes the request come in the query string whatever the method.
func (o *Operation) InQuery() *Operation {
	o.queryOnly = true
	return o
}

// WithVersions makes the response have an ETag and depend on the client version.
func (o *Operation) WithVersions() *Operation {
	o.versioned = true
	return o
}

// ServingStale makes the operation available from memory while the database is not.
func (o *Operation) ServingStale() *Operation {
	o.stale = true
	return o
}

// Evaluating marks an operation that evaluates flags outside [AreaEvaluation].
func (o *Operation) Evaluating() *Operation {
	o.evaluation = true
	return o
}

// Reusing makes the operation take its request messages from a pool and release them.
func (o *Operation) Reusing(take func() proto.Message, release func(proto.Message)) *Operation {
	o.newRequest, o.releaseRequest = take, release
	return o
}

// Large replaces the limits of the request, which may have a long body.
func (o *Operation) Large(limits Limits, long LongBody) *Operation {
	o.limits, o.long = limits, &long
	return o
}

// Enabled reports whether others than trusted callers of this process can call the
// operation.
func (o *Operation) Enabled() bool { return !o.disabled }

// HasMessages reports whether requests and responses are messages, so that the operation
// is available over gRPC too.
func (o *Operation) HasMessages() bool { return o.newRequest != nil }

// LongBody returns how a long body is decoded, or nil if there is none.
func (o *Operation) LongBody() *LongBody { return o.long }

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

// Changes reports whether the operation changes a namespace or authentications.
func (o *Operation) Changes() bool { return o.effect != reads }

// Evaluates reports whether the operation serves the evaluation of flags.
func (o *Operation) Evaluates() bool {
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

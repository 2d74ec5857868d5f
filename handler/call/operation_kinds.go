package call

import (
	"context"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon/service"
)

// Limits of most request bodies: bytes, and members and elements of the JSON.
const (
	defaultBodyLimit  = 4 << 20
	defaultValueLimit = 100_000
)

// NewOperation returns an operation without messages that is served in a format of its
// own, with a single route. Its requests come with a Payload. It must state its cost.
func NewOperation(route Route, area Area, bytes int64, run Func) *Operation {
	return &Operation{Name: route.Pattern, Routes: []Route{route}, Area: area, limits: Limits{Bytes: bytes}, run: run}
}

// message is a pointer to a generated message struct.
type message[T any] interface {
	*T
	proto.Message
}

// Read returns an operation that reads a namespace, which need not exist, for viewers. The
// request may name an earlier state of it instead, unless the operation evaluates flags. A heavy fn
// must end when the context does.
func Read[Q, A any, PQ message[Q], PA message[A]](
	name string, area Area, routes []Route,
	fn func(ctx context.Context, v service.View, m PQ) (PA, error), checks ...func(m PQ) error,
) *Operation {
	return List[A, Q, PA, PQ](name, area, routes, func(ctx context.Context, v service.View, m PQ, _ *Request) (Response, error) {
		answer, err := fn(ctx, v, m)
		return responseOf(answer, err)
	}, checks...)
}

// List is Read for an fn that may return its response in pieces.
func List[A, Q any, PA message[A], PQ message[Q]](
	name string, area Area, routes []Route,
	fn func(ctx context.Context, v service.View, m PQ, request *Request) (Response, error), checks ...func(m PQ) error,
) *Operation {
	var o *Operation
	o = Ask[A, Q, PA, PQ](name, area, routes,
		func(ctx context.Context, s *service.Service, c *Call, m PQ, request *Request) (response Response, err error) {
			v, err := request.view(ctx, s, c.Demand, o.Has(Existing))
			if err == nil {
				response, err = fn(ctx, v, m, request)
			}
			if err == nil {
				request.tag(o, &response, v.Snapshot)
			}
			if err == nil && response.Answer != nil { // it keeps the state until the client has received it
				err = request.Reserve(ctx, request.stored)
			}
			response.State = v.State
			return response, err
		}, checks...).Light().Needing(service.RoleViewer)
	if area == AreaManagement {
		o.With(ReadsStates)
	}
	return o
}

// pairMessage is the request for an operation that reads two namespaces.
type pairMessage[T any] interface {
	message[T]
	compares
}

// ReadPair returns an operation that reads two namespaces, which must exist, or earlier
// states of them, for viewers of both: that of the request, which its response is about,
// and the one that it names as with. It is heavy.
func ReadPair[Q, A any, PQ pairMessage[Q], PA message[A]](
	name string, routes []Route,
	fn func(ctx context.Context, before, after service.View, m PQ, request *Request) (PA, error), checks ...func(m PQ) error,
) *Operation {
	var o *Operation
	o = Ask[A, Q, PA, PQ](name, AreaManagement, routes,
		func(ctx context.Context, s *service.Service, c *Call, m PQ, request *Request) (response Response, err error) {
			before, after, err := request.viewPair(ctx, s, c.Demand, m.GetWith())
			if err == nil {
				response, err = responseOf(fn(ctx, before, after, m, request))
			}
			if err == nil {
				request.tag(o, &response, before.Snapshot, after.Snapshot)
			}
			response.State = before.State
			return response, err
		}, checks...).Heavy().With(ReadsStates).Needing(service.RoleViewer)
	return o
}

// Change returns an operation that changes a namespace, for editors.
func Change[Q, A any, PQ message[Q], PA message[A]](
	name string, area Area, routes []Route,
	fn func(ctx context.Context, s *service.Service, w service.Write, m PQ) (PA, int64, error), checks ...func(m PQ) error,
) *Operation {
	return Ask[A, Q, PA, PQ](name, area, routes,
		func(ctx context.Context, s *service.Service, c *Call, m PQ, request *Request) (Response, error) {
			answer, revision, err := fn(ctx, s, c.Write(), m)
			response, err := responseOf(answer, err)
			response.State = service.State{Namespace: request.about(), Revision: revision}
			return response, err
		}, checks...).Light().With(Writes).Needing(service.RoleEditor)
}

// Issue returns an operation that changes authentications, for admins of everything.
func Issue[Q, A any, PQ message[Q], PA message[A]](
	name string, routes []Route,
	fn func(ctx context.Context, s *service.Service, w service.Write, m PQ) (PA, error),
) *Operation {
	return Arrange[Q, A, PQ, PA](name, AreaAuthentication, routes, fn).NeedingEverywhere(service.RoleAdmin)
}

// Arrange returns an operation that changes what belongs to the authentications, for admins.
func Arrange[Q, A any, PQ message[Q], PA message[A]](
	name string, area Area, routes []Route,
	fn func(ctx context.Context, s *service.Service, w service.Write, m PQ) (PA, error),
) *Operation {
	return Ask[A, Q, PA, PQ](name, area, routes,
		func(ctx context.Context, s *service.Service, c *Call, m PQ, _ *Request) (Response, error) {
			answer, err := fn(ctx, s, c.Write(), m)
			return responseOf(answer, err)
		}).Light().With(Issues | Private).Needing(service.RoleAdmin)
}

// Inform returns an operation that reads something else than a namespace.
func Inform[Q, A any, PQ message[Q], PA message[A]](
	name string, area Area, routes []Route,
	fn func(ctx context.Context, s *service.Service, c *Call, m PQ) (PA, error), checks ...func(m PQ) error,
) *Operation {
	return Ask[A, Q, PA, PQ](name, area, routes,
		func(ctx context.Context, s *service.Service, c *Call, m PQ, _ *Request) (Response, error) {
			answer, err := fn(ctx, s, c, m)
			return responseOf(answer, err)
		}, checks...).Light()
}

// responseOf returns the response with the message, unless err is an error.
func responseOf(m proto.Message, err error) (Response, error) {
	if err != nil {
		return Response{}, err
	}
	return Response{Message: m}, nil
}

// Ask returns an operation that needs more than the other kinds give. It reads, unless it
// is marked otherwise, and must state its cost. fn states in the response what it is about. The
// checks of the request come before anything is read (contract 1.2), here and in other kinds.
func Ask[A, Q any, PA message[A], PQ message[Q]](
	name string, area Area, routes []Route,
	fn func(ctx context.Context, s *service.Service, c *Call, m PQ, request *Request) (Response, error),
	checks ...func(m PQ) error,
) *Operation {
	return &Operation{
		Name: name, Routes: routes, Area: area, limits: Limits{defaultBodyLimit, defaultValueLimit},
		newRequest:  func() proto.Message { return PQ(new(Q)) },
		newResponse: func() proto.Message { return PA(new(A)) },
		run: func(ctx context.Context, s *service.Service, c *Call, request *Request) (Response, error) {
			m := request.Message.(PQ)
			for _, check := range checks {
				if err := check(m); err != nil {
					return Response{}, err
				}
			}
			return fn(ctx, s, c, m, request)
		},
	}
}

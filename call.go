package guidon

import "context"

// Call accompanies one request through the service: who asks, under which
// condition, and, filled in on the way, which state answered. It is used by one
// goroutine.
type Call struct {
	Actor          Actor
	Authentication *Authentication // the credential presented, where one was needed
	RequestID      string
	IfMatch        *int64 // a write demands that this revision number is current

	// Namespace and Revision are set by the service when the request turns out
	// to be about one namespace and a state of it has been read or written.
	Namespace string
	Revision  int64
}

// Actor is who makes a change.
type Actor struct {
	ID     string `json:"id"`             // stable: "token:<uuid>", "anonymous", "cli:<user>", "system:<task>"
	Name   string `json:"name,omitempty"` // for people
	Method string `json:"method,omitempty"`
}

// Anonymous is the actor of calls that need no credential.
var Anonymous = Actor{ID: "anonymous"}

type callKey struct{}

// WithCall returns a context that carries the call.
func WithCall(ctx context.Context, call *Call) context.Context {
	return context.WithValue(ctx, callKey{}, call)
}

// CallFrom returns the call of the context. Without one it returns a fresh
// anonymous call, so that the result is never nil.
func CallFrom(ctx context.Context) *Call {
	if call, ok := ctx.Value(callKey{}).(*Call); ok {
		return call
	}
	return &Call{Actor: Anonymous}
}

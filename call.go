package guidon

import (
	"context"
	"time"
)

// Call accompanies one request through the service: who asks, under which
// condition, and, filled in on the way, which state answered. It is used by one
// goroutine.
type Call struct {
	Actor          Actor
	Authentication *Authentication // the credential presented, where one was needed
	RequestID      string
	RequestIDGiven bool   // by the caller, who may give it to several calls
	IfMatch        *int64 // a write demands that this revision number is current

	// What reads demand and accept. Begun is when the request arrived: by
	// time.Now, as a store compares it with instants of its own; zero is when each
	// read begins. A store may take it that About is the namespace that will be
	// read, to find out about it along with the rest.
	Begun       time.Time
	About       string
	Fresh       bool  // what is answered was found to be current after Begun, whatever it costs
	MinRevision int64 // the revision of the namespace is at least this number
	MayBeStale  bool  // while the database does not answer, an old state is better than none

	// Namespace and Revision are set by the service when the request turns out
	// to be about one namespace and a state of it has been read or written.
	Namespace string
	Revision  int64
	// Stale is set by a store that answered with an old state, as MayBeStale lets
	// it: how long ago that was last known to be current.
	Stale time.Duration

	carrier callContext // the first context that WithCall made
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

// callContext is a context that carries a call.
type callContext struct {
	context.Context
	call *Call
}

// Value implements [context.Context].
func (c *callContext) Value(key any) any {
	if key == (callKey{}) {
		return c.call
	}
	return c.Context.Value(key)
}

// WithCall returns a context that carries the call. The first one for a call
// costs no memory.
func WithCall(ctx context.Context, call *Call) context.Context {
	carrier := &call.carrier
	if carrier.call != nil {
		carrier = new(callContext)
	}
	*carrier = callContext{ctx, call}
	return carrier
}

// CallFrom returns the call of the context. Without one it returns a fresh
// anonymous call, so that the result is never nil.
func CallFrom(ctx context.Context) *Call {
	if call, ok := ctx.Value(callKey{}).(*Call); ok {
		return call
	}
	return &Call{Actor: Anonymous}
}

package service

import (
	"context"
	"time"

	"github.com/guidonhq/guidon/change"
)

// Call carries the metadata of one request: the caller, its preconditions and,
// filled in during the request, the revision that answered it. It is not safe for
// concurrent use.
type Call struct {
	Actor          change.Actor    // the author of changes
	Authentication *Authentication // the credential presented, or nil
	RequestID      string
	RequestIDGiven bool   // RequestID was chosen by the client, which may reuse it
	IfMatch        *int64 // writes fail unless this is the current revision number

	// Begun is when the request arrived. It must come from time.Now, because a store
	// compares it with its own times; zero means the start of each read.
	Begun time.Time
	// About is a hint: the namespace that will be read. A store may fetch its state
	// together with other data.
	About       string
	Fresh       bool  // reads must check after Begun that the state is current
	MinRevision int64 // reads require at least this revision of the namespace
	MayBeStale  bool  // reads accept an old state while the database is unavailable

	// Namespace and Revision are set by the service if the request is about a single
	// namespace, once that has been read or written.
	Namespace string
	Revision  int64
	// Stale is set by a store that returned an old state because of MayBeStale: the
	// time since that was last known to be current.
	Stale time.Duration

	carrier callContext // the first context returned by WithCall
}

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

// WithCall returns a context that carries call. The first one for a call does not
// allocate. It modifies call, so it is not safe for concurrent use with the same one.
func WithCall(ctx context.Context, call *Call) context.Context {
	carrier := &call.carrier
	if carrier.call != nil {
		carrier = new(callContext)
	}
	*carrier = callContext{ctx, call}
	return carrier
}

// CallFrom returns the call that ctx carries, or a new anonymous one. The result is
// never nil.
func CallFrom(ctx context.Context) *Call {
	if call, ok := ctx.Value(callKey{}).(*Call); ok {
		return call
	}
	return &Call{Actor: change.Anonymous}
}

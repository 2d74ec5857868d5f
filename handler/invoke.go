package handler

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/budget"
)

// Request is a call of an operation, as a transport received it.
type Request struct {
	Authorization, Cookie []string // raw header values
	IfMatch               string   // raw header value
	IfNoneMatch           string   // raw header value
	CacheControl          string   // raw header value
	MinRevision           string   // raw header value of Guidon-Min-Revision
	ClientVersion         string   // raw header value: the server version that the client was made for
	RequestID             string   // replaced if it is not fit for a log, before Source is called
	Transport             string   // "http", "grpc" or "local"
	Message               proto.Message
	Source                Source        // of Message if that is nil: read once the caller is known
	Actor                 *guidon.Actor // set by trusted callers of this process only: skips authentication

	path       string             // the namespace that the path names
	document   *guidon.Document   // of an import whose message is without it
	reserved   budget.Reservation // for the answer, until the client has it
	pieces     bool               // the answer may be written by the piece, in the place of a message
	ofrep      *ofrepRequest      // in the place of Message: a call of OFREP
	capability *capability        // in the place of a credential: that of a listener
	listener   listener           // whom a stream is for
}

// reserve makes the room for the answer n bytes. Small answers need none.
func (r *Request) reserve(ctx context.Context, n int64) error {
	if n <= budget.Small {
		n = 0
	}
	return r.reserved.Resize(ctx, n)
}

// Response is the answer. On errors only what tells about the state is set:
// RequestID, Namespace, Revision and Stale.
type Response struct {
	Message   proto.Message
	RequestID string
	Namespace string
	Revision  int64         // 0 when the answer is not about one namespace
	Stale     time.Duration // how old the state is, where the database does not answer; otherwise 0

	ETag        string // of an answer that can be asked for by IfNoneMatch
	NotModified bool   // the caller has the answer already: Message is an empty one

	write func(x *exchange) // writes the response in pieces, instead of Message, if the request allows that
	data  []byte            // in the place of Message: the answer to a call of OFREP

	memory releasable // what Message is in, where that can be released

	events  []byte    // for a stream
	more    bool      // there may be more of them
	expires time.Time // the caller's credential does, zero for never
}

// Release lets the memory of Message serve another answer. A transport may call it
// once, when it has encoded Message, which is not to be used after that.
func (r *Response) Release() {
	if r.memory != nil {
		r.memory.release()
	}
	r.Message, r.memory = nil, nil
}

// releasable is memory that can serve again.
type releasable interface{ release() }

// Invoke runs an operation: authentication, decoding, authorization, validation,
// then the store (design 6). It writes the one event of the request and calls the
// observer. The error, if any, is for [guidon.CodeOf] and [guidon.PublicMessage];
// a panic becomes an Internal one.
func (h *Handler) Invoke(ctx context.Context, o *Operation, request Request) (Response, error) {
	e := event{
		start:     tick(),
		operation: o.Name,
		transport: request.Transport,
	}
	e.deadline, _ = ctx.Deadline()
	e.name(request.RequestID)
	request.RequestID = e.requestID
	response, err := h.invoke(ctx, o, &request, new(work), &e)
	e.err = err
	h.finish(ctx, &e)
	return response, err
}

// invoke is Invoke without the telling, with a work that has not been used.
func (h *Handler) invoke(ctx context.Context, o *Operation, request *Request, work *work, e *event) (Response, error) {
	call := &work.call
	call.Actor, call.RequestID, call.RequestIDGiven = guidon.Anonymous, e.requestID, e.named
	response, err := h.run(ctx, o, request, work)
	e.opaque = work.undecoded
	e.actor, e.namespace, e.revision, e.stale = call.Actor.ID, call.Namespace, call.Revision, call.Stale
	response.RequestID, response.Namespace, response.Revision, response.Stale = call.RequestID, call.Namespace, call.Revision, call.Stale
	return response, err
}

// work is what an operation is carried out with.
type work struct {
	call      guidon.Call
	bounded   bounded
	undecoded bool // the message could not be read, so the error may quote it
}

func (h *Handler) run(ctx context.Context, o *Operation, request *Request, work *work) (response Response, err error) {
	call, bounded := &work.call, &work.bounded
	defer func() {
		if v := recover(); v != nil {
			if isAbort(v) {
				panic(v)
			}
			response, err = Response{}, newPanicError(v)
		}
	}()
	if request.Actor == nil && !h.Enabled(o) {
		return response, guidon.Errorf(guidon.Unimplemented, "%s is switched off", o.Method())
	}
	if err = h.checkLoad(ctx); err != nil {
		return response, err
	}
	if call.IfMatch, err = o.condition(request.IfMatch); err != nil {
		return response, err
	}
	if err = o.demand(request, call); err != nil {
		return response, err
	}
	bounded.Context, bounded.deadline = guidon.WithCall(ctx, call), call.Begun.Add(h.timeout)
	defer bounded.stop()
	if err = h.receive(bounded, o, request, work); err == nil {
		err = h.authenticate(bounded, o, request, call)
	}
	if err == nil {
		err = ctx.Err() // nothing is begun for a caller who has gone
	}
	if err == nil && !o.stale {
		err = checkTexts(request.Message)
	}
	if err == nil {
		response, err = o.run(h, bounded, request)
	}
	if err != nil {
		return Response{}, h.outOfTime(ctx, bounded, err)
	}
	return response, nil
}

// outOfTime returns what to say of an error: when the time for the request was
// over, whatever broke, it broke because of that. A deadline of the caller is the
// caller's matter; ours means that something behind us is too slow just now.
func (h *Handler) outOfTime(caller, bounded context.Context, err error) error {
	switch guidon.CodeOf(err) {
	case guidon.Internal, guidon.Canceled, guidon.DeadlineExceeded:
	default:
		return err
	}
	switch {
	case caller.Err() != nil:
		code := guidon.CodeOf(caller.Err())
		return &guidon.Error{Code: code, Message: code.Error(), Err: err}
	case bounded.Err() != nil:
		return &guidon.Error{Code: guidon.Unavailable, Message: fmt.Sprintf("the request took longer than %s; try again later", h.timeout), Err: err}
	}
	return err
}

// panicError is a panic turned into an error. Its code is Internal.
type panicError struct {
	value any
	stack []byte
}

func newPanicError(value any) error { return &panicError{value: value, stack: debug.Stack()} }

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// Unwrap makes the error Internal even where the value is an error itself.
func (e *panicError) Unwrap() error { return guidon.Internal }

package handler

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/budget"
	"github.com/guidonhq/guidon/internal/clock"
	"github.com/guidonhq/guidon/service"
)

// Request is a request for an operation, as a transport received it.
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
	Source                Source        // if Message is nil: read once the caller is known
	Actor                 *change.Actor // set only by trusted callers in this process: skips authentication

	path       string             // the namespace in the path
	document   *service.Document  // of an import whose message does not contain it
	reserved   budget.Reservation // for the response, until the client has received it
	pieces     bool               // the response may be written in pieces instead of as a message
	ofrep      *ofrepRequest      // instead of Message: a request of OFREP
	capability *capability        // instead of a credential: that of a listener
	listener   listener           // of a stream
}

// reserve resizes the reservation for the response to n bytes. Small responses need none.
func (r *Request) reserve(ctx context.Context, n int64) error {
	if n <= budget.Small {
		n = 0
	}
	return r.reserved.Resize(ctx, n)
}

// Response is the response of an operation. If there is an error, only RequestID and the
// State are set.
type Response struct {
	service.State
	Message   proto.Message
	RequestID string

	ETag        string // of a response that supports IfNoneMatch
	NotModified bool   // the ETag matches IfNoneMatch: Message is empty

	write func(x *exchange) // writes the response in pieces, instead of Message, if the request allows that
	data  []byte            // instead of Message: the response to a request of OFREP

	memory releasable // of Message, if it is pooled

	events  []byte    // of a stream
	more    bool      // there may be more events
	expires time.Time // when the caller's credential expires, or zero for never
}

// Release allows the memory of Message to be reused. A transport may call it once, after
// encoding Message, and must not use Message afterwards.
func (r *Response) Release() {
	if r.memory != nil {
		r.memory.release()
	}
	r.Message, r.memory = nil, nil
}

// releasable is memory that returns to a pool.
type releasable interface{ release() }

// Invoke runs an operation: authentication, decoding, authorization, validation, then
// the store. It logs the request and notifies the observer, once. Transports convert the
// error with [guidon.CodeOf] and [guidon.PublicMessage]. A panic becomes an Internal
// error.
func (h *Handler) Invoke(ctx context.Context, o *Operation, request Request) (Response, error) {
	e := event{
		start:     clock.Tick(),
		operation: o.Name,
		transport: request.Transport,
	}
	e.deadline, _ = ctx.Deadline()
	e.setRequestID(request.RequestID)
	request.RequestID = e.requestID
	response, err := h.invoke(ctx, o, &request, new(work), &e)
	e.err = err
	h.finish(ctx, &e)
	return response, err
}

// invoke is Invoke without the log and the observer. work must be unused.
func (h *Handler) invoke(ctx context.Context, o *Operation, request *Request, work *work, e *event) (Response, error) {
	call := &work.call
	call.caller = service.Caller{Actor: change.Anonymous, RequestID: e.requestID, RequestIDGiven: e.requestIDGiven}
	response, err := h.run(ctx, o, request, work)
	response.RequestID, response.Age = e.requestID, max(response.Age, call.age)
	e.redact = work.undecoded
	e.actor, e.namespace, e.revision, e.stale = call.caller.Actor.ID, response.Namespace, response.Revision, response.Age
	return response, err
}

// work is the state of a running operation.
type work struct {
	call      call
	bounded   bounded
	undecoded bool // the message could not be read or decoded, so the error may quote it
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
		return response, guidon.Errorf(guidon.Unimplemented, "%s is disabled", o.Method())
	}
	if err = h.checkLoad(ctx); err != nil {
		return response, err
	}
	if call.ifMatch, err = o.condition(request.IfMatch); err != nil {
		return response, err
	}
	if call.demand, err = o.demand(request); err != nil {
		return response, err
	}
	bounded.Context, bounded.deadline = ctx, call.demand.Begun.Add(h.timeout)
	defer bounded.stop()
	if err = h.receive(bounded, o, request, work); err == nil {
		err = h.authenticate(bounded, o, request, call)
	}
	if err == nil {
		err = ctx.Err() // do not start work for a caller that has disconnected
	}
	if err == nil && !o.stale {
		err = checkTexts(request.Message)
	}
	if err == nil {
		response, err = o.run(h, bounded, call, request)
	}
	if err != nil {
		return Response{State: response.State}, h.outOfTime(ctx, bounded, err)
	}
	return response, nil
}

// outOfTime replaces err if the request had no time left, which is then taken as the
// cause of whatever failed. If the caller's context has ended, its code is returned. If
// our timeout expired, the error is Unavailable: a backend is too slow.
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

// Unwrap makes the error Internal even if the value is an error itself.
func (e *panicError) Unwrap() error { return guidon.Internal }

package call

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/limit"
	"github.com/guidonhq/guidon/internal/clock"
	"github.com/guidonhq/guidon/service"
)

// Config configures an [Invoker]. Every field is required, except those that say
// otherwise.
type Config struct {
	Service        *service.Service
	Authentication AuthenticationConfig
	Session        SessionCookie
	Verifier       Verifier // of tokens that are not stored; nil if there are none
	Budget         *limit.Budget
	Logger         *slog.Logger
	Timeout        time.Duration   // limits the work on one request
	Overload       *OverloadConfig // nil disables load shedding
	Failures       *limit.Failures // of credentials; nil disables the limits
	Requests       *RequestLimiter // for evaluation; nil disables the limit
	Proxies        limit.Proxies   // between the callers and the service; optional
	RecordAddress  bool            // of callers who change authentications or bindings
	ReadOnly       bool            // refuses writes of namespaces, also those of trusted callers
	Observer       Observer        // optional
	Tracer         Tracer          // optional

	// Ready returns why no operation can run yet. It is optional.
	Ready func(ctx context.Context) error
}

// AuthenticationConfig configures which requests need a credential.
type AuthenticationConfig struct {
	Required          bool // if not set, credentials are ignored (contract 10.1)
	ExcludeManagement bool
	ExcludeEvaluation bool
	ExcludeOFREP      bool
	TokenMethod       bool // static tokens can be created
}

// Invoker runs operations for all transports: it identifies and authorizes the caller,
// checks the conditions of the request, and logs it. It is safe for concurrent use.
type Invoker struct {
	config  Config
	service *service.Service
}

// NewInvoker returns an Invoker.
func NewInvoker(config Config) *Invoker {
	return &Invoker{config: config, service: config.Service}
}

// Budget returns the memory budget that all transports share.
func (i *Invoker) Budget() *limit.Budget { return i.config.Budget }

// Session returns the cookie of browser sessions.
func (i *Invoker) Session() SessionCookie { return i.config.Session }

// Required reports whether credentials are required at all.
func (i *Invoker) Required() bool { return i.config.Authentication.Required }

// Invoke runs an operation: authentication, decoding, authorization, validation, then
// the store. It logs the request and notifies the observer, once. Transports convert the
// error with [guidon.CodeOf] and [guidon.PublicMessage]. A panic becomes an Internal
// error.
func (i *Invoker) Invoke(ctx context.Context, o *Operation, request Request) (Response, error) {
	e := Event{
		Start:     clock.Tick(),
		Operation: o.Name,
		Transport: request.Transport,
	}
	e.Deadline, _ = ctx.Deadline()
	e.SetRequestID(request.RequestID)
	e.SetTrace(request.Trace)
	request.RequestID = e.RequestID
	if request.Turn == nil {
		turn := i.config.Budget.Heavy.NewTurn()
		request.Turn = &turn
		defer turn.End()
	}
	response, err := i.Carry(ctx, o, &request, new(Work), &e)
	e.Err = err
	i.Finish(ctx, &e)
	return response, err
}

// Carry is Invoke for a transport with an event of its own, which Carry neither logs nor
// observes. work must be unused.
func (i *Invoker) Carry(ctx context.Context, o *Operation, request *Request, work *Work, e *Event) (Response, error) {
	call := &work.call
	call.Caller = service.Caller{Actor: change.Anonymous, RequestID: e.RequestID, RequestIDGiven: e.requestIDGiven}
	if o.Has(Issues) && i.config.RecordAddress && request.Sender != nil {
		call.Caller.Address = i.config.Proxies.Caller(request.Sender.From(ctx)).Address.String()
	}
	ctx, call.Span = i.begin(ctx, o.Name, e)
	response, err := i.run(ctx, o, request, work)
	if call.Span != nil {
		code := codeOf(err)
		call.Span.End(code, statusOf(response, code))
	}
	response.RequestID, response.Age = e.RequestID, max(response.Age, call.Age)
	e.redact, e.signIn = work.undecoded, response.SignIn
	e.actor, e.namespace, e.revision, e.stale = call.Caller.Actor.ID, response.Namespace, response.Revision, response.Age
	return response, err
}

// Work is the state of a running operation. Contexts that outlive the operation keep it, so it
// must not have the message.
type Work struct {
	call      Call
	bounded   bounded
	reference error // of the namespace that the request names
	undecoded bool  // the message could not be read or decoded, so the error may quote it
}

// invocation is an operation that is being invoked.
type invocation struct {
	invoker   *Invoker
	operation *Operation
	request   *Request
	*Work
}

// run runs the operation after its checks.
func (i *Invoker) run(ctx context.Context, o *Operation, request *Request, work *Work) (response Response, err error) {
	work.bounded.Context = ctx
	defer func() {
		work.bounded.stop()
		if v := recover(); v != nil {
			if IsAbort(v) {
				panic(v)
			}
			response, err = Response{}, Recovered(v)
		}
	}()
	if err = (invocation{i, o, request, work}).check(); err == nil {
		response, err = o.run(&work.bounded, i.service, &work.call, request)
		err = i.limit(&work.bounded, request.Sender, err)
	}
	if err != nil {
		failed := Response{State: response.State, SetCookie: response.SetCookie, SignIn: response.SignIn}
		return failed, i.outOfTime(ctx, &work.bounded, err)
	}
	if response.EndsSession {
		response.SetCookie = append(response.SetCookie, i.config.Session.Clear()...)
	}
	return response, nil
}

// outOfTime replaces err if the request had no time left, which is then taken as the
// cause of whatever failed. If the caller's context has ended, its code is returned. If
// our timeout expired, the error is Unavailable: a backend is too slow.
func (i *Invoker) outOfTime(caller, bounded context.Context, err error) error {
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
		return &guidon.Error{
			Code:    guidon.Unavailable,
			Message: fmt.Sprintf("the request took longer than %s; try again later", clock.Text(i.config.Timeout)),
			Err:     err,
		}
	}
	return err
}

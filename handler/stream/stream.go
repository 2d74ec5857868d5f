package stream

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/exchange"
	"github.com/guidonhq/guidon/service"
)

const (
	// maxCapabilityGrace is how long a stream may outlast the capability of its client.
	maxCapabilityGrace = 5 * time.Minute
	// heartbeat is the longest silence on a stream. It is shorter than the idle
	// timeouts of proxies (OFREP 7).
	heartbeat = 20 * time.Second
	// streamGap is the least time between a poll and the next one because of a
	// change. Changes in between are reported together.
	streamGap = 100 * time.Millisecond
	// streamRetry is the least delay after a failed poll. Up to as much is added at
	// random.
	streamRetry = time.Second
	// boundarySpread is the most that is added, at random, to when a stream polls because
	// of Update.Until, so that clients do not fetch all together.
	boundarySpread = 5 * time.Second
)

// How long clients wait before they reconnect. The delay is random, so that the clients
// of an instance that has ended do not reconnect all together. It is less than the 30 s
// after which providers consider the stream broken (OFREP 7).
const (
	minReconnect = 2 * time.Second
	maxReconnect = 12 * time.Second
	// maxReconnectStopping is for the clients of an instance that stops: the longer
	// it has run, the more clients it has.
	maxReconnectStopping = 22 * time.Second
)

// Listener produces the events of a stream. It is the Payload of the stream's request.
type Listener interface {
	// Listen returns the events since the last call. The first call returns the
	// start of the stream. If there is an error, the update has only the state.
	Listen(ctx context.Context, s *service.Service, d service.Demand) (Update, error)
	// Namespace must not be called before Listen.
	Namespace() string
}

// Update is the result of a poll: events, and the state that they lead up to.
type Update struct {
	State  service.State
	Events []byte    // server-sent events
	More   bool      // there may be more
	Until  time.Time // when there will be events without a change; zero means never
}

// NewOperation returns an operation whose response is an event stream. It runs for
// every poll of the stream, so the client is authenticated and authorized each time.
func NewOperation(path string, area call.Area) *call.Operation {
	return call.NewOperation(call.Route{Method: http.MethodGet, Pattern: path}, area, 0, listen)
}

// pollAnswer is the answer to a poll.
type pollAnswer struct {
	Update
	expires time.Time // when the caller's credential expires, or zero for never
	until   time.Time // when the caller's capability ends, or zero if there is none
}

func listen(ctx context.Context, s *service.Service, c *call.Call, request *call.Request) (call.Response, error) {
	update, err := request.Payload.(Listener).Listen(ctx, s, c.Demand)
	if err != nil {
		return call.Response{State: update.State}, err
	}
	answer := &pollAnswer{Update: update, until: c.Until}
	if a := c.Caller.Authentication; a != nil {
		answer.expires = a.ExpiresAt
	}
	return call.Response{State: update.State, Answer: answer}, nil
}

// Form serves the event streams of one kind.
type Form struct {
	Hub  *Hub
	Kind Kind
	// Open returns the request of a client, whose Payload is a Listener.
	Open func(x *exchange.Exchange) (*call.Request, error)
	// Errors is the form of the errors before a stream has started.
	Errors exchange.ErrorForm
}

// Error implements [exchange.Form].
func (f Form) Error(x *exchange.Exchange, err error) { f.Errors.Error(x, err) }

// openStream is one open stream.
type openStream struct {
	hub      *Hub
	x        *exchange.Exchange
	pieces   exchange.Pieces
	op       *call.Operation
	request  *call.Request
	listener Listener
	slot     *Slot
	written  time.Time // when something was last sent
	end      time.Time // when the stream must end; zero means no limit
}

// Serve implements [exchange.Form]. If the first poll fails, it writes the error instead of a
// stream.
func (f Form) Serve(x *exchange.Exchange, o *call.Operation) {
	s, first, err := f.open(x, o)
	if err != nil {
		x.ReplyError(err)
		return
	}
	why := EndedFailed // unless start returns, it has panicked
	defer func() {
		if why != "" {
			s.close(why)
		}
	}()
	if why = s.start(x.Request.Context(), first); why != "" {
		return
	}
	if !x.Detach(s.run) {
		s.run(x.Request.Context())
	}
}

// open runs the first poll.
func (f Form) open(x *exchange.Exchange, o *call.Operation) (s *openStream, first []byte, err error) {
	request, err := f.Open(x)
	if err != nil {
		return nil, nil, err
	}
	s = &openStream{hub: f.Hub, x: x, pieces: x.Pieces(), op: o, request: request, listener: request.Payload.(Listener)}
	request.Sender = x
	response, err := x.CarryAgain(x.Request.Context(), o, request)
	if err != nil {
		return nil, nil, err
	}
	request.Sender = nil // a credential that becomes invalid later is no attempt of the client
	if err := s.prepare(); err != nil {
		return nil, nil, err
	}
	update := response.Answer.(*pollAnswer)
	if !update.until.IsZero() {
		// Clients with the same capability must not reconnect all together.
		s.end = update.until.Add(jitter(0, maxCapabilityGrace))
	}
	s.slot, err = s.hub.Open(f.Kind, x.Event.Actor())
	return s, update.Events, err
}

// prepare replaces the deadline for a whole response by that for one piece. It returns
// Unimplemented if the connection does not support deadlines.
func (s *openStream) prepare() error {
	err := s.pieces.Control.SetWriteDeadline(time.Now().Add(exchange.WriteLimit))
	if errors.Is(err, http.ErrNotSupported) {
		return guidon.Errorf(guidon.Unimplemented, "this server does not support streaming")
	}
	return err
}

// start sends the header and the first events. It returns why the stream must end, or "".
func (s *openStream) start(ctx context.Context, first []byte) Reason {
	header := s.x.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no") // a buffering proxy would wait forever for the end
	header.Set("Connection", "close")     // when the stream ends
	s.x.WriteHeader(http.StatusOK)
	if err := s.write(append(appendRetry(nil, minReconnect, maxReconnect), first...)); err != nil {
		return s.broken(ctx)
	}
	return ""
}

// run sends further events until the stream ends, and closes it.
func (s *openStream) run(ctx context.Context) {
	why := EndedFailed // unless follow returns, it has panicked
	defer func() { s.close(why) }()
	s.pieces = s.x.Pieces()
	why = s.follow(ctx)
}

// close frees the slot of the stream. It sets a deadline for what ends the response.
func (s *openStream) close(why Reason) {
	s.x.Event.Ended = string(why)
	_ = s.pieces.Begin()
	s.hub.Close(s.slot, why)
}

// follow polls whenever something may have changed. No change is missed between two
// polls, because the channel for the next wait is obtained before each.
func (s *openStream) follow(ctx context.Context) Reason {
	changed, cancel := s.hub.config.Subscribe(s.listener.Namespace())
	defer cancel()
	timer := time.NewTimer(0)
	defer timer.Stop()
	var wait <-chan struct{}
	var polled, pollAt time.Time // immediately: changes since the first poll were not signaled
	for {
		now := time.Now()
		if !pollAt.After(now) {
			wait, polled = changed(), now
			var why Reason
			if pollAt, why = s.poll(ctx, now); why != "" {
				return why
			}
		}
		if now.Sub(s.written) >= heartbeat {
			if err := s.write([]byte(": keep-alive\n\n")); err != nil {
				return s.broken(ctx)
			}
		}
		timer.Reset(time.Until(earliest(pollAt, s.written.Add(heartbeat), s.end)))
		select {
		case <-wait:
			wait, pollAt = nil, polled.Add(streamGap)
		case <-timer.C:
		case <-s.slot.displaced:
			return EndedShare
		case <-s.hub.ending:
			_ = s.write(appendRetry(nil, minReconnect, maxReconnectStopping))
			return EndedStopping
		case <-ctx.Done():
			return EndedByClient
		}
		if !s.end.IsZero() && !time.Now().Before(s.end) {
			return EndedExpired
		}
	}
}

// poll sends all pending events. It returns when to poll again if nothing changes
// before, or why the stream must end.
func (s *openStream) poll(ctx context.Context, now time.Time) (pollAt time.Time, why Reason) {
	for {
		known := s.x.Event
		response, err := s.ask(ctx)
		if _, panicked := errors.AsType[*call.PanicError](err); ctx.Err() != nil && !panicked {
			return pollAt, EndedByClient
		}
		if err != nil {
			s.x.Event = known // keep the actor and the namespace for the log
			if why = endOf(err); why != "" {
				s.x.Event.Err = err
			}
			return now.Add(jitter(streamRetry, 2*streamRetry)), why
		}
		update := response.Answer.(*pollAnswer)
		if err := s.write(update.Events); err != nil {
			return pollAt, s.broken(ctx)
		}
		if update.More {
			continue
		}
		pollAt := never
		if !update.expires.IsZero() {
			pollAt = latest(update.expires, now.Add(streamRetry))
		}
		if !update.Until.IsZero() {
			pollAt = earliest(pollAt, update.Until.Add(jitter(0, boundarySpread)), time.Time{})
		}
		return pollAt, ""
	}
}

// ask runs the operation. It does that in another goroutine, of which there are few: the
// operation needs a deep stack, which the goroutine of the stream would keep.
func (s *openStream) ask(ctx context.Context) (response call.Response, err error) {
	select {
	case s.hub.running <- struct{}{}:
	case <-ctx.Done():
		return call.Response{}, ctx.Err()
	}
	done := make(chan struct{})
	go func() {
		defer func() {
			<-s.hub.running
			close(done)
		}()
		response, err = s.x.CarryAgain(ctx, s.op, s.request)
	}()
	<-done
	return response, err
}

// endOf returns why the error of a poll ends the stream, or "" if it does not. Temporary
// unavailability does not: the client would fare no better on another instance.
func endOf(err error) Reason {
	switch guidon.CodeOf(err) {
	case guidon.Unavailable:
		return ""
	case guidon.Unauthenticated, guidon.PermissionDenied:
		return EndedForbidden
	case guidon.FailedPrecondition:
		return EndedRewound
	}
	return EndedFailed
}

// write sends the events, each piece with its own deadline.
func (s *openStream) write(events []byte) error {
	if len(events) == 0 {
		return nil
	}
	if _, err := s.pieces.Write(events); err != nil {
		return err
	}
	if err := s.pieces.Control.Flush(); err != nil {
		return err
	}
	s.written = time.Now()
	return nil
}

// broken returns why a write failed.
func (s *openStream) broken(ctx context.Context) Reason {
	if ctx.Err() != nil {
		return EndedByClient
	}
	return EndedSlow
}

// never is later than any time that is waited for.
var never = time.Unix(1<<40, 0)

func earliest(a, b, end time.Time) time.Time {
	if b.Before(a) {
		a = b
	}
	if !end.IsZero() && end.Before(a) {
		a = end
	}
	return a
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// jitter returns a random duration between least and most, inclusive.
func jitter(least, most time.Duration) time.Duration {
	return least + rand.N(most-least+1) // #nosec G404 -- spreads load, keeps no secret
}

// appendRetry appends how long the client must wait before it reconnects.
func appendRetry(b []byte, least, most time.Duration) []byte {
	return fmt.Appendf(b, "retry: %d\n\n", jitter(least, most).Milliseconds())
}

package handler

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/stream"
	"github.com/guidonhq/guidon/service"
)

const (
	// heartbeat is the longest silence on a stream. It is shorter than the idle
	// timeouts of proxies (OFREP 7).
	heartbeat = 20 * time.Second
	// streamGap is the least time between a poll and the next one because of a
	// change. Changes in between are reported together.
	streamGap = 100 * time.Millisecond
	// streamRetry is the least delay after a failed poll. Up to as much is added at
	// random.
	streamRetry = time.Second
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

// listener produces the events of a stream.
type listener interface {
	// listen returns what has happened since the last call. The first call returns the
	// start of the stream. If there is an error, the news have only the state.
	listen(ctx context.Context, h *Handler, d service.Demand) (news, error)
	// namespace must not be called before listen.
	namespace() string
}

// news is what a listener has found out.
type news struct {
	state  service.State
	events []byte // server-sent events
	more   bool   // there may be more
}

// eventStream returns an operation whose response is an event stream. It runs for every poll
// of the stream, so the client is authenticated and authorized each time.
func eventStream(path string, area Area, serve form) *Operation {
	return &Operation{Name: path, Routes: only(get, path), Area: area, form: serve, streams: true, run: func(h *Handler, ctx context.Context, c *call, request *Request) (Response, error) {
		n, err := request.listener.listen(ctx, h, c.demand)
		response := Response{State: n.state, events: n.events, more: n.more}
		if a := c.caller.Authentication; a != nil {
			response.expires = a.ExpiresAt
		}
		return response, err
	}}
}

// openStream is one open stream.
type openStream struct {
	handler *Handler
	hub     *stream.Hub
	x       *exchange
	pieces  pieces
	op      *Operation
	request *Request
	slot    *stream.Slot
	written time.Time // when something was last sent
	end     time.Time // when the stream must end; zero means no limit
}

// serveStream serves a stream. If the first poll fails, it writes the error instead.
func (h *Handler) serveStream(x *exchange, o *Operation, kind stream.Kind, request *Request) {
	s := &openStream{handler: h, hub: h.config.Streams, x: x, pieces: x.pieces(), op: o, request: request}
	first, err := s.firstPoll()
	if err == nil {
		s.slot, err = s.hub.Open(kind, x.event.actor)
	}
	if err != nil {
		x.replyError(err)
		return
	}
	why := stream.EndedFailed // unless run returns, it has panicked
	x.event.ended = why
	defer func() { s.hub.Close(s.slot, why) }()
	why = s.run(x.request.Context(), first)
	x.event.ended = why
}

// firstPoll runs the first poll. It is a function of its own to keep the stack frame of
// serveStream small: that frame exists as long as the stream, and with thousands of
// streams its size decides how far their stacks shrink.
func (s *openStream) firstPoll() (events []byte, err error) {
	response, err := s.handler.invoke(s.x.request.Context(), s.op, s.request, new(work), &s.x.event)
	s.handler.setStateHeaders(s.x, response)
	if err == nil {
		err = s.prepare()
	}
	return response.events, err
}

// prepare replaces the deadline for a whole response by that for one piece. It returns
// Unimplemented if the connection does not support deadlines.
func (s *openStream) prepare() error {
	err := s.pieces.control.SetWriteDeadline(time.Now().Add(writeLimit))
	if errors.Is(err, http.ErrNotSupported) {
		return guidon.Errorf(guidon.Unimplemented, "this server does not support streaming")
	}
	return err
}

// run sends events until the stream ends, and returns the reason.
func (s *openStream) run(ctx context.Context, first []byte) stream.Reason {
	// Set a deadline for what net/http writes at the end.
	defer func() { _ = s.pieces.begin() }()
	if c := s.request.capability; c != nil && !c.until.IsZero() {
		// Clients with the same capability must not reconnect all together.
		s.end = c.until.Add(jitter(0, maxCapabilityGrace))
	}
	header := s.x.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no") // a buffering proxy would wait forever for the end
	s.x.WriteHeader(http.StatusOK)
	if err := s.write(appendRetry(nil, minReconnect, maxReconnect)); err != nil {
		return s.broken(ctx)
	}
	if err := s.write(first); err != nil {
		return s.broken(ctx)
	}
	return s.follow(ctx)
}

// follow polls whenever something may have changed. No change is missed between two
// polls, because the channel for the next wait is obtained before each.
func (s *openStream) follow(ctx context.Context) stream.Reason {
	changed, cancel := s.hub.Subscribe(s.request.listener.namespace())
	defer cancel()
	timer := time.NewTimer(0)
	defer timer.Stop()
	var wait <-chan struct{}
	var polled, pollAt time.Time // immediately: changes since the first poll were not signaled
	for {
		now := time.Now()
		if !pollAt.After(now) {
			wait, polled = changed(), now
			var why stream.Reason
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
		case <-s.slot.Displacement():
			return stream.EndedShare
		case <-s.hub.Stopping():
			_ = s.write(appendRetry(nil, minReconnect, maxReconnectStopping))
			return stream.EndedStopping
		case <-ctx.Done():
			return stream.EndedByClient
		}
		if !s.end.IsZero() && !time.Now().Before(s.end) {
			return stream.EndedExpired
		}
	}
}

// poll sends all pending events. It returns when to poll again if nothing changes
// before, or why the stream must end.
func (s *openStream) poll(ctx context.Context, now time.Time) (pollAt time.Time, why stream.Reason) {
	for {
		known := s.x.event
		response, err := s.handler.invoke(ctx, s.op, s.request, new(work), &s.x.event)
		if _, panicked := errors.AsType[*panicError](err); ctx.Err() != nil && !panicked {
			return pollAt, stream.EndedByClient
		}
		if err != nil {
			s.x.event = known // keep the actor and the namespace for the log
			if why = endOf(err); why != "" {
				s.x.event.err = err
			}
			return now.Add(jitter(streamRetry, 2*streamRetry)), why
		}
		if err := s.write(response.events); err != nil {
			return pollAt, s.broken(ctx)
		}
		if response.more {
			continue
		}
		if response.expires.IsZero() {
			return never, ""
		}
		return latest(response.expires, now.Add(streamRetry)), ""
	}
}

// endOf returns why the error of a poll ends the stream, or "" if it does not. Temporary
// unavailability does not: the client would fare no better on another instance.
func endOf(err error) stream.Reason {
	switch guidon.CodeOf(err) {
	case guidon.Unavailable:
		return ""
	case guidon.Unauthenticated, guidon.PermissionDenied:
		return stream.EndedForbidden
	case guidon.FailedPrecondition:
		return stream.EndedRewound
	}
	return stream.EndedFailed
}

// write sends the events, each piece with its own deadline.
func (s *openStream) write(events []byte) error {
	if len(events) == 0 {
		return nil
	}
	if _, err := s.pieces.Write(events); err != nil {
		return err
	}
	if err := s.pieces.control.Flush(); err != nil {
		return err
	}
	s.written = time.Now()
	return nil
}

// broken returns why a write failed.
func (s *openStream) broken(ctx context.Context) stream.Reason {
	if ctx.Err() != nil {
		return stream.EndedByClient
	}
	return stream.EndedSlow
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

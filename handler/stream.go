package handler

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/guidonhq/guidon"
)

const (
	// heartbeat is how long a stream is silent at most: less than what stands
	// between waits for (OFREP 7).
	heartbeat = 20 * time.Second
	// streamGap is how soon after a look the next one may be: changes that come in
	// between are told together.
	streamGap = 100 * time.Millisecond
	// streamRetry is when to look again after a look that failed, and up to as much
	// later.
	streamRetry = time.Second
)

// When clients come back after a connection was lost: at a moment of their own, so
// that those of an instance that has ended are not all there at once. It is less
// than the half minute after which providers take the stream for broken (OFREP 7).
const (
	minReconnect = 2 * time.Second
	maxReconnect = 12 * time.Second
	// maxReconnectStopping is for the clients of an instance that stops, of which
	// there are the more the longer it has run.
	maxReconnectStopping = 22 * time.Second
)

// listener is what a stream tells its client of.
type listener interface {
	// listen returns what there is to tell since the last time, as server-sent
	// events, and whether there may be more. The first time it is the beginning.
	listen(ctx context.Context, h *Handler) (events []byte, more bool, err error)
	// namespace is known when listen has been called.
	namespace() string
}

// streamOp returns the operation of looking once on behalf of a stream. It is
// carried out again and again, so that who listens, and may they, is asked each
// time.
func streamOp(path string, area Area) *Operation {
	return &Operation{Name: path, Routes: only(get, path), Area: area, run: func(h *Handler, ctx context.Context, request *Request) (Response, error) {
		var response Response
		var err error
		response.events, response.more, err = request.listener.listen(ctx, h)
		if a := guidon.CallFrom(ctx).Authentication; a != nil {
			response.expires = a.ExpiresAt
		}
		return response, err
	}}
}

// stream is one open stream.
type stream struct {
	handler *Handler
	hub     *Streams
	x       *exchange
	pieces  pieces
	op      *Operation
	request *Request
	slot    *streamSlot
	written time.Time
	end     time.Time // of the capability; zero is none
}

// serveStream answers with a stream: with the first look, which decides whether
// there is one, and then with what there is to tell.
func (h *Handler) serveStream(x *exchange, o *Operation, kind streamKind, request *Request) {
	s := &stream{handler: h, hub: h.config.Streams, x: x, pieces: x.pieces(), op: o, request: request}
	first, err := s.firstPoll()
	if err == nil {
		s.slot, err = s.hub.open(kind, x.event.actor)
	}
	if err != nil {
		x.replyError(err)
		return
	}
	why := endedFailed // unless run returns, it has panicked
	x.event.ended = why
	defer func() { s.hub.close(s.slot, why) }()
	why = s.run(x.request.Context(), first)
	x.event.ended = why
}

// look is the first look, on a frame of its own: that of serveStream stays as long
// as the stream does, thousands of times, and decides how far their stacks shrink.
func (s *stream) firstPoll() (events []byte, err error) {
	response, err := s.handler.invoke(s.x.request.Context(), s.op, s.request, new(work), &s.x.event)
	s.handler.setStateHeaders(s.x, response)
	if err == nil {
		err = s.prepare()
	}
	return response.events, err
}

// prepare takes the bound of an ordinary answer off the connection, where that can
// be done at all.
func (s *stream) prepare() error {
	err := s.pieces.control.SetWriteDeadline(time.Now().Add(writeLimit))
	if errors.Is(err, http.ErrNotSupported) {
		return guidon.Errorf(guidon.Unimplemented, "this server does not stream")
	}
	return err
}

// run sends until there is a reason to end.
func (s *stream) run(ctx context.Context, first []byte) streamEnd {
	// What is written last needs time, too.
	defer func() { _ = s.pieces.begin() }()
	if c := s.request.capability; c != nil && !c.until.IsZero() {
		// Those who came with the same one are not to come back together.
		s.end = c.until.Add(jitter(0, maxCapabilityGrace))
	}
	header := s.x.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no") // a proxy that collects an answer would collect for ever
	s.x.WriteHeader(http.StatusOK)
	if err := s.write(appendRetry(nil, minReconnect, maxReconnect)); err != nil {
		return s.broken(ctx)
	}
	if err := s.write(first); err != nil {
		return s.broken(ctx)
	}
	return s.follow(ctx)
}

// follow looks whenever something may have changed. Nothing gets lost between two
// looks: the channel for the next wait is there before each.
func (s *stream) follow(ctx context.Context) streamEnd {
	changed, cancel := s.hub.config.Subscribe(s.request.listener.namespace())
	defer cancel()
	timer := time.NewTimer(0)
	defer timer.Stop()
	var wait <-chan struct{}
	var polled, pollAt time.Time // at once: since the first look nobody has watched
	for {
		now := time.Now()
		if !pollAt.After(now) {
			wait, polled = changed(), now
			var why streamEnd
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
			return endedShare
		case <-s.hub.ending:
			_ = s.write(appendRetry(nil, minReconnect, maxReconnectStopping))
			return endedStopping
		case <-ctx.Done():
			return endedByClient
		}
		if !s.end.IsZero() && !time.Now().Before(s.end) {
			return endedExpired
		}
	}
}

// tell sends all there is to tell, and returns when to look again unless something
// changes before, or why the stream is to end.
func (s *stream) poll(ctx context.Context, now time.Time) (pollAt time.Time, why streamEnd) {
	for {
		known := s.x.event
		response, err := s.handler.invoke(ctx, s.op, s.request, new(work), &s.x.event)
		if _, panicked := errors.AsType[*panicError](err); ctx.Err() != nil && !panicked {
			return pollAt, endedByClient
		}
		if err != nil {
			s.x.event = known // of whom and what the stream is
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

// endOf returns whether the error of a look ends the stream. What is only away for
// the moment does not: the client could do no better elsewhere.
func endOf(err error) streamEnd {
	switch guidon.CodeOf(err) {
	case guidon.Unavailable:
		return ""
	case guidon.Unauthenticated, guidon.PermissionDenied:
		return endedForbidden
	case guidon.FailedPrecondition:
		return endedRewound
	}
	return endedFailed
}

// write sends the events, each piece within the time for it.
func (s *stream) write(events []byte) error {
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

// broken returns why nothing more can be written.
func (s *stream) broken(ctx context.Context) streamEnd {
	if ctx.Err() != nil {
		return endedByClient
	}
	return endedSlow
}

// never is a moment that does not come.
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

// jitter returns a duration between the two, at random.
func jitter(least, most time.Duration) time.Duration {
	return least + rand.N(most-least+1) // #nosec G404 -- spreads load, keeps no secret
}

// appendRetry tells the client when to come back after a loss.
func appendRetry(b []byte, least, most time.Duration) []byte {
	return fmt.Appendf(b, "retry: %d\n\n", jitter(least, most).Milliseconds())
}

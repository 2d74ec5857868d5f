package client

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/url"
	"strconv"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/codec"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/clock"
)

// Follower follows the change records of a namespace on a server.
type Follower struct {
	Namespace string
	After     string                       // the position that precedes the first record: a revision, or the id of an event
	Each      func(*guidonv1.Change) error // is called for each record, in order; an error ends Follow
	Lost      func(error)                  // is called whenever the connection was lost, before it is established again
}

const (
	// maxSilence is how long a stream may be silent. The server sends something every
	// 20 seconds.
	maxSilence = time.Minute
	// maxEvent limits one event, in bytes. A record has at most two objects of 16 MiB.
	maxEvent = 128 << 20
	// The pause before a stream is opened again, unless the server states another one.
	reconnectPause    = 2 * time.Second
	maxReconnectPause = 30 * time.Second
)

// Follow opens the change stream of the server at the address, whose scheme must be http
// or https, and follows it until ctx ends or the server rejects it. A stream that was open
// once is opened again when it ends, after the last record that was received, so no record
// is lost or received twice.
func (f Follower) Follow(ctx context.Context, address string, options Options) error {
	connected, err := dialHTTP(address, options, "changes can be followed")
	if err != nil {
		return err
	}
	defer connected.Close()
	s := &followRun{Follower: f, http: connected}
	for {
		s.pause = reconnectPause
		err := s.stream(ctx)
		switch {
		case ctx.Err() != nil:
			return contextError(ctx, connected.options.Timeout)
		case !s.opened, !errors.Is(err, guidon.Unavailable):
			return err
		}
		s.Lost(err)
		if clock.Sleep(ctx, s.pause) != nil {
			return contextError(ctx, connected.options.Timeout)
		}
	}
}

// followRun is one run of a Follower.
type followRun struct {
	Follower
	http   *httpClient
	opened bool          // a stream was open
	pause  time.Duration // before the next stream is opened
}

// stream opens a stream and reads it to its end. The error is Unavailable if another one
// may be opened.
func (s *followRun) stream(ctx context.Context) error {
	path := "/api/v1/namespaces/" + url.PathEscape(guidon.NamespaceKey(s.Namespace)) +
		"/changes/stream?" + url.Values{"from": {s.After}}.Encode()
	return s.http.receive(ctx, path, "text/event-stream", func(body io.Reader, silence *time.Timer, failed func(error) error) error {
		s.opened = true
		lines := bufio.NewScanner(body)
		lines.Buffer(nil, maxEvent)
		var e event
		for lines.Scan() {
			silence.Reset(maxSilence)
			if len(lines.Bytes()) > 0 {
				if err := e.add(lines.Bytes()); err != nil {
					return s.interrupted(err)
				}
				continue
			}
			if err := s.handle(e); err != nil {
				return err
			}
			e = event{}
		}
		return s.interrupted(failed(cmp.Or(lines.Err(), errClosed)))
	})
}

var errClosed = errors.New("the connection was closed")

func (s *followRun) interrupted(err error) error {
	return guidon.Errorf(guidon.Unavailable, "the change stream of %s was interrupted: %v", s.http.address, err)
}

// handle handles an event. An event without data only states the position.
func (s *followRun) handle(e event) error {
	if e.retry > 0 {
		s.pause = min(e.retry, maxReconnectPause)
	}
	if len(e.data) > 0 {
		c := new(guidonv1.Change)
		if err := codec.Unmarshal(e.data, c, maxResponseValues); err != nil {
			return guidon.Errorf(guidon.Internal, "cannot parse an event from %s: %v", s.http.address, err)
		}
		if err := s.Each(c); err != nil {
			return err
		}
	}
	if e.id != "" {
		s.After = e.id
	}
	return nil
}

// event is a server-sent event.
type event struct {
	id    string
	data  []byte
	retry time.Duration // 0 if it states none
}

// add adds a line, which is a field or a comment.
func (e *event) add(line []byte) error {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "id":
		e.id = string(value)
	case "data":
		e.data = append(e.data, value...)
	case "retry":
		if n, err := strconv.ParseUint(string(value), 10, 31); err == nil {
			e.retry = time.Duration(n) * time.Millisecond // #nosec G115 -- 31 bits
		}
	}
	if len(e.data) > maxEvent {
		return bufio.ErrTooLong
	}
	return nil
}

// PositionOf returns the position of a record as [Follower.After]; of nil, that before all records.
func PositionOf(c *guidonv1.Change) string {
	if c == nil {
		return "0"
	}
	return strconv.FormatInt(c.GetRevision(), 10) + "." + strconv.FormatInt(int64(c.GetSequence()), 10)
}

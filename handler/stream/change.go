package stream

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/codec"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/exchange"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// changeListener sends every change record of a namespace after a position, in order.
// The position is its only state: the log has the rest.
type changeListener struct {
	hub     *Hub
	key     string
	after   guidon.Position // zero: after the newest record when the stream starts
	started bool
	sent    guidon.Revision // all records up to this revision have been sent
}

// Namespace implements [Listener].
func (l *changeListener) Namespace() string { return l.key }

// Listen implements [Listener].
func (l *changeListener) Listen(ctx context.Context, s *service.Service, d service.Demand) (Update, error) {
	view, err := l.current(ctx, s, d)
	n := Update{State: view.State}
	if err != nil {
		return n, err
	}
	if l.started {
		n.Events, n.More, err = l.next(ctx, s, view.Snapshot.Revision())
		return n, err
	}
	if l.after == (guidon.Position{}) {
		if l.after, err = s.LatestChange(ctx, l.key); err != nil {
			return n, err
		}
	}
	// Send the position, so that the client can continue from here even if it loses the
	// connection before the first record.
	l.started, n.More = true, true
	n.Events = append(appendCursor([]byte("id: "), l.after), "\n\n"...)
	return n, nil
}

// errRewound ends a stream whose position is in a history that no longer exists.
var errRewound = guidon.Errorf(guidon.FailedPrecondition, "the namespace has lost revisions: a backup was restored")

// current returns a state of the namespace that is no earlier than the last record sent.
func (l *changeListener) current(ctx context.Context, s *service.Service, d service.Demand) (service.View, error) {
	d.AtLeast = max(d.AtLeast, l.after.Revision)
	view, err := s.ViewOrEmpty(ctx, l.key, d)
	switch {
	case err != nil && l.started && errors.Is(err, guidon.Unavailable) && 0 < view.Revision && view.Revision < l.after.Revision:
		return view, errRewound
	case err != nil:
		return view, err
	}
	at := view.Snapshot.Revision()
	if at.Number == l.sent.Number && at.Stamp != l.sent.Stamp {
		return view, errRewound
	}
	return view, nil
}

// next returns the records after l.after, as events, and whether there may be more. It
// reads none if the revision at shows that there are none. The zero revision does not
// show that: the deletion of the namespace may be a new record.
func (l *changeListener) next(ctx context.Context, s *service.Service, at guidon.Revision) ([]byte, bool, error) {
	if at == l.sent && at.Number != 0 {
		return nil, false, nil
	}
	key := pageKey{namespace: l.key, after: l.after, at: at}
	p, err := l.hub.pages.Do(ctx, key, func(ctx context.Context) (page, error) { return readPage(ctx, s, key) })
	if err != nil {
		return nil, false, err
	}
	more := len(p.events) > 0
	if l.after = p.last; !more {
		l.sent = at
	}
	return p.events, more, nil
}

// pageKey identifies a page by its start. It includes the current revision as the
// streams know it: a read that started before that revision might lack its records.
type pageKey struct {
	namespace string
	after     guidon.Position // the last record before the page
	at        guidon.Revision
}

// page is a list of records, encoded as events. All streams that need it at the same time share it.
type page struct {
	events []byte // must not be modified
	last   guidon.Position
}

// pageTime is how long the streams wait for a page, however many join meanwhile.
const pageTime = 30 * time.Second

var errPage = guidon.Errorf(guidon.Unavailable, "cannot read the change records; try again later")

// readPage reads the page of the key.
func readPage(ctx context.Context, s *service.Service, key pageKey) (page, error) {
	p := page{last: key.after}
	ctx, cancel := context.WithTimeoutCause(ctx, pageTime, errPage)
	defer cancel()
	changes, err := s.ChangesAfter(ctx, key.namespace, key.after)
	if err != nil && context.Cause(ctx) == errPage {
		return p, errPage
	}
	if err != nil {
		return p, err
	}
	for _, c := range changes {
		body, err := codec.Marshal(convert.Change(c))
		if err != nil {
			return p, err
		}
		p.last = c.Cursor()
		p.events = append(appendCursor(append(p.events, "id: "...), p.last), "\nevent: change\ndata: "...)
		p.events = append(append(p.events, body...), "\n\n"...)
	}
	return p, nil
}

// NewChangeForm returns the form of the streams of the change records of a namespace.
func NewChangeForm(hub *Hub) Form {
	return Form{Hub: hub, Kind: Changes, Errors: exchange.Messages, Open: func(x *exchange.Exchange) (*call.Request, error) {
		after, err := startCursor(x)
		if err != nil {
			return nil, err
		}
		header := x.Request.Header
		message := &guidonv1.ListChangesRequest{NamespaceKey: x.PathVariable("namespace_key")}
		return &call.Request{
			Credentials: call.Credentials{Authorization: header["Authorization"], Cookie: header["Cookie"]},
			MinRevision: strings.Join(header[call.MinRevisionHeader], ","),
			Message:     message,
			Payload:     &changeListener{hub: hub, key: convert.NamespaceOf(message), after: after},
		}, nil
	}}
}

// startCursor returns the position after which the stream starts: the last one that a
// reconnecting client has seen, the requested one, or the zero position.
func startCursor(x *exchange.Exchange) (guidon.Position, error) {
	if last := x.Request.Header.Get("Last-Event-ID"); last != "" {
		return parseCursor("header Last-Event-ID", last)
	}
	query, err := x.Query()
	if from := query.Get("from"); err == nil && from != "" {
		return parseCursor("field from", from)
	}
	return guidon.Position{}, err
}

// parseCursor parses a position: that of a record, or the one after all records of a
// revision. The error names the field.
func parseCursor(what, text string) (guidon.Position, error) {
	number, sequence, ofRecord := strings.Cut(text, ".")
	revision, err := strconv.ParseUint(number, 10, 63)
	cursor := change.After(int64(revision)) // #nosec G115 -- 63 bits
	if err == nil && ofRecord {
		var place uint64
		place, err = strconv.ParseUint(sequence, 10, 31)
		cursor.Sequence = int32(place) // #nosec G115 -- 31 bits
	}
	if err != nil || cursor == (guidon.Position{}) {
		return cursor, guidon.Errorf(guidon.InvalidArgument, "invalid %s: must be a revision, or the id of an event", what)
	}
	return cursor, nil
}

// appendCursor appends the position in the form that parseCursor reads.
func appendCursor(b []byte, c guidon.Position) []byte {
	b = strconv.AppendInt(b, c.Revision, 10)
	if c != change.After(c.Revision) {
		b = strconv.AppendInt(append(b, '.'), int64(c.Sequence), 10)
	}
	return b
}

package ofrep

import (
	"context"
	"strconv"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/exchange"
	"github.com/guidonhq/guidon/handler/stream"
	"github.com/guidonhq/guidon/service"
)

// The OFREP event stream notifies web providers that they must fetch the flags of a
// namespace again (OFREP 7).

const (
	EventsPath = Prefix + "/v1/events"
	// capabilityParameter is the query parameter with the stream's capability.
	capabilityParameter = "capability"
)

// listener sends an event when the revision of its namespace changes.
type listener struct {
	*Request
	last    string // the header Last-Event-ID
	started bool
	sent    guidon.Revision
}

// Namespace implements [stream.Listener].
func (l *listener) Namespace() string { return l.About() }

// Listen implements [stream.Listener]. It returns a refetch event if the client has not
// seen the current revision. At the start of the stream, a client without Last-Event-ID
// gets one too: a change may have happened between its bulk request and now.
func (l *listener) Listen(ctx context.Context, s *service.Service, d service.Demand) (stream.Update, error) {
	view, err := s.ViewOrEmpty(ctx, l.namespace, d)
	if err != nil {
		return stream.Update{State: view.State}, err
	}
	at := view.Snapshot.Revision()
	changed := at != l.sent
	if !l.started {
		changed = l.last != eventID(at)
	}
	known := l.started && !changed
	l.started, l.sent = true, at
	switch {
	case known:
		return stream.Update{State: view.State}, nil
	case changed:
		return stream.Update{State: view.State, Events: refetchEvents.Of(view.Snapshot)}, nil
	}
	return stream.Update{State: view.State, Events: []byte("id: " + eventID(at) + "\n\n")}, nil
}

// eventID returns the event id of a revision. It includes the stamp, which distinguishes
// a state restored from a backup from an earlier one with the same number.
func eventID(r guidon.Revision) string {
	return strconv.FormatInt(r.Number, 10) + "-" + strconv.FormatUint(uint64(r.Stamp), 16) // #nosec G115 -- the bits are meant
}

// refetchEvents are the encoded events, one for each snapshot.
var refetchEvents = guidon.NewDerivation(func(s *guidon.Snapshot) []byte {
	number := strconv.FormatInt(s.Revision().Number, 10)
	return []byte("id: " + eventID(s.Revision()) + "\nevent: message\ndata: {\"type\":\"refetchEvaluation\",\"etag\":\"" + number + "\"}\n\n")
})

// EventForm returns the form of the event streams of namespaces. A browser's EventSource
// cannot set headers, so namespace and capability are in the URL.
func (p *Protocol) EventForm() stream.Form {
	return stream.Form{Hub: p.streams, Kind: stream.OFREP, Errors: Form, Open: func(x *exchange.Exchange) (*call.Request, error) {
		q := &Request{namespace: namespaceIn(x)}
		request := &call.Request{
			Credentials: credentials(x.Request.Header),
			Payload:     &listener{Request: q, last: x.Request.Header.Get("Last-Event-ID")},
		}
		if text := x.Request.URL.Query().Get(capabilityParameter); text != "" {
			request.Capability = &call.Capability{Text: text, Namespace: q.namespace, Arrived: p.now()}
		}
		return request, nil
	}}
}

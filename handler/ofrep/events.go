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

// listener sends an event when the revision or the epoch of its namespace changes.
type listener struct {
	*Request
	sent    string // the id of the last event; at first the header Last-Event-ID
	started bool
}

// Namespace implements [stream.Listener].
func (l *listener) Namespace() string { return l.About() }

// Listen implements [stream.Listener]. It returns a refetch event if the client has not
// seen the current revision in this epoch. At the start of the stream, a client without
// Last-Event-ID gets one too: a change may have happened between its bulk request and now.
func (l *listener) Listen(ctx context.Context, s *service.Service, d service.Demand) (stream.Update, error) {
	view, err := s.ViewOrEmpty(ctx, l.namespace, d)
	if err != nil {
		return stream.Update{State: view.State}, err
	}
	e := refetchEvents.Of(view.Snapshot)
	changed, started := l.sent != e.id, l.started
	l.sent, l.started = e.id, true
	u := stream.Update{State: view.State, Until: view.Snapshot.Next()}
	switch {
	case changed:
		u.Events = e.text
	case !started:
		u.Events = []byte("id: " + e.id + "\n\n")
	}
	return u, nil
}

// event is an encoded event.
type event struct {
	id   string
	text []byte
}

// refetchEvents are the events, one for each snapshot. The id includes the stamp, which
// distinguishes a state restored from a backup from an earlier one with the same number, and
// the epoch unless that is 0.
var refetchEvents = guidon.NewDerivation(func(s *guidon.Snapshot) event {
	number := strconv.FormatInt(s.Revision().Number, 10)
	id := number + "-" + strconv.FormatUint(uint64(s.Revision().Stamp), 16) // #nosec G115 -- the bits are meant
	if epoch := s.Epoch(); epoch != 0 {
		id += "-" + strconv.FormatInt(epoch, 10)
	}
	return event{id, []byte("id: " + id + "\nevent: message\ndata: {\"type\":\"refetchEvaluation\",\"etag\":\"" + number + "\"}\n\n")}
})

// EventForm returns the form of the event streams of namespaces. A browser's EventSource
// cannot set headers, so namespace and capability are in the URL.
func (p *Protocol) EventForm() stream.Form {
	return stream.Form{Hub: p.streams, Kind: stream.OFREP, Errors: Form, Open: func(x *exchange.Exchange) (*call.Request, error) {
		namespace, err := namespaceIn(x)
		if err != nil {
			return nil, err
		}
		q := &Request{namespace: namespace}
		request := &call.Request{
			Credentials: credentials(x.Request.Header),
			Payload:     &listener{Request: q, sent: x.Request.Header.Get("Last-Event-ID")},
		}
		if text := x.Request.URL.Query().Get(capabilityParameter); text != "" {
			request.Capability = &call.Capability{Text: text, Namespace: q.namespace, Arrived: p.now()}
		}
		return request, nil
	}}
}

package ofrep

import (
	"context"
	"encoding/binary"
	"net/url"
	"strconv"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/codec/jsontext"
	"github.com/guidonhq/guidon/handler/exchange"
	"github.com/guidonhq/guidon/handler/stream"
	"github.com/guidonhq/guidon/service"
)

// The OFREP event stream notifies web providers that they must fetch the flags of a
// namespace again (OFREP 7).

const (
	OfrepEvents = OfrepPrefix + "/v1/events"
	// capabilityParameter is the query parameter with the stream's capability.
	capabilityParameter = "capability"
)

// ofrepListener sends an event when the revision of its namespace changes.
type ofrepListener struct {
	*Question
	last    string // the header Last-Event-ID
	started bool
	sent    guidon.Revision
}

// Namespace implements [Listener].
func (l *ofrepListener) Namespace() string { return l.About() }

// Listen implements [Listener]. It returns a refetch event if the client has not seen the current revision. At the
// start of the stream, a client without Last-Event-ID gets one too: a change may have
// happened between its bulk request and now.
func (l *ofrepListener) Listen(ctx context.Context, s *service.Service, d service.Demand) (stream.News, error) {
	view, err := s.ViewOrEmpty(ctx, l.namespace, d)
	if err != nil {
		return stream.News{State: view.State}, err
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
		return stream.News{State: view.State}, nil
	case changed:
		return stream.News{State: view.State, Events: refetchEvents.Of(view.Snapshot)}, nil
	}
	return stream.News{State: view.State, Events: []byte("id: " + eventID(at) + "\n\n")}, nil
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
		q := &Question{namespace: ofrepNamespace(x)}
		request := &call.Request{
			Credentials: ofrepCredentials(x.Request.Header),
			Payload:     &ofrepListener{Question: q, last: x.Request.Header.Get("Last-Event-ID")},
		}
		if text := x.Request.URL.Query().Get(capabilityParameter); text != "" {
			request.Capability = &call.Capability{Text: text, Namespace: q.namespace, Arrived: p.now()}
		}
		return request, nil
	}}
}

// streamOffer is the event stream advertised in a bulk response; nil means none. It
// determines the URL of the stream, so the ETag must cover it.
type streamOffer struct {
	by    *service.Authentication // signs the capability; nil if none is needed
	until time.Time
}

// offerStream returns the offer for the caller. It returns nil if too many streams are
// open, so that the client polls instead. A client that refetches because of a change
// event already has a stream and keeps it.
func (p *Protocol) offerStream(c *call.Call, q *Question) *streamOffer {
	if p.streams == nil {
		return nil
	}
	if !q.refetch && !p.streams.HasRoom(stream.OFREP, c.Caller.Actor.ID) {
		return nil
	}
	if !p.protected {
		return &streamOffer{}
	}
	by := c.Caller.Authentication
	if by == nil || !by.Signs() {
		return nil
	}
	return &streamOffer{by: by, until: service.CapabilityEnd(p.now())}
}

// appendIdentity appends the data that determines the offer for a namespace.
func (o *streamOffer) appendIdentity(b []byte) []byte {
	switch {
	case o == nil:
		return append(b, 0)
	case o.by == nil:
		return append(b, 1)
	}
	b = binary.AppendVarint(append(b, 2), o.until.Unix())
	return append(b, o.by.ID...)
}

// append appends the member of the bulk response, preceded by a comma.
func (o *streamOffer) append(b []byte, publicURL, namespace string) []byte {
	query := url.Values{"namespace": {namespace}}
	if o.by != nil {
		query.Set(capabilityParameter, o.by.Capability(namespace, o.until))
	}
	b = append(b, `,"eventStreams":[{"type":"sse",`...)
	if target := OfrepEvents + "?" + query.Encode(); publicURL != "" {
		b = jsontext.AppendString(append(b, `"url":`...), publicURL+target)
	} else {
		b = append(jsontext.AppendString(append(b, `"endpoint":{"requestUri":`...), target), '}')
	}
	return append(b, `,"inactivityDelaySec":120}]`...)
}

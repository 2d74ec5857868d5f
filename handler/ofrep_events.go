package handler

import (
	"context"
	"encoding/binary"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/codec"
)

// The event stream of OFREP tells the web providers of a namespace that they have
// to ask again (OFREP 7).

const (
	ofrepEvents = ofrepPrefix + "/v1/events"
	// capabilityParameter is where the stream's URL says what it may do.
	capabilityParameter = "capability"
	// maxCapabilityGrace is for how long at most a stream goes on after the end of
	// the capability that it came with.
	maxCapabilityGrace = 5 * time.Minute
)

// ofrepEventsOperation looks for a change.
var ofrepEventsOperation = streamOp(ofrepEvents, AreaOFREP).servesStale()

// capability is what a listener shows in the place of a token.
type capability struct {
	text      string
	namespace string
	arrived   time.Time // the listener did
	until     time.Time // set when it has been looked at, which it is where one is needed
}

// ofrepListener tells of the revision of a namespace.
type ofrepListener struct {
	request *ofrepRequest
	last    string // the id of the last event that the client has seen
	started bool
	sent    guidon.Revision
}

func (l *ofrepListener) namespace() string { return guidon.NamespaceKey(l.request.namespace) }

// listen tells the client to ask again whenever it has not seen the state. At the
// beginning that is also one who has seen none: something may have changed between
// its question and now.
func (l *ofrepListener) listen(ctx context.Context, h *Handler) ([]byte, bool, error) {
	s, err := h.service.Snapshot(ctx, l.request.namespace)
	if err != nil {
		return nil, false, err
	}
	at := s.Revision()
	changed := at != l.sent
	if !l.started {
		changed = l.last != eventID(at)
	}
	known := l.started && !changed
	l.started, l.sent = true, at
	switch {
	case known:
		return nil, false, nil
	case changed:
		return refetchEvents.Of(s), false, nil
	}
	return []byte("id: " + eventID(at) + "\n\n"), false, nil
}

// eventID returns the id of the event about a state: number and stamp, so that
// what was restored from a backup is not taken for what it was.
func eventID(r guidon.Revision) string {
	return strconv.FormatInt(r.Number, 10) + "-" + strconv.FormatUint(uint64(r.Stamp), 16) // #nosec G115 -- the bits are meant
}

// refetchEvents are the events that tell of snapshots.
var refetchEvents = guidon.NewDerivation(func(s *guidon.Snapshot) []byte {
	number := strconv.FormatInt(s.Revision().Number, 10)
	return []byte("id: " + eventID(s.Revision()) + "\nevent: message\ndata: {\"type\":\"refetchEvaluation\",\"etag\":\"" + number + "\"}\n\n")
})

// serveOFREPEvents answers with the stream of a namespace. A browser's EventSource
// sends no header, so namespace and capability are in the URL.
func (h *Handler) serveOFREPEvents(w http.ResponseWriter, r *http.Request) {
	x := w.(*exchange)
	q := &ofrepRequest{namespace: x.ofrepNamespace()}
	request := &Request{
		Authorization: ofrepCredential(r.Header), Cookie: r.Header["Cookie"], ofrep: q,
		listener: &ofrepListener{request: q, last: r.Header.Get("Last-Event-ID")},
	}
	if text := r.URL.Query().Get(capabilityParameter); text != "" {
		request.capability = &capability{text: text, namespace: q.namespace, arrived: h.now()}
	}
	h.serveStream(x, ofrepEventsOperation, ofrepStream, request)
}

// streamOffer is what a bulk answer says of the stream of its namespace, nil for
// nothing. The URL follows from it, so it is what the ETag has to cover.
type streamOffer struct {
	by    *guidon.Authentication // nil where everybody may listen
	until time.Time
}

// offerStream returns the offer for the caller. When too many listen already there
// is none, and clients poll; but who was told of a change by a stream has one, and
// keeps it.
func (h *Handler) offerStream(ctx context.Context, q *ofrepRequest) *streamOffer {
	streams := h.config.Streams
	if streams == nil {
		return nil
	}
	call := guidon.CallFrom(ctx)
	if !q.refetch && !streams.hasRoom(ofrepStream, call.Actor.ID) {
		return nil
	}
	if !h.protects(AreaOFREP) {
		return &streamOffer{}
	}
	by := call.Authentication
	if by == nil || !by.Signs() {
		return nil
	}
	return &streamOffer{by: by, until: guidon.CapabilityEnd(h.now())}
}

// appendIdentity appends what the offer for a namespace follows from.
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

// append appends the member of the bulk answer, with a comma before it.
func (o *streamOffer) append(b []byte, publicURL, namespace string) []byte {
	query := url.Values{"namespace": {namespace}}
	if o.by != nil {
		query.Set(capabilityParameter, o.by.Capability(namespace, o.until))
	}
	b = append(b, `,"eventStreams":[{"type":"sse",`...)
	if target := ofrepEvents + "?" + query.Encode(); publicURL != "" {
		b = codec.AppendString(append(b, `"url":`...), publicURL+target)
	} else {
		b = append(codec.AppendString(append(b, `"endpoint":{"requestUri":`...), target), '}')
	}
	return append(b, `,"inactivityDelaySec":120}]`...)
}

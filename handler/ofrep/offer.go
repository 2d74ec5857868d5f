package ofrep

import (
	"encoding/binary"
	"net/url"
	"time"

	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/codec/jsontext"
	"github.com/guidonhq/guidon/handler/stream"
	"github.com/guidonhq/guidon/service"
)

// streamOffer is the event stream advertised in a bulk response; nil means none. It
// determines the URL of the stream, so the ETag must cover it.
type streamOffer struct {
	by    *service.Authentication // signs the capability; nil if none is needed
	until time.Time
}

// offerStream returns the offer for the caller. It returns nil if too many streams are
// open, so that the client polls instead. A client that refetches because of a change
// event already has a stream and keeps it.
func (p *Protocol) offerStream(c *call.Call, q *Request) *streamOffer {
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
	if target := EventsPath + "?" + query.Encode(); publicURL != "" {
		b = jsontext.AppendString(append(b, `"url":`...), publicURL+target)
	} else {
		b = append(jsontext.AppendString(append(b, `"endpoint":{"requestUri":`...), target), '}')
	}
	return append(b, `,"inactivityDelaySec":120}]`...)
}

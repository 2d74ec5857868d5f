package server

import (
	"context"
	"encoding/binary"
	"strings"
	"sync"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/wire/evaluation"
)

// The requests to evaluate flags are most of what the server receives, and
// protobuf fills a map by reflection, entry by entry. So they are decoded here,
// where they have the usual form: fields that are known, of their types, valid
// text. Whatever else there is, the general decoder has the say: there is one
// place that knows what a malformed message is.

// decoding limits how deep a message may be nested. JSON bodies may be nested 64
// levels deep, and one level of a JSON object takes up to three of messages.
var decoding = proto.UnmarshalOptions{RecursionLimit: 3 * 64}

// decode decodes the message, when memory for it has been reserved.
func (in *inbound) decode(ctx context.Context, data []byte, values int) error {
	found := in.layout.count(data, values)
	if found > values {
		return guidon.Errorf(guidon.TooLarge, "the request message has more than %d values", values)
	}
	if err := in.decoded.Raise(ctx, costOf(len(data), found)); err != nil {
		return err
	}
	switch {
	case in.decodeEvaluation(data):
		return nil
	case in.tooManyItems: // as the service would say, after all have been decoded
		return guidon.Errorf(guidon.TooLarge, "invalid field requests: must not contain more than %d elements", guidon.MaxBatch)
	}
	if err := decoding.Unmarshal(data, in.message); err != nil {
		return &guidon.Error{Code: guidon.InvalidArgument, Message: "malformed request message", Err: err}
	}
	return nil
}

// decodeEvaluation decodes a request to evaluate flags into the empty message.
// It returns false, and may leave something in the message, where it is none or
// not of the usual form.
func (in *inbound) decodeEvaluation(data []byte) bool {
	switch m := in.message.(type) {
	case *evaluation.EvaluationRequest:
		d := newRequestDecoder(data)
		return d.request(m, 0, len(data))
	case *evaluation.BatchEvaluationRequest:
		d := newRequestDecoder(data)
		n := d.count(batchRequests)
		if n > guidon.MaxBatch {
			in.tooManyItems = true
			return false
		}
		in.buffer = batchBuffers.Get().(*batchBuffer)
		return d.batch(m, in.buffer.reset(n))
	}
	return false
}

// batchBuffer is memory for the items of a batch.
type batchBuffer struct {
	items []evaluation.EvaluationRequest
}

var batchBuffers = sync.Pool{New: func() any { return new(batchBuffer) }}

// reset returns n empty items.
func (r *batchBuffer) reset(n int) []evaluation.EvaluationRequest {
	if n > cap(r.items) {
		r.items = make([]evaluation.EvaluationRequest, n)
	}
	r.items = r.items[:n]
	return r.items
}

func (r *batchBuffer) release() {
	clear(r.items)
	batchBuffers.Put(r)
}

func (d *requestDecoder) batch(m *evaluation.BatchEvaluationRequest, items []evaluation.EvaluationRequest) bool {
	m.Requests = make([]*evaluation.EvaluationRequest, 0, len(items))
	for at := 0; at < len(d.data); {
		f, ok := d.field(at, len(d.data))
		if !ok {
			return false
		}
		switch f.number {
		case batchRequestID:
			m.RequestId, ok = d.string(f)
		case batchRequests:
			item := &items[len(m.Requests)]
			m.Requests = append(m.Requests, item)
			ok = d.request(item, f.start, f.end)
		case batchReference:
			m.Reference, ok = d.string(f)
		default:
			ok = false
		}
		if !ok {
			return false
		}
		at = f.end
	}
	return true
}

// The fields of evaluation.proto.
const (
	requestRequestID    = 1
	requestNamespaceKey = 2
	requestFlagKey      = 3
	requestEntityID     = 4
	requestContext      = 5
	requestReference    = 6

	entryKey   = 1
	entryValue = 2

	batchRequestID = 1
	batchRequests  = 3
	batchReference = 4
)

// requestDecoder decodes the parts of text. A batch usually asks about many
// flags in the same context, so requests whose contexts are encoded alike share
// one map, which nobody changes.
type requestDecoder struct {
	data  string
	ascii bool // there is nothing else in text, so that all its parts are valid

	// The context decoded last.
	encoded string
	entries int
	context map[string]string
}

// newRequestDecoder returns a decoder of the data. All texts that it gives are
// parts of one: who keeps them makes a copy.
func newRequestDecoder(data []byte) requestDecoder {
	return requestDecoder{data: string(data), ascii: isASCII(data)}
}

// isASCII tells whether the data is ASCII, which a message is that has neither
// other text nor a length above 127.
func isASCII(data []byte) bool {
	for ; len(data) >= 8; data = data[8:] {
		if binary.LittleEndian.Uint64(data)&0x8080808080808080 != 0 {
			return false
		}
	}
	for _, b := range data {
		if b >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// field is a field of the length-delimited kind, the only one here, with the
// place of its contents.
type field struct {
	number     protowire.Number
	start, end int
}

// field returns the field that begins at the place, which is before the end.
func (d *requestDecoder) field(at, end int) (field, bool) {
	tag, at, ok := d.varint(at, end)
	if !ok || tag&7 != uint64(protowire.BytesType) || tag>>3 > uint64(requestReference) {
		return field{}, false
	}
	length, at, ok := d.varint(at, end)
	if !ok || length > uint64(end-at) { // #nosec G115 -- not negative
		return field{}, false
	}
	return field{protowire.Number(tag >> 3), at, at + int(length)}, true // #nosec G115 -- checked
}

// varint returns a number of up to four bytes, which is enough for the length of
// any message, and the place after it.
func (d *requestDecoder) varint(at, end int) (value uint64, after int, ok bool) {
	for shift := 0; shift < 4*7 && at < end; shift += 7 {
		b := d.data[at]
		at++
		value |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return value, at, true
		}
	}
	return 0, 0, false
}

// string returns the contents of the field as text.
func (d *requestDecoder) string(f field) (string, bool) {
	text := d.data[f.start:f.end]
	return text, d.ascii || utf8.ValidString(text)
}

// count returns how many fields of the number the text begins with before
// something else than a field comes.
func (d *requestDecoder) count(number protowire.Number) (n int) {
	for at := 0; at < len(d.data); {
		f, ok := d.field(at, len(d.data))
		if !ok {
			return n
		}
		if f.number == number {
			n++
		}
		at = f.end
	}
	return n
}

// request decodes the request between the two places.
func (d *requestDecoder) request(m *evaluation.EvaluationRequest, at, end int) bool {
	var first, last field // of the context
	entries := 0
	for at < end {
		f, ok := d.field(at, end)
		if !ok {
			return false
		}
		switch f.number {
		case requestRequestID:
			m.RequestId, ok = d.string(f)
		case requestNamespaceKey:
			m.NamespaceKey, ok = d.string(f)
		case requestFlagKey:
			m.FlagKey, ok = d.string(f)
		case requestEntityID:
			m.EntityId, ok = d.string(f)
		case requestReference:
			m.Reference, ok = d.string(f)
		case requestContext:
			switch {
			case entries > 0:
				ok = last.end == at // one after the other
			case d.sameContext(at, end):
				first, f.end = field{start: at}, at+len(d.encoded)
				entries = d.entries - 1
			default:
				first = field{start: at}
			}
			last = f
			entries++
		default:
			ok = false
		}
		if !ok {
			return false
		}
		at = f.end
	}
	if entries == 0 {
		return true
	}
	var ok bool
	m.Context, ok = d.contextOf(first.start, last.end, entries)
	return ok
}

// sameContext tells whether the context decoded last begins at the place once more.
func (d *requestDecoder) sameContext(at, end int) bool {
	return d.entries > 0 && strings.HasPrefix(d.data[at:end], d.encoded)
}

// contextOf decodes the entries of a context, fields between the two places.
func (d *requestDecoder) contextOf(start, end, entries int) (map[string]string, bool) {
	encoded := d.data[start:end]
	if encoded == d.encoded {
		return d.context, true
	}
	context := make(map[string]string, entries)
	for at := start; at < end; {
		f, ok := d.field(at, end)
		if !ok || !d.entry(context, f) {
			return nil, false
		}
		at = f.end
	}
	d.encoded, d.entries, d.context = encoded, entries, context
	return context, true
}

// entry decodes an entry of a context, whose parts are empty where they are left
// out.
func (d *requestDecoder) entry(context map[string]string, entry field) bool {
	var key, value string
	for at := entry.start; at < entry.end; {
		f, ok := d.field(at, entry.end)
		if !ok {
			return false
		}
		switch f.number {
		case entryKey:
			key, ok = d.string(f)
		case entryValue:
			value, ok = d.string(f)
		default:
			ok = false
		}
		if !ok {
			return false
		}
		at = f.end
	}
	context[key] = value
	return true
}

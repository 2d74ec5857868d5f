package quickgrpc

import (
	"encoding/binary"
	"errors"
	"strings"
	"sync"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon/handler/wire/evaluation"
)

// Protobuf fills a map by reflection, entry by entry. So requests to evaluate flags are
// decoded here if they have the usual form: known fields of the right types, with valid
// UTF-8. Everything else is left to the general decoder, so that only one place rejects
// malformed messages.

// ErrTooMany is the error for a batch with too many items.
var ErrTooMany = errors.New("too many items")

// Decode decodes a request to evaluate flags into the empty message and reports whether
// it did: not if it is another request or not of the usual form, in which case the
// message may be partly filled. It returns ErrTooMany for a batch with more than most
// items. The memory of the items, which may be nil, can be released when the message is
// no longer used.
//
// Requests of a batch with the same context share one map, which must not be modified.
func Decode(data []byte, m proto.Message, most int) (items *Items, ok bool, err error) {
	if !Enabled {
		return nil, false, nil
	}
	switch m := m.(type) {
	case *evaluation.EvaluationRequest:
		d := newRequestDecoder(data)
		return nil, d.request(m, 0, len(data)), nil
	case *evaluation.BatchEvaluationRequest:
		d := newRequestDecoder(data)
		n := d.count(batchRequests)
		if n > most {
			return nil, false, ErrTooMany
		}
		items = batchBuffers.Get().(*Items)
		return items, d.batch(m, items.reset(n)), nil
	}
	return nil, false, nil
}

// Items is reusable memory for the items of a batch.
type Items struct {
	items []evaluation.EvaluationRequest
}

var batchBuffers = sync.Pool{New: func() any { return new(Items) }}

// reset returns n empty items.
func (r *Items) reset(n int) []evaluation.EvaluationRequest {
	if n > cap(r.items) {
		r.items = make([]evaluation.EvaluationRequest, n)
	}
	r.items = r.items[:n]
	return r.items
}

// Release allows the memory to be reused. It may be called on nil.
func (r *Items) Release() {
	if r == nil {
		return
	}
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

// requestDecoder decodes the parts of data. A batch usually evaluates many flags with
// the same context. So requests whose contexts have the same encoding share one map,
// which must not be modified.
type requestDecoder struct {
	data  string
	ascii bool // data is ASCII only, so that all its parts are valid UTF-8

	// The context decoded last.
	encoded string
	entries int
	context map[string]string
}

// newRequestDecoder returns a decoder of the data. All decoded strings share the memory
// of one copy of it, so strings that are kept must be cloned.
func newRequestDecoder(data []byte) requestDecoder {
	return requestDecoder{data: string(data), ascii: isASCII(data)}
}

// isASCII reports whether the data is ASCII. A message is ASCII if all its strings are
// and no length is above 127.
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

// field is a length-delimited field, the only kind here, and the position of its
// contents.
type field struct {
	number     protowire.Number
	start, end int
}

// field returns the field that starts at the position, which must be before the end.
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

// varint returns a number of up to four bytes, which is enough for the length of any
// message, and the position after it.
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

// string returns the contents of the field. It returns false if they are not valid UTF-8.
func (d *requestDecoder) string(f field) (string, bool) {
	text := d.data[f.start:f.end]
	return text, d.ascii || utf8.ValidString(text)
}

// count returns the number of fields with the given number. It stops at data that is not
// a field.
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

// request decodes the request between the two positions.
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
				ok = last.end == at // the entries must be contiguous
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

// sameContext reports whether the context decoded last is repeated at the position.
func (d *requestDecoder) sameContext(at, end int) bool {
	return d.entries > 0 && strings.HasPrefix(d.data[at:end], d.encoded)
}

// contextOf decodes the entries of a context, which are the fields between the two
// positions.
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

// entry decodes an entry of a context. Omitted parts are empty.
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

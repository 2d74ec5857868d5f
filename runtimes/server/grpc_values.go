package server

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// The most memory that decoding takes, as measured by TestMessageCost: per byte of a
// message, and per value in it, including the maps and lists that contain the values.
const (
	costOfByte  = 3
	costOfValue = 256
)

// costOf returns an upper estimate of the memory in bytes that decoding a message of the
// size allocates, including garbage.
func costOf(size, values int) int64 {
	return costOfByte*int64(size) + costOfValue*int64(values)
}

// layout maps the fields of a message that are messages to their layouts.
type layout struct {
	fields map[protowire.Number]*layout
	weight int // of a nested message, in values
}

// weightInImport is the weight of a nested message in a request with a document, of which
// there may be more values than in other messages: even an empty flag takes a kilobyte in
// memory.
const weightInImport = 6

// layoutOf returns the layout of messages of the type of m. Message types may be
// recursive.
func layoutOf(m proto.Message) *layout {
	weight := 1
	if _, ok := m.(interface{ GetDocument() *guidonv1.Document }); ok {
		weight = weightInImport
	}
	return newLayout(m.ProtoReflect().Descriptor(), weight, map[protoreflect.FullName]*layout{})
}

func newLayout(message protoreflect.MessageDescriptor, weight int, known map[protoreflect.FullName]*layout) *layout {
	if l := known[message.FullName()]; l != nil {
		return l
	}
	l := &layout{fields: map[protowire.Number]*layout{}, weight: weight}
	known[message.FullName()] = l
	for i := range message.Fields().Len() {
		if f := message.Fields().Get(i); f.Message() != nil {
			l.fields[f.Number()] = newLayout(f.Message(), weight, known)
		}
	}
	return l
}

// count counts the values of an encoded message, including those of nested messages,
// without decoding it. It stops soon after limit, and at malformed data, which the
// decoder rejects.
func (l *layout) count(data []byte, limit int) int {
	return l.countTo(data, limit, decoding.RecursionLimit)
}

func (l *layout) countTo(data []byte, limit, depth int) (n int) {
	for depth > 0 && len(data) > 0 && n <= limit {
		number, kind, length := protowire.ConsumeTag(data)
		if length < 0 {
			return n
		}
		data = data[length:]
		inside := l.fields[number]
		if inside == nil || kind != protowire.BytesType {
			n++
			if length = protowire.ConsumeFieldValue(number, kind, data); length < 0 {
				return n
			}
			data = data[length:]
			continue
		}
		value, length := protowire.ConsumeBytes(data)
		if length < 0 {
			return n
		}
		n += inside.weight
		n += inside.countTo(value, limit-n, depth-1)
		data = data[length:]
	}
	return n
}

package codec

import (
	"iter"
	"slices"
	"strconv"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/guidonhq/guidon/handler/codec/jsontext"
	"github.com/guidonhq/guidon/handler/codec/quick"
)

// Marshal returns m as compact JSON (contract 1.3). Fields are in the order of
// declaration under their camelCase names. Zero values are included, but unset messages
// and unset additions of ours are omitted. Enums are written by name, or by number if
// they have none, and 64-bit integers as numbers. The keys of maps and objects are
// sorted. The same message gives the same bytes.
//
// It returns an error if m contains a timestamp outside the years 1 to 9999.
func Marshal(m proto.Message) ([]byte, error) { return Append(make([]byte, 0, 256), m) }

// Append is like [Marshal] but appends to b. After an error b must not be used.
func Append(b []byte, m proto.Message) ([]byte, error) {
	if b, ok, err := quick.Append(b, m); ok {
		return b, err
	}
	return appendGeneral(b, m)
}

func appendGeneral(b []byte, m proto.Message) ([]byte, error) {
	return encoder{}.message(b, m.ProtoReflect())
}

type encoder struct {
	sparse bool    // omit zero values
	pieces *Writer // receives the output in pieces; nil to return it as a whole
}

func (e encoder) message(b []byte, m protoreflect.Message) ([]byte, error) {
	p := planOf(m.Descriptor())
	if p.shape != ordinary {
		return appendSpecial(b, m.Interface())
	}
	b = append(b, '{')
	first := true
	for i := range p.fields {
		f := &p.fields[i]
		if (f.sparse || e.sparse) && !m.Has(f.desc) && isEmpty(e.longList(f.desc)) {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		var err error
		if b, err = e.field(append(b, f.label...), f.desc, m.Get(f.desc)); err != nil {
			return nil, err
		}
		if e.pieces != nil {
			if b = e.pieces.flushIfFull(b); e.pieces.err != nil {
				return nil, e.pieces.err
			}
		}
	}
	return append(b, '}'), nil
}

func (e encoder) field(b []byte, desc protoreflect.FieldDescriptor, value protoreflect.Value) ([]byte, error) {
	switch {
	case desc.IsMap():
		return appendStringMap(b, desc.MapValue(), value.Map()), nil
	case desc.IsList():
		return e.list(b, desc, value.List())
	case desc.Message() != nil:
		return e.message(b, value.Message())
	}
	if e.pieces != nil && desc.Kind() == protoreflect.StringKind {
		return e.pieces.text(b, value.String()), nil
	}
	return appendScalar(b, desc, value), nil
}

func (e encoder) list(b []byte, desc protoreflect.FieldDescriptor, list protoreflect.List) ([]byte, error) {
	b = append(b, '[')
	if messages := e.longList(desc); messages != nil {
		return e.messages(b, messages)
	}
	for i := range list.Len() {
		if i > 0 {
			b = append(b, ',')
		}
		if desc.Message() == nil {
			b = appendScalar(b, desc, list.Get(i))
			if e.pieces != nil {
				b = e.pieces.flushIfFull(b)
			}
			continue
		}
		var err error
		if b, err = e.message(b, list.Get(i).Message()); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

// longList returns the messages of a [LongList], or nil if the field is none.
func (e encoder) longList(desc protoreflect.FieldDescriptor) iter.Seq[proto.Message] {
	if e.pieces == nil {
		return nil
	}
	return e.pieces.lists[desc]
}

// messages appends the messages of a long list, and the end of the list.
func (e encoder) messages(b []byte, messages iter.Seq[proto.Message]) (_ []byte, err error) {
	first := true
	for m := range messages {
		if !first {
			b = append(b, ',')
		}
		first = false
		if b, err = e.message(b, m.ProtoReflect()); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

func isEmpty(messages iter.Seq[proto.Message]) bool {
	if messages != nil {
		for range messages {
			return false
		}
	}
	return true
}

func appendStringMap(b []byte, desc protoreflect.FieldDescriptor, from protoreflect.Map) []byte {
	names := make([]string, 0, from.Len())
	for key := range from.Range {
		names = append(names, key.String())
	}
	slices.Sort(names)
	b = append(b, '{')
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(jsontext.AppendString(b, name), ':')
		b = appendScalar(b, desc, from.Get(protoreflect.ValueOfString(name).MapKey()))
	}
	return append(b, '}')
}

func appendScalar(b []byte, desc protoreflect.FieldDescriptor, value protoreflect.Value) []byte {
	switch desc.Kind() {
	case protoreflect.StringKind:
		return jsontext.AppendString(b, value.String())
	case protoreflect.BoolKind:
		return strconv.AppendBool(b, value.Bool())
	case protoreflect.EnumKind:
		return appendEnum(b, desc.Enum(), value.Enum())
	case protoreflect.FloatKind:
		return jsontext.AppendFloat(b, value.Float(), 32)
	case protoreflect.DoubleKind:
		return jsontext.AppendFloat(b, value.Float(), 64)
	}
	return strconv.AppendInt(b, value.Int(), 10)
}

func appendEnum(b []byte, desc protoreflect.EnumDescriptor, number protoreflect.EnumNumber) []byte {
	if value := desc.Values().ByNumber(number); value != nil {
		return jsontext.AppendString(b, string(value.Name()))
	}
	return strconv.AppendInt(b, int64(number), 10)
}

package codec

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/codec/jsontext"
	"github.com/guidonhq/guidon/handler/codec/quick"
)

var (
	errInvalidValues = guidon.Errorf(guidon.InvalidArgument, "invalid values for key(s) in json body")
	errTooDeep       = guidon.Errorf(guidon.InvalidArgument, "json body is nested too deeply")
	errNotUTF8       = guidon.Errorf(guidon.InvalidArgument, "json body is not valid UTF-8")
)

// Unmarshal sets the fields of m from a JSON body (contract 1.2). It does not reset m
// first, and m must not be used after an error.
//
//   - A field may be spelled in camelCase, which takes precedence, or in snake_case.
//     Unknown fields are ignored, and so is everything after the first value. See
//     [UnmarshalRequest].
//   - null leaves a field unset. In a map or a list it is the zero element.
//   - Of several values for one name the last counts, without merging. Of several
//     members of a oneof the one declared last counts.
//   - The values of an evaluation context may be of any kind, see [IsContext].
//   - A number may be a string. It must fit its field, and an integer may be written as
//     1.0 or 1e2. NaN and the infinities are rejected: they have no meaning in any field.
//   - Numbers inside a Struct are float64, so an integer beyond 2^53 loses digits.
//   - Objects and arrays may be nested 64 deep. The parameter values limits the total
//     number of members and elements. A short one, such as {}, becomes many times its
//     size in memory: without a limit a small body could take hundreds of megabytes.
//
// The error is a *guidon.Error with code InvalidArgument, or TooLarge for too many
// values.
func Unmarshal(body []byte, m proto.Message, values int) error {
	_, err := UnmarshalRequest(body, m, values)
	return err
}

// UnmarshalRequest is [Unmarshal], and returns an unknown field if there are any.
func UnmarshalRequest(body []byte, m proto.Message, values int) (*UnknownField, error) {
	if quick.Unmarshal(body, m, values) {
		return nil, nil
	}
	return unmarshalGeneral(body, m, values)
}

func unmarshalGeneral(body []byte, m proto.Message, values int) (*UnknownField, error) {
	s := &scanner{data: body, left: values}
	if s.peek() == 0 && s.pos == len(body) {
		return nil, nil
	}
	err := s.top(m.ProtoReflect())
	if err == nil && !utf8.Valid(body[:s.pos]) {
		err = errNotUTF8
	}
	if err != nil {
		return nil, explain(err, body, values)
	}
	return s.unknown, nil
}

// tooMany returns the error for a body with more members and elements than values.
func tooMany(values int) error {
	return guidon.Errorf(guidon.TooLarge, "json body has too many values: more than %d", values)
}

// explain returns the error for the caller. If the body is malformed, the message of
// encoding/json takes precedence over an error about a value in it.
func explain(err error, body []byte, values int) error {
	switch err {
	case errDepth:
		return errTooDeep
	case errMany:
		return tooMany(values)
	}
	var first json.RawMessage
	if malformed := json.NewDecoder(bytes.NewReader(body)).Decode(&first); malformed != nil {
		return &guidon.Error{Code: guidon.InvalidArgument, Message: malformed.Error()}
	}
	if !utf8.Valid(first) {
		return errNotUTF8
	}
	if refused, ok := errors.AsType[*guidon.Error](err); ok {
		return refused
	}
	return errInvalidValues
}

// top reads the body's one value.
func (s *scanner) top(m protoreflect.Message) error {
	if p := planOf(m.Descriptor()); p.shape == empty && s.peek() == '{' {
		return s.object(func(name []byte) error {
			s.note(p.unknown(shorten(string(name)), false))
			return s.skip()
		})
	} else if p.shape == empty {
		return s.skip() // any value is accepted
	}
	if isNull, err := s.null(); isNull || err != nil {
		return err
	}
	return s.message(m)
}

// message reads the JSON value of m.
func (s *scanner) message(m protoreflect.Message) error {
	p := planOf(m.Descriptor())
	if p.shape != ordinary {
		return s.special(m.Interface())
	}
	var camel [maxFields]bool // the fields already set by their camelCase name
	unknown, stated := "", false
	err := s.object(func(name []byte) error {
		known, ok := p.byName[string(name)]
		if !ok {
			if !slices.Contains(p.ignore, string(name)) {
				unknown = cmp.Or(unknown, shorten(string(name)))
			}
			return s.skip()
		}
		desc, before := p.fields[known.index].desc, s.unknown
		value, err := s.field(m, desc)
		if err != nil {
			return err
		}
		if s.unknown != before {
			s.unknown.Within(desc.JSONName())
		}
		stated = stated || desc == p.share && value.IsValid()
		if camel[known.index] && !known.camel {
			return nil
		}
		camel[known.index] = known.camel
		assign(m, desc, value)
		return nil
	})
	if unknown != "" {
		s.note(p.unknown(unknown, stated))
	}
	return err
}

// assign sets a field, or clears it if the value is not valid. It does nothing if the
// field's oneof is set to a member that is declared later.
func assign(m protoreflect.Message, desc protoreflect.FieldDescriptor, value protoreflect.Value) {
	if !value.IsValid() {
		m.Clear(desc)
		return
	}
	if oneof := desc.ContainingOneof(); oneof != nil {
		if set := m.WhichOneof(oneof); set != nil && set.Index() > desc.Index() {
			return
		}
	}
	m.Set(desc, value)
}

// field reads the value of a field of m. For null it returns an invalid value.
func (s *scanner) field(m protoreflect.Message, desc protoreflect.FieldDescriptor) (protoreflect.Value, error) {
	if s.peek() == 'n' && !takesNull(desc) {
		_, err := s.null()
		return protoreflect.Value{}, err
	}
	switch {
	case desc.IsMap():
		value := m.NewField(desc)
		if IsContext(desc) {
			return value, s.contextMap(value.Map())
		}
		return value, s.stringMap(desc, value.Map())
	case desc.IsList():
		value := m.NewField(desc)
		return value, s.list(desc, value.List())
	case desc.Message() != nil:
		value := m.NewField(desc)
		return value, s.message(value.Message())
	}
	return s.scalar(desc)
}

func takesNull(desc protoreflect.FieldDescriptor) bool {
	return desc.Message() != nil && !desc.IsList() && !desc.IsMap() && planOf(desc.Message()).shape == anyValue
}

// stringMap reads a map of strings, in which null is the empty string.
func (s *scanner) stringMap(desc protoreflect.FieldDescriptor, into protoreflect.Map) error {
	return s.object(func(name []byte) error {
		key := protoreflect.ValueOfString(string(name)).MapKey()
		isNull, err := s.null()
		if isNull {
			into.Set(key, protoreflect.ValueOfString(""))
			return err
		}
		value, err := s.scalar(desc.MapValue())
		if err != nil {
			return err
		}
		into.Set(key, value)
		return nil
	})
}

// contextMap reads an evaluation context, whose values become strings as in
// [UnmarshalContext]. null is the same as a missing property.
func (s *scanner) contextMap(into protoreflect.Map) error {
	return s.object(func(name []byte) error {
		key, kind := protoreflect.ValueOfString(string(name)).MapKey(), s.peek()
		if kind == 'n' {
			into.Clear(key)
			return s.literal("null")
		}
		text, err := s.canonicalText(kind)
		if err != nil {
			return err
		}
		into.Set(key, protoreflect.ValueOfString(text))
		return nil
	})
}

func (s *scanner) list(desc protoreflect.FieldDescriptor, into protoreflect.List) error {
	isMessage := desc.Message() != nil
	return s.array(func() error {
		value, before := into.NewElement(), s.unknown
		isNull := false
		var err error
		if !isMessage || planOf(desc.Message()).shape != anyValue {
			isNull, err = s.null()
		}
		switch {
		case isNull || err != nil:
		case isMessage:
			err = s.message(value.Message())
		default:
			value, err = s.scalar(desc)
		}
		if err != nil {
			return err
		}
		if s.unknown != before {
			s.unknown.Within(fmt.Sprintf("[%d]", into.Len()))
		}
		into.Append(value)
		return nil
	})
}

func (s *scanner) scalar(desc protoreflect.FieldDescriptor) (protoreflect.Value, error) {
	switch kind := desc.Kind(); kind {
	case protoreflect.StringKind:
		text, err := s.text()
		return protoreflect.ValueOfString(string(text)), err
	case protoreflect.BoolKind:
		b, err := s.boolean()
		return protoreflect.ValueOfBool(b), err
	case protoreflect.EnumKind:
		return s.enum(desc.Enum())
	default:
		number, err := s.maybeQuotedNumber()
		if err != nil {
			return protoreflect.Value{}, err
		}
		return parseNumber(kind, number)
	}
}

// enum reads an enum by its exact name or by any number (contract 1.2).
func (s *scanner) enum(desc protoreflect.EnumDescriptor) (protoreflect.Value, error) {
	if s.peek() == '"' {
		name, err := s.text()
		if err != nil {
			return protoreflect.Value{}, err
		}
		value := desc.Values().ByName(protoreflect.Name(name))
		if value == nil {
			return protoreflect.Value{}, guidon.Errorf(guidon.InvalidArgument,
				"unknown value %q for enum %s", shorten(string(name)), desc.FullName())
		}
		return protoreflect.ValueOfEnum(value.Number()), nil
	}
	text, err := s.number()
	if err != nil {
		return protoreflect.Value{}, err
	}
	n, err := jsontext.ParseInt(text, 32)
	return protoreflect.ValueOfEnum(protoreflect.EnumNumber(n)), err // #nosec G115 -- parsed as 32 bits
}

// maybeQuotedNumber reads a number or a string that contains one.
func (s *scanner) maybeQuotedNumber() ([]byte, error) {
	if s.peek() != '"' {
		return s.number()
	}
	text, err := s.text()
	if err != nil {
		return nil, err
	}
	if n := jsontext.NumberLength(text); n == 0 || n != len(text) {
		return nil, jsontext.ErrValue
	}
	return text, nil
}

func parseNumber(kind protoreflect.Kind, number []byte) (protoreflect.Value, error) {
	switch kind {
	case protoreflect.Int32Kind:
		n, err := jsontext.ParseInt(number, 32)
		return protoreflect.ValueOfInt32(int32(n)), err // #nosec G115 -- parsed as 32 bits
	case protoreflect.Int64Kind:
		n, err := jsontext.ParseInt(number, 64)
		return protoreflect.ValueOfInt64(n), err
	case protoreflect.FloatKind:
		f, err := jsontext.ParseFloat(number, 32)
		return protoreflect.ValueOfFloat32(float32(f)), err
	case protoreflect.DoubleKind:
		f, err := jsontext.ParseFloat(number, 64)
		return protoreflect.ValueOfFloat64(f), err
	}
	return protoreflect.Value{}, jsontext.ErrValue
}

// shorten truncates input that is quoted in an error.
func shorten(text string) string {
	const limit = 100 + len("…")
	return guidon.Shorten(text, limit)
}

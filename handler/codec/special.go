package codec

import (
	"slices"
	"strconv"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/guidonhq/guidon/handler/codec/jsontext"
)

// special reads a message whose JSON is not an object of its fields.
func (s *scanner) special(m proto.Message) error {
	switch into := m.(type) {
	case *timestamppb.Timestamp:
		text, err := s.text()
		if err != nil {
			return err
		}
		at, err := jsontext.ParseTime(text)
		if err != nil {
			return jsontext.ErrValue
		}
		into.Seconds, into.Nanos = at.Unix(), int32(at.Nanosecond()) // #nosec G115 -- below 1e9
		return nil
	case *durationpb.Duration:
		text, err := s.text()
		if err != nil {
			return err
		}
		d, err := time.ParseDuration(string(text))
		if err != nil {
			return jsontext.ErrValue
		}
		proto.Merge(into, durationpb.New(d))
		return nil
	case *structpb.Struct:
		return s.structFields(into)
	case *structpb.ListValue:
		return s.listValues(into)
	case *structpb.Value:
		return s.anyValue(into)
	case *emptypb.Empty:
		return s.skip()
	}
	return jsontext.ErrValue
}

func (s *scanner) structFields(into *structpb.Struct) error {
	into.Fields = make(map[string]*structpb.Value)
	return s.object(func(name []byte) error {
		value := new(structpb.Value)
		into.Fields[string(name)] = value
		return s.anyValue(value)
	})
}

func (s *scanner) listValues(into *structpb.ListValue) error {
	into.Values = nil
	return s.array(func() error {
		value := new(structpb.Value)
		into.Values = append(into.Values, value)
		return s.anyValue(value)
	})
}

func (s *scanner) anyValue(into *structpb.Value) error {
	switch s.peek() {
	case '{':
		object := new(structpb.Struct)
		into.Kind = &structpb.Value_StructValue{StructValue: object}
		return s.structFields(object)
	case '[':
		list := new(structpb.ListValue)
		into.Kind = &structpb.Value_ListValue{ListValue: list}
		return s.listValues(list)
	case '"':
		text, err := s.text()
		into.Kind = &structpb.Value_StringValue{StringValue: string(text)}
		return err
	case 't', 'f':
		b, err := s.boolean()
		into.Kind = &structpb.Value_BoolValue{BoolValue: b}
		return err
	case 'n':
		into.Kind = &structpb.Value_NullValue{}
		return s.literal("null")
	}
	number, err := s.number()
	if err != nil {
		return err
	}
	f, err := jsontext.ParseFloat(number, 64)
	into.Kind = &structpb.Value_NumberValue{NumberValue: f}
	return err
}

// appendSpecial appends a message whose JSON is not an object of its fields.
func appendSpecial(b []byte, m proto.Message) ([]byte, error) {
	switch from := m.(type) {
	case *timestamppb.Timestamp:
		b, err := jsontext.AppendTimestamp(append(b, '"'), from.GetSeconds(), from.GetNanos())
		return append(b, '"'), err
	case *durationpb.Duration:
		return append(jsontext.AppendDuration(append(b, '"'), from.AsDuration()), '"'), nil
	case *structpb.Struct:
		return appendStruct(b, from), nil
	case *structpb.ListValue:
		return appendListValue(b, from), nil
	case *structpb.Value:
		return appendAnyValue(b, from), nil
	}
	return append(b, "{}"...), nil
}

func appendStruct(b []byte, from *structpb.Struct) []byte {
	names := make([]string, 0, len(from.GetFields()))
	for name := range from.GetFields() {
		names = append(names, name)
	}
	slices.Sort(names)
	b = append(b, '{')
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(jsontext.AppendString(b, name), ':')
		b = appendAnyValue(b, from.GetFields()[name])
	}
	return append(b, '}')
}

func appendListValue(b []byte, from *structpb.ListValue) []byte {
	b = append(b, '[')
	for i, value := range from.GetValues() {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendAnyValue(b, value)
	}
	return append(b, ']')
}

func appendAnyValue(b []byte, from *structpb.Value) []byte {
	switch kind := from.GetKind().(type) {
	case *structpb.Value_StructValue:
		return appendStruct(b, kind.StructValue)
	case *structpb.Value_ListValue:
		return appendListValue(b, kind.ListValue)
	case *structpb.Value_StringValue:
		return jsontext.AppendString(b, kind.StringValue)
	case *structpb.Value_NumberValue:
		return jsontext.AppendFloat(b, kind.NumberValue, 64)
	case *structpb.Value_BoolValue:
		return strconv.AppendBool(b, kind.BoolValue)
	}
	return append(b, "null"...) // a null, or a value that is not set
}

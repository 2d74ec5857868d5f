package codec

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/codec/jsontext"
)

// UnmarshalQuery sets the fields of m from the parameters of a query string (contract
// 1.2). A parameter names a field in camelCase, which takes precedence, or in
// snake_case; others are ignored. An empty value leaves a string unset and is rejected
// for all other types. Only lists accept several values. Fields of other types than
// string, bool, int32, int64, enum and Timestamp cannot be set.
//
// The error is a *guidon.Error with code InvalidArgument. If several parameters are
// wrong, it is that of the first in alphabetical order.
func UnmarshalQuery(values url.Values, m proto.Message) error {
	message := m.ProtoReflect()
	p := planOf(message.Descriptor())
	if p.shape != ordinary {
		return nil
	}
	var camel [maxFields]bool // the fields already set by their camelCase name
	for _, name := range slices.Sorted(maps.Keys(values)) {
		known, ok := p.byName[name]
		if !ok || len(values[name]) == 0 {
			continue
		}
		desc := p.fields[known.index].desc
		value, err := parseAll(message, desc, values[name])
		if err != nil {
			return err
		}
		if camel[known.index] && !known.camel {
			continue
		}
		camel[known.index] = known.camel
		assign(message, desc, value)
	}
	return nil
}

// SetPathVariable sets the field of m with this snake_case name from a segment of the
// path, and overwrites any previous value. Only strings, integers, booleans and enums
// are supported. The error is a *guidon.Error: InvalidArgument for a value that does not
// fit the field, and Internal if m has no such field.
func SetPathVariable(m proto.Message, field, value string) error {
	message := m.ProtoReflect()
	desc := message.Descriptor().Fields().ByTextName(field)
	if desc == nil || desc.IsList() || desc.IsMap() || desc.Message() != nil {
		return guidon.Errorf(guidon.Internal, "%s has no field %q for a path variable", message.Descriptor().FullName(), field)
	}
	parsed, err := parse(desc, value)
	if err != nil {
		return parseError(desc, err)
	}
	message.Set(desc, parsed)
	return nil
}

// parseAll parses the values of one parameter. Only a list may have more than one.
func parseAll(m protoreflect.Message, desc protoreflect.FieldDescriptor, values []string) (protoreflect.Value, error) {
	if desc.IsMap() {
		return protoreflect.Value{}, parseError(desc, errors.New("a map is not supported here"))
	}
	if len(values) > 1 && !desc.IsList() {
		return protoreflect.Value{}, guidon.Errorf(guidon.InvalidArgument, "too many values for field %q: %s",
			desc.Name(), shorten(strings.Join(values, ", ")))
	}
	result := m.NewField(desc)
	for _, text := range values {
		value, err := parse(desc, text)
		if err != nil {
			return protoreflect.Value{}, parseError(desc, err)
		}
		if desc.IsList() {
			result.List().Append(value)
		} else {
			result = value
		}
	}
	return result, nil
}

// withSeconds returns the time with seconds, which links that people write often lack.
func withSeconds(text string) string {
	const minuteEnd = len("2006-01-02T15:04")
	if len(text) <= minuteEnd || text[minuteEnd] == ':' {
		return text
	}
	return text[:minuteEnd] + ":00" + text[minuteEnd:]
}

// parse parses a parameter or path variable as one value.
func parse(desc protoreflect.FieldDescriptor, text string) (protoreflect.Value, error) {
	switch kind := desc.Kind(); kind {
	case protoreflect.StringKind:
		if !utf8.ValidString(text) {
			return protoreflect.Value{}, errors.New("not valid UTF-8")
		}
		return protoreflect.ValueOfString(text), nil
	case protoreflect.BoolKind:
		b, err := strconv.ParseBool(text)
		return protoreflect.ValueOfBool(b), err
	case protoreflect.EnumKind:
		return parseEnum(desc.Enum(), text)
	case protoreflect.Int32Kind:
		n, err := strconv.ParseInt(text, 10, 32)
		return protoreflect.ValueOfInt32(int32(n)), err // #nosec G115 -- parsed as 32 bits
	case protoreflect.Int64Kind:
		n, err := strconv.ParseInt(text, 10, 64)
		return protoreflect.ValueOfInt64(n), err
	case protoreflect.MessageKind:
		if planOf(desc.Message()).shape == timestamp {
			at, err := jsontext.ParseTime([]byte(withSeconds(text)))
			if err != nil {
				return protoreflect.Value{}, fmt.Errorf("%q is not an RFC 3339 time", shorten(text))
			}
			return protoreflect.ValueOfMessage(timestamppb.New(at).ProtoReflect()), nil
		}
	}
	return protoreflect.Value{}, fmt.Errorf("a %s is not supported here", desc.Kind())
}

// parseEnum is stricter about numbers than the decoding of bodies: in a filter, a number
// without a name can only be a mistake.
func parseEnum(desc protoreflect.EnumDescriptor, text string) (protoreflect.Value, error) {
	value := desc.Values().ByName(protoreflect.Name(text))
	if value == nil {
		if n, err := strconv.ParseInt(text, 10, 32); err == nil {
			value = desc.Values().ByNumber(protoreflect.EnumNumber(n)) // #nosec G115 -- parsed as 32 bits
		}
	}
	if value == nil {
		return protoreflect.Value{}, fmt.Errorf("%q is not a valid value", shorten(text))
	}
	return protoreflect.ValueOfEnum(value.Number()), nil
}

func parseError(desc protoreflect.FieldDescriptor, err error) error {
	if n, ok := errors.AsType[*strconv.NumError](err); ok {
		n.Num = shorten(n.Num)
	}
	return guidon.Errorf(guidon.InvalidArgument, "parsing field %q: %s", desc.Name(), err)
}

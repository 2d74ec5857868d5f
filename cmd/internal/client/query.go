package client

import (
	"net/url"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/guidonhq/guidon"
)

// fillPath replaces the {variables} of the pattern with fields of the message, and
// returns the names of these fields. An empty namespace means the default one. Any other
// empty value, or one with a slash, is an error: the path would map to another operation.
func fillPath(pattern string, message proto.Message) (path string, used map[protoreflect.Name]bool, err error) {
	used = make(map[protoreflect.Name]bool)
	segments := strings.Split(pattern, "/")
	for i, segment := range segments {
		name, ok := strings.CutPrefix(segment, "{")
		if !ok {
			continue
		}
		field := protoreflect.Name(strings.TrimSuffix(name, "}"))
		descriptor := message.ProtoReflect().Descriptor().Fields().ByName(field)
		value := message.ProtoReflect().Get(descriptor).String()
		if value == "" && field == "namespace_key" {
			value = guidon.DefaultNamespace
		}
		switch {
		case value == "":
			return "", nil, guidon.Errorf(guidon.InvalidArgument, "invalid field %s: must not be empty", descriptor.JSONName())
		case strings.Contains(value, "/"): // the service splits paths after decoding them (contract 1.5)
			return "", nil, guidon.Errorf(guidon.InvalidArgument, "invalid field %s: contains invalid characters", descriptor.JSONName())
		}
		segments[i] = url.PathEscape(value)
		used[field] = true
	}
	return strings.Join(segments, "/"), used, nil
}

// encodeQuery returns a query with the fields that are set and not in the path. Requests
// without a body have only scalar fields, lists of them, and timestamps.
func encodeQuery(message proto.Message, inPath map[protoreflect.Name]bool) string {
	values := make(url.Values)
	message.ProtoReflect().Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case inPath[field.Name()] || field.IsMap():
		case field.IsList():
			for i := range value.List().Len() {
				values.Add(field.JSONName(), queryText(field, value.List().Get(i)))
			}
		default:
			values.Set(field.JSONName(), queryText(field, value))
		}
		return true
	})
	return values.Encode()
}

func queryText(field protoreflect.FieldDescriptor, value protoreflect.Value) string {
	switch field.Kind() {
	case protoreflect.EnumKind:
		if known := field.Enum().Values().ByNumber(value.Enum()); known != nil {
			return string(known.Name())
		}
	case protoreflect.MessageKind:
		if at, ok := value.Message().Interface().(*timestamppb.Timestamp); ok {
			return at.AsTime().Format(time.RFC3339Nano)
		}
	}
	return value.String()
}

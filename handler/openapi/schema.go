package openapi

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/guidonhq/guidon/handler/codec"
)

// firstAddition is the number from which fields are omitted from responses if unset, as
// in package codec.
const firstAddition = 1000

// isSpecial reports whether the JSON of a message is not an object of its fields.
func isSpecial(message protoreflect.MessageDescriptor) bool {
	return message.ParentFile().Package() == "google.protobuf" || message.ParentFile().Package() == "google.api"
}

// refer returns a reference to the schema of a message or enum, and adds the schema to
// those that all returns.
func (s *schemas) refer(name protoreflect.FullName, describe func() object) object {
	if _, ok := s.byName[name]; !ok {
		s.byName[name] = nil // it may refer to itself
		s.byName[name] = describe()
	}
	return object{{"$ref", "#/components/schemas/" + string(name)}}
}

// message returns the schema of a message, as a reference unless it is special.
func (s *schemas) message(message protoreflect.MessageDescriptor) object {
	switch message.FullName() {
	case "google.protobuf.Timestamp":
		return object{{"type", "string"}, {"format", "date-time"}}
	case "google.protobuf.Value":
		return object{}
	case "google.protobuf.ListValue":
		return object{{"type", "array"}, {"items", object{}}}
	}
	if isSpecial(message) { // Empty, Struct, HttpBody: any object
		return object{{"type", "object"}}
	}
	return s.refer(message.FullName(), func() object { return s.properties(message) })
}

// properties returns the schema of a message. In a response all fields that cannot be
// unset are required (contract 1.3), in a request none are. A message used in both is
// treated like a request.
func (s *schemas) properties(message protoreflect.MessageDescriptor) object {
	var properties object
	var required []any
	for i := range message.Fields().Len() {
		field := message.Fields().Get(i)
		properties = properties.with(field.JSONName(), s.field(field))
		if !field.HasPresence() && field.Number() < firstAddition {
			required = append(required, field.JSONName())
		}
	}
	schema := object{{"type", "object"}}
	if note := oneofs(message); note != "" {
		schema = schema.with("description", note)
	}
	schema = schema.with("properties", properties)
	if len(required) > 0 && !s.request[message.FullName()] {
		schema = schema.with("required", required)
	}
	return schema
}

// oneofs describes which fields exclude one another.
func oneofs(message protoreflect.MessageDescriptor) string {
	var notes []string
	for i := range message.Oneofs().Len() {
		oneof := message.Oneofs().Get(i)
		if oneof.IsSynthetic() {
			continue
		}
		var names []string
		for j := range oneof.Fields().Len() {
			names = append(names, oneof.Fields().Get(j).JSONName())
		}
		notes = append(notes, fmt.Sprintf("Has at most one of %s; if a request has several, the last in this list counts.", strings.Join(names, ", ")))
	}
	return strings.Join(notes, " ")
}

// field returns the schema of the value of a field.
func (s *schemas) field(field protoreflect.FieldDescriptor) object {
	var schema object
	switch {
	case codec.IsContext(field):
		schema = object{{"type", "object"}, {"additionalProperties", object{}}}
	case field.IsMap():
		schema = object{{"type", "object"}, {"additionalProperties", s.single(field.MapValue())}}
	case field.IsList():
		schema = object{{"type", "array"}, {"items", s.single(field)}}
	default:
		schema = s.single(field)
	}
	if isDeprecated(field) {
		schema = schema.with("deprecated", true)
	}
	return schema
}

func (s *schemas) single(field protoreflect.FieldDescriptor) object {
	switch kind := field.Kind(); kind {
	case protoreflect.StringKind:
		return object{{"type", "string"}}
	case protoreflect.BoolKind:
		return object{{"type", "boolean"}}
	case protoreflect.BytesKind:
		return object{{"type", "string"}, {"contentEncoding", "base64"}}
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		return object{{"type", "number"}, {"format", kind.String()}}
	case protoreflect.EnumKind:
		return s.enum(field.Enum())
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return s.message(field.Message())
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return object{{"type", "integer"}, {"format", "int64"}}
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return object{{"type", "integer"}, {"format", "int32"}}
	default: // unsigned integers
		return object{{"type", "integer"}, {"minimum", 0}}
	}
}

func (s *schemas) enum(enum protoreflect.EnumDescriptor) object {
	return s.refer(enum.FullName(), func() object {
		var names []any
		for i := range enum.Values().Len() {
			names = append(names, string(enum.Values().Get(i).Name()))
		}
		return object{{"type", "string"}, {"enum", names}}
	})
}

func isDeprecated(field protoreflect.FieldDescriptor) bool {
	options, ok := field.Options().(*descriptorpb.FieldOptions)
	return ok && options.GetDeprecated()
}

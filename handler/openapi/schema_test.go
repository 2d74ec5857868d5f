package openapi

import (
	"fmt"
	"slices"
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
func (s *schemas) refer(d protoreflect.Descriptor, describe func() object) object {
	name := schemaName(d)
	if owner, ok := s.owners[name]; ok && owner != d.FullName() {
		s.problem("%s and %s have the same name", owner, d.FullName())
	}
	if _, ok := s.byName[name]; !ok {
		s.byName[name], s.owners[name] = nil, d.FullName() // it may refer to itself
		s.byName[name] = describe()
	}
	return schemaRef(name)
}

// anyObject is the schema of an object with any members.
func anyObject() object { return object{{"type", "object"}, {"additionalProperties", true}} }

// record is the schema of an object with the properties, some of which are required.
func record(description string, properties object, required ...any) object {
	schema := object{{"type", "object"}, {"description", description}, {"properties", properties}}
	if len(required) > 0 {
		schema = schema.with("required", required)
	}
	return schema
}

// message returns the schema of a message, as a reference unless it is special.
func (s *schemas) message(message protoreflect.MessageDescriptor) object {
	switch message.FullName() {
	case "google.protobuf.Timestamp":
		return object{{"type", "string"}, {"format", "date-time"}}
	case "google.protobuf.Duration":
		return object{{"type", "string"}, {"examples", []any{"259200s"}}}
	case "google.protobuf.Value":
		return object{}
	case "google.protobuf.ListValue":
		return object{{"type", "array"}, {"items", object{}}}
	case "google.protobuf.Empty":
		return object{{"type", "object"}, {"description", "An empty object."}}
	}
	if isSpecial(message) { // Struct, HttpBody
		return anyObject()
	}
	return s.refer(message, func() object { return s.properties(message) })
}

// properties returns the schema of a message. In a response all fields that cannot be
// unset are required (contract 1.3), in a request those without which it fails. A message
// used in both is treated like a request.
func (s *schemas) properties(message protoreflect.MessageDescriptor) object {
	var properties object
	for i := range message.Fields().Len() {
		field := message.Fields().Get(i)
		properties = properties.with(field.JSONName(), s.field(field))
	}
	return record(strings.TrimSpace(s.describeType(message)+" "+oneofs(message)), properties, s.required(message)...)
}

// required returns the names of the required properties of a message.
func (s *schemas) required(message protoreflect.MessageDescriptor) []any {
	var required []any
	for i := range message.Fields().Len() {
		field := message.Fields().Get(i)
		must := !field.HasPresence() && field.Number() < firstAddition
		if s.request[message.FullName()] {
			must = slices.Contains(requiredFields[message.FullName()], field.Name())
		}
		if must {
			required = append(required, field.JSONName())
		}
	}
	return required
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

// field returns the described schema of the value of a field.
func (s *schemas) field(field protoreflect.FieldDescriptor) object {
	var schema object
	switch {
	case codec.IsContext(field):
		schema = anyObject()
	case field.IsMap():
		schema = object{{"type", "object"}, {"additionalProperties", s.single(field.MapValue())}}
	case field.IsList():
		schema = object{{"type", "array"}, {"items", s.single(field)}}
	default:
		schema = s.single(field)
	}
	schema = schema.with("description", s.describe(field))
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

// enum returns a reference to the schema of an enum. Its values are described in its
// description, and named for generated clients without what they have in common.
func (s *schemas) enum(enum protoreflect.EnumDescriptor) object {
	return s.refer(enum, func() object {
		var values, names []any
		var text strings.Builder
		text.WriteString(s.describeType(enum) + "\n")
		for i := range enum.Values().Len() {
			value := enum.Values().Get(i)
			values = append(values, string(value.Name()))
			names = append(names, valueName(enum, value))
			fmt.Fprintf(&text, "\n- `%s`: %s", value.Name(), s.describe(value))
		}
		return object{{"type", "string"}, {"description", text.String()}, {"enum", values}, {"x-enum-varnames", names}}
	})
}

// valueName returns the name of a value without the words of the enum, in CamelCase:
// "Boolean" for BOOLEAN_FLAG_TYPE.
func valueName(enum protoreflect.EnumDescriptor, value protoreflect.EnumValueDescriptor) string {
	words := strings.Split(string(value.Name()), "_")
	if words[0] == "METHOD" {
		words = words[1:]
	}
	others := strings.ToUpper(string(enum.Name()))
	for len(words) > 1 && strings.HasSuffix(others, words[len(words)-1]) {
		others = strings.TrimSuffix(others, words[len(words)-1])
		words = words[:len(words)-1]
	}
	var name strings.Builder
	for _, word := range words {
		name.WriteString(word[:1] + strings.ToLower(word[1:]))
	}
	return name.String()
}

// describe returns the description of a field or value, and describeType that of a message or
// enum. Each must have a comment.
func (s *schemas) describe(d protoreflect.Descriptor) string {
	name := d.FullName()
	if _, is := d.(protoreflect.EnumValueDescriptor); is {
		name = d.Parent().FullName().Append(d.Name())
	}
	text := s.comments.of(name)
	if text == "" {
		s.problem("%s has no comment", name)
	}
	return text
}

func (s *schemas) describeType(d protoreflect.Descriptor) string {
	text := s.comments.ofType(d)
	if text == "" {
		s.problem("%s has no comment", d.FullName())
	}
	return text
}

// problem records that the document cannot be made.
func (s *schemas) problem(format string, args ...any) {
	s.problems = append(s.problems, fmt.Errorf(format, args...))
}

func isDeprecated(field protoreflect.FieldDescriptor) bool {
	options, ok := field.Options().(*descriptorpb.FieldOptions)
	return ok && options.GetDeprecated()
}

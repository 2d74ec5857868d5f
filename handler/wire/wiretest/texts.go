// Package wiretest finds all places in the messages of the API where a caller can put a
// string, for tests that try invalid strings in each of them.
package wiretest

import (
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Text is a place in a message that holds a string.
type Text struct {
	Path string // as in error messages
	// Field is the top-level field of the message that contains the place.
	Field protoreflect.FieldDescriptor
	set   func(m protoreflect.Message, text string)
}

// Set sets the string in m to text, and creates the messages, lists and maps that
// contain it.
func (t Text) Set(m proto.Message, text string) { t.set(m.ProtoReflect(), text) }

// maxDepth limits the nesting of messages, because those of JSON values are recursive.
const maxDepth = 5

// Texts returns all places in messages of the type of m.
func Texts(m proto.Message) []Text { return textsIn(m.ProtoReflect().Descriptor(), 0) }

func textsIn(d protoreflect.MessageDescriptor, depth int) []Text {
	if depth == maxDepth {
		return nil
	}
	var all []Text
	for i := range d.Fields().Len() {
		field := d.Fields().Get(i)
		for _, text := range textsOf(field, depth) {
			text.Field = field
			if d.FullName() != "google.protobuf.Struct" {
				text.Path = field.JSONName() + text.Path
			}
			all = append(all, text)
		}
	}
	return all
}

// textsOf returns the places in the field, with paths relative to it.
func textsOf(field protoreflect.FieldDescriptor, depth int) []Text {
	switch {
	case field.IsMap():
		return textsOfMap(field, depth)
	case field.Kind() == protoreflect.StringKind && field.IsList():
		return []Text{{Path: "[0]", set: func(m protoreflect.Message, text string) {
			m.Mutable(field).List().Append(protoreflect.ValueOfString(text))
		}}}
	case field.Kind() == protoreflect.StringKind:
		return []Text{{set: func(m protoreflect.Message, text string) {
			m.Set(field, protoreflect.ValueOfString(text))
		}}}
	case field.Kind() != protoreflect.MessageKind:
		return nil
	}
	return within(field.Message(), depth, func(path string) string {
		switch {
		case field.Message().FullName() == "google.protobuf.Struct":
			return ""
		case field.IsList():
			return "[0]." + path
		}
		return "." + path
	}, func(m protoreflect.Message) protoreflect.Message {
		if field.IsList() {
			return m.Mutable(field).List().AppendMutable().Message()
		}
		return m.Mutable(field).Message()
	})
}

func textsOfMap(field protoreflect.FieldDescriptor, depth int) []Text {
	value := field.MapValue()
	all := []Text{{set: func(m protoreflect.Message, text string) {
		entries := m.Mutable(field).Map()
		entries.Set(protoreflect.ValueOfString(text).MapKey(), entries.NewValue())
	}}}
	key := protoreflect.ValueOfString("key").MapKey()
	switch value.Kind() {
	case protoreflect.StringKind:
		return append(all, Text{set: func(m protoreflect.Message, text string) {
			m.Mutable(field).Map().Set(key, protoreflect.ValueOfString(text))
		}})
	case protoreflect.MessageKind:
		return append(all, within(value.Message(), depth, func(path string) string { return "." + path },
			func(m protoreflect.Message) protoreflect.Message {
				return m.Mutable(field).Map().Mutable(key).Message()
			})...)
	}
	panic(fmt.Sprintf("wiretest: a map of %v", value.Kind()))
}

// within returns the places in an inner message, which open creates.
func within(
	d protoreflect.MessageDescriptor, depth int, path func(inner string) string,
	open func(m protoreflect.Message) protoreflect.Message,
) []Text {
	inner := textsIn(d, depth+1)
	for i, text := range inner {
		inner[i].Path = path(text.Path)
		inner[i].set = func(m protoreflect.Message, value string) { text.set(open(m), value) }
	}
	return inner
}

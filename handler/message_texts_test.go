package handler_test

import (
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// messageText is a place in a message that holds a string.
type messageText struct {
	path string // as in error messages
	// field is the top-level field of the message that contains the place.
	field protoreflect.FieldDescriptor
	set   func(m protoreflect.Message, text string)
}

// put sets the string in m to text, and creates the messages, lists and maps that
// contain it.
func (t messageText) put(m proto.Message, text string) { t.set(m.ProtoReflect(), text) }

// maxTextDepth limits the nesting of messages, because those of JSON values are recursive.
const maxTextDepth = 5

// textsOfMessage returns all places in messages of the type of m.
func textsOfMessage(m proto.Message) []messageText { return textsIn(m.ProtoReflect().Descriptor(), 0) }

func textsIn(d protoreflect.MessageDescriptor, depth int) []messageText {
	if depth == maxTextDepth {
		return nil
	}
	var all []messageText
	for i := range d.Fields().Len() {
		field := d.Fields().Get(i)
		for _, text := range textsOf(field, depth) {
			text.field = field
			if d.FullName() != "google.protobuf.Struct" {
				text.path = field.JSONName() + text.path
			}
			all = append(all, text)
		}
	}
	return all
}

// textsOf returns the places in the field, with paths relative to it.
func textsOf(field protoreflect.FieldDescriptor, depth int) []messageText {
	switch {
	case field.IsMap():
		return textsOfMap(field, depth)
	case field.Kind() == protoreflect.StringKind && field.IsList():
		return []messageText{{path: "[0]", set: func(m protoreflect.Message, text string) {
			m.Mutable(field).List().Append(protoreflect.ValueOfString(text))
		}}}
	case field.Kind() == protoreflect.StringKind:
		return []messageText{{set: func(m protoreflect.Message, text string) {
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

func textsOfMap(field protoreflect.FieldDescriptor, depth int) []messageText {
	value := field.MapValue()
	all := []messageText{{set: func(m protoreflect.Message, text string) {
		entries := m.Mutable(field).Map()
		entries.Set(protoreflect.ValueOfString(text).MapKey(), entries.NewValue())
	}}}
	key := protoreflect.ValueOfString("key").MapKey()
	switch value.Kind() {
	case protoreflect.StringKind:
		return append(all, messageText{set: func(m protoreflect.Message, text string) {
			m.Mutable(field).Map().Set(key, protoreflect.ValueOfString(text))
		}})
	case protoreflect.MessageKind:
		return append(all, within(value.Message(), depth, func(path string) string { return "." + path },
			func(m protoreflect.Message) protoreflect.Message {
				return m.Mutable(field).Map().Mutable(key).Message()
			})...)
	}
	panic(fmt.Sprintf("a map of %v", value.Kind()))
}

// within returns the places in an inner message, which open creates.
func within(
	d protoreflect.MessageDescriptor, depth int, path func(inner string) string,
	open func(m protoreflect.Message) protoreflect.Message,
) []messageText {
	inner := textsIn(d, depth+1)
	for i, text := range inner {
		inner[i].path = path(text.path)
		inner[i].set = func(m protoreflect.Message, value string) { text.set(open(m), value) }
	}
	return inner
}

// setNamespace sets the namespace of a request, or of the only item of a batch. It does nothing
// if the request has none.
func setNamespace(m protoreflect.Message, namespace string) {
	fields := m.Descriptor().Fields()
	if items := fields.ByName("requests"); items != nil {
		setNamespace(m.Mutable(items).List().AppendMutable().Message(), namespace)
	}
	for _, name := range []protoreflect.Name{"namespace_key", "key"} {
		if field := fields.ByName(name); field != nil {
			m.Set(field, protoreflect.ValueOfString(namespace))
			return
		}
	}
}

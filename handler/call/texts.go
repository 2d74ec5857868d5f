package call

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/guidonhq/guidon"
)

// checkTexts returns an error if any string in the message, at any depth, contains a NUL
// character or is not valid UTF-8: some databases cannot store such a string, and others
// would find something else by it. It is the only check for all operations except those
// that evaluate, which store nothing and find nothing by such a key.
func checkTexts(m proto.Message) error {
	if m == nil {
		return nil
	}
	bad := badTextIn(m.ProtoReflect())
	if bad == nil {
		return nil
	}
	return guidon.Errorf(guidon.InvalidArgument, "invalid field %s: %s", strings.TrimPrefix(bad.path, "."), bad.rule)
}

// badText is a rejected string. Its path is built only while returning from the
// recursion, because nearly all messages have none.
type badText struct{ path, rule string }

// under prefixes the path with outer. It may be called on nil.
func (b *badText) under(outer string) *badText {
	if b != nil {
		b.path = outer + b.path
	}
	return b
}

// badTextIn returns the first rejected string of the message, or nil if there is none.
func badTextIn(m protoreflect.Message) (bad *badText) {
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.IsList():
			bad = badTextOfList(field, value.List())
		case field.IsMap():
			bad = badTextOfMap(field, value.Map())
		default:
			bad = badTextOf(field, value)
		}
		bad = bad.under("." + field.JSONName())
		return bad == nil
	})
	if bad != nil && m.Descriptor().FullName() == "google.protobuf.Struct" {
		bad.path = "" // in JSON the field names of Struct do not appear
	}
	return bad
}

func badTextOfList(field protoreflect.FieldDescriptor, list protoreflect.List) *badText {
	for i := range list.Len() {
		if bad := badTextOf(field, list.Get(i)); bad != nil {
			return bad.under(fmt.Sprintf("[%d]", i))
		}
	}
	return nil
}

func badTextOfMap(field protoreflect.FieldDescriptor, entries protoreflect.Map) (bad *badText) {
	entries.Range(func(key protoreflect.MapKey, value protoreflect.Value) bool {
		if bad = badTextOf(field.MapKey(), key.Value()); bad == nil {
			bad = badTextOf(field.MapValue(), value)
		}
		return bad == nil
	})
	return bad
}

// badTextOf returns the first rejected string of one value of the field, or nil.
func badTextOf(field protoreflect.FieldDescriptor, value protoreflect.Value) *badText {
	switch field.Kind() {
	case protoreflect.StringKind:
		return badTextIs(value.String())
	case protoreflect.MessageKind:
		return badTextIn(value.Message())
	}
	return nil
}

func badTextIs(text string) *badText {
	switch {
	case strings.IndexByte(text, 0) >= 0:
		return &badText{rule: "must not contain a NUL character"}
	case !utf8.ValidString(text):
		return &badText{rule: "must be valid UTF-8"}
	}
	return nil
}

package call

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/guidonhq/guidon"
)

// checkMessage returns an error if any string in the message, at any depth, contains a NUL
// character or is not valid UTF-8: some databases cannot store such a string, and others
// would find something else by it. It is the only check for all operations except those
// that evaluate, which store nothing and find nothing by such a key. With strict, it also
// returns an error for fields that the message does not have, which only gRPC sends.
func checkMessage(m proto.Message, strict bool) error {
	return messageCheck{strict: strict}.check(m)
}

// CheckUTF8 is the part of the check about UTF-8, for clients: JSON has replacements for what is not, so the service
// would get another text.
func CheckUTF8(m proto.Message) error { return messageCheck{nul: true}.check(m) }

// messageCheck checks the fields of messages.
type messageCheck struct {
	strict bool
	nul    bool // texts may have NUL characters
}

func (c messageCheck) check(m proto.Message) error {
	if m == nil {
		return nil
	}
	bad := c.message(m.ProtoReflect())
	if bad == nil {
		return nil
	}
	return guidon.Errorf(guidon.InvalidArgument, "invalid field %s: %s", strings.TrimPrefix(bad.path, "."), bad.rule)
}

// badText is a rejected string, or an unknown field. Its path is built only while returning from the
// recursion, because nearly all messages have none.
type badText struct{ path, rule string }

// under prefixes the path with outer. It may be called on nil.
func (b *badText) under(outer string) *badText {
	if b != nil {
		b.path = outer + b.path
	}
	return b
}

// message returns the first invalid string or field of the message, or nil if there is none.
func (c messageCheck) message(m protoreflect.Message) (bad *badText) {
	if c.strict && len(m.GetUnknown()) > 0 {
		number, _, _ := protowire.ConsumeTag(m.GetUnknown())
		return &badText{path: fmt.Sprintf(".%d", number), rule: "is not known"}
	}
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.IsList():
			bad = c.list(field, value.List())
		case field.IsMap():
			bad = c.entries(field, value.Map())
		default:
			bad = c.value(field, value)
		}
		bad = bad.under("." + field.JSONName())
		return bad == nil
	})
	if bad != nil && m.Descriptor().FullName() == "google.protobuf.Struct" {
		bad.path = "" // in JSON the field names of Struct do not appear
	}
	return bad
}

func (c messageCheck) list(field protoreflect.FieldDescriptor, list protoreflect.List) *badText {
	for i := range list.Len() {
		if bad := c.value(field, list.Get(i)); bad != nil {
			return bad.under(fmt.Sprintf("[%d]", i))
		}
	}
	return nil
}

func (c messageCheck) entries(field protoreflect.FieldDescriptor, entries protoreflect.Map) (bad *badText) {
	entries.Range(func(key protoreflect.MapKey, value protoreflect.Value) bool {
		if bad = c.value(field.MapKey(), key.Value()); bad == nil {
			bad = c.value(field.MapValue(), value)
		}
		return bad == nil
	})
	return bad
}

// value returns the first invalid string or field within one value of the field, or nil.
func (c messageCheck) value(field protoreflect.FieldDescriptor, value protoreflect.Value) *badText {
	switch field.Kind() {
	case protoreflect.StringKind:
		return c.text(value.String())
	case protoreflect.MessageKind:
		return c.message(value.Message())
	}
	return nil
}

func (c messageCheck) text(text string) *badText {
	switch {
	case !c.nul && strings.IndexByte(text, 0) >= 0:
		return &badText{rule: "must not contain a NUL character"}
	case !utf8.ValidString(text):
		return &badText{rule: "must be valid UTF-8"}
	}
	return nil
}

package codec_test

import (
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	_ "github.com/guidonhq/guidon/handler/wire/analytics"
	_ "github.com/guidonhq/guidon/handler/wire/auth"
	_ "github.com/guidonhq/guidon/handler/wire/evaluation"
	_ "github.com/guidonhq/guidon/handler/wire/flipt"
	_ "github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// wireMessages returns an empty message of every type of package wire that can
// be JSON, sorted by name.
func wireMessages(t testing.TB) []proto.Message {
	t.Helper()
	var all []proto.Message
	protoregistry.GlobalTypes.RangeMessages(func(kind protoreflect.MessageType) bool {
		name := kind.Descriptor().FullName()
		file := kind.Descriptor().ParentFile().Package()
		if (file == "flipt" || file.Parent() == "flipt" || file.Parent() == "guidon") && !kind.Descriptor().IsMapEntry() {
			all = append(all, kind.New().Interface())
		} else if name == "google.protobuf.Struct" {
			all = append(all, kind.New().Interface())
		}
		return true
	})
	slices.SortFunc(all, func(a, b proto.Message) int {
		if proto.MessageName(a) < proto.MessageName(b) {
			return -1
		}
		return 1
	})
	if len(all) < 80 {
		t.Fatalf("found only %d messages", len(all))
	}
	return all
}

// TestShapes checks that the messages of package wire use only types that the codec
// supports.
func TestShapes(t *testing.T) {
	served := []protoreflect.FullName{
		"google.protobuf.Timestamp", "google.protobuf.Duration", "google.protobuf.Struct", "google.protobuf.Value",
		"google.protobuf.ListValue", "google.protobuf.Empty",
	}
	kinds := []protoreflect.Kind{
		protoreflect.StringKind, protoreflect.BoolKind, protoreflect.EnumKind, protoreflect.MessageKind,
		protoreflect.Int32Kind, protoreflect.Int64Kind, protoreflect.FloatKind, protoreflect.DoubleKind,
	}
	for _, m := range wireMessages(t) {
		if m.ProtoReflect().Descriptor().ParentFile().Package() == "google.protobuf" {
			continue
		}
		fields := m.ProtoReflect().Descriptor().Fields()
		if fields.Len() > 64 {
			t.Errorf("%s has %d fields, more than the codec supports", proto.MessageName(m), fields.Len())
		}
		for i := range fields.Len() {
			field := fields.Get(i)
			if message := field.Message(); message != nil && message.ParentFile().Package() == "google.protobuf" && !slices.Contains(served, message.FullName()) {
				t.Errorf("%s is a %s, which the codec does not support", field.FullName(), message.FullName())
			}
			if !slices.Contains(kinds, field.Kind()) {
				t.Errorf("%s is a %s, which the codec does not support", field.FullName(), field.Kind())
			}
			if field.IsMap() && (field.MapKey().Kind() != protoreflect.StringKind || field.MapValue().Kind() != protoreflect.StringKind) {
				t.Errorf("%s is not a map from strings to strings", field.FullName())
			}
		}
	}
}

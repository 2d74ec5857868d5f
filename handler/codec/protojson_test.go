package codec_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/guidonhq/guidon/handler/codec"
)

// TestAgreesWithProtojson checks for random messages that this package and protojson
// decode what the other encodes. (They decode differently where contract 1.2 requires
// it, but neither encodes such input.)
func TestAgreesWithProtojson(t *testing.T) {
	writers := map[string]func(proto.Message) ([]byte, error){
		"protojson":               protojson.Marshal,
		"protojson with zeros":    protojson.MarshalOptions{EmitUnpopulated: true}.Marshal,
		"protojson in snake_case": protojson.MarshalOptions{UseProtoNames: true, UseEnumNumbers: true, Multiline: true}.Marshal,
		"codec":                   codec.Marshal,
		"codec, pretty":           codec.MarshalPretty,
	}
	readers := map[string]func([]byte, proto.Message) error{
		"protojson": protojson.Unmarshal,
		"codec": func(body []byte, m proto.Message) error {
			return codec.Unmarshal(body, m, 100_000)
		},
	}
	for i, kind := range wireMessages(t) {
		t.Run(string(proto.MessageName(kind)), func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, uint64(i)))
			for range 20 {
				want := kind.ProtoReflect().New()
				fill(random, want, 0)
				for writer, write := range writers {
					body, err := write(want.Interface())
					if err != nil {
						t.Fatalf("%s: %v", writer, err)
					}
					for reader, read := range readers {
						got := want.New().Interface()
						if err := read(body, got); err != nil {
							t.Fatalf("%s does not read what %s wrote: %v\n%s", reader, writer, err, body)
						}
						if !proto.Equal(got, want.Interface()) {
							t.Fatalf("%s does not read the message that %s wrote:\n%s\n got %v\nwant %v", reader, writer, body, got, want)
						}
					}
				}
			}
		})
	}
}

// maxDepth limits messages within messages, some of which have others of their own type.
const maxDepth = 6

// fill sets about two thirds of the fields to random values.
func fill(random *rand.Rand, m protoreflect.Message, depth int) {
	switch special := m.Interface().(type) {
	case *timestamppb.Timestamp:
		digits := []int32{0, 120_000_000, 123_456_000, 123_456_789}
		special.Seconds, special.Nanos = random.Int64N(4e9)-2e9, digits[random.IntN(len(digits))]
		return
	case *durationpb.Duration:
		unit := []time.Duration{1, time.Microsecond, time.Millisecond, time.Second}[random.IntN(4)]
		proto.Merge(special, durationpb.New(time.Duration(random.Int64N(2e9)-1e9)*unit))
		return
	case *structpb.Struct:
		special.Fields = map[string]*structpb.Value{}
		for range random.IntN(4) {
			special.Fields[randomText(random)] = randomValue(random, depth)
		}
		return
	case *structpb.Value:
		proto.Merge(special, randomValue(random, depth))
		return
	}
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		if !isValue(field) && (random.IntN(3) == 0 || depth > maxDepth && field.Message() != nil) {
			continue
		}
		switch {
		case field.IsMap():
			for range random.IntN(4) {
				m.Mutable(field).Map().Set(protoreflect.ValueOfString(randomText(random)).MapKey(), protoreflect.ValueOfString(randomText(random)))
			}
		case field.IsList():
			list := m.Mutable(field).List()
			for range random.IntN(4) {
				list.Append(randomElement(random, field, list.NewElement(), depth))
			}
		default:
			m.Set(field, randomElement(random, field, m.NewField(field), depth))
		}
	}
}

// isValue reports whether the field is a JSON value. For protojson, an unset one is null,
// which is a value too.
func isValue(field protoreflect.FieldDescriptor) bool {
	return field.Message() != nil && field.Message().FullName() == "google.protobuf.Value"
}

func randomElement(random *rand.Rand, field protoreflect.FieldDescriptor, fresh protoreflect.Value, depth int) protoreflect.Value {
	switch field.Kind() {
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(randomText(random))
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(random.IntN(2) == 0)
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(random.IntN(9) - 1)) // some have no name
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(int32(random.Uint32()))
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(int64(random.Uint64()))
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(float32(random.NormFloat64() * 1e10))
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(random.NormFloat64() * 1e-10)
	case protoreflect.MessageKind:
		fill(random, fresh.Message(), depth+1)
		return fresh
	}
	panic(fmt.Sprintf("%s is a %s", field.FullName(), field.Kind()))
}

func randomText(random *rand.Rand) string {
	const alphabet = "ab_Z09 \"\\/<&\x00\x1f\x7f\n\té€\u2028😀\uFFFD"
	runes := []rune(alphabet)
	text := make([]rune, random.IntN(6))
	for i := range text {
		text[i] = runes[random.IntN(len(runes))]
	}
	return string(text)
}

func randomValue(random *rand.Rand, depth int) *structpb.Value {
	kinds := 6
	if depth > 5 {
		kinds = 4
	}
	switch random.IntN(kinds) {
	case 0:
		return structpb.NewNullValue()
	case 1:
		return structpb.NewBoolValue(random.IntN(2) == 0)
	case 2:
		return structpb.NewNumberValue(random.NormFloat64() * 1e5)
	case 3:
		return structpb.NewStringValue(randomText(random))
	case 4:
		list := &structpb.ListValue{}
		for range random.IntN(3) {
			list.Values = append(list.Values, randomValue(random, depth+1))
		}
		return structpb.NewListValue(list)
	}
	object := &structpb.Struct{}
	fill(random, object.ProtoReflect(), depth+1)
	return structpb.NewStructValue(object)
}

package codec

import "google.golang.org/protobuf/reflect/protoreflect"

// AppendEnum appends an enum as [Marshal] does.
func AppendEnum(b []byte, e protoreflect.Enum) []byte {
	return appendEnum(b, e.Descriptor(), e.Number())
}

package codec

import (
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// The functions below are for the few responses that are written without a message.
// They append what [Marshal] writes for a field with the value.

// AppendString appends a string.
func AppendString(b []byte, s string) []byte { return appendString(b, s) }

// AppendFloat appends a float of 32 bits.
func AppendFloat(b []byte, f float32) []byte { return appendFloat(b, float64(f), 32) }

// AppendEnum appends the number of an enum.
func AppendEnum(b []byte, e protoreflect.Enum) []byte {
	return appendEnum(b, e.Descriptor(), e.Number())
}

// AppendTime appends a timestamp. It returns an error if t is outside the years 1 to
// 9999.
func AppendTime(b []byte, t time.Time) ([]byte, error) {
	b, err := appendTime(append(b, '"'), t.Unix(), int32(t.Nanosecond())) // #nosec G115 -- below 1e9
	return append(b, '"'), err
}

// SizeOfString returns how many bytes [AppendString] appends.
func SizeOfString(s string) int { return sizeOfString(s) }

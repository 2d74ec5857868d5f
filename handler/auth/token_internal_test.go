package auth

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon/handler/codec"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/service"
)

// TestAuthenticationWeight: the weight is never less than the encoded size, in JSON and
// in protobuf.
func TestAuthenticationWeight(t *testing.T) {
	at := time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC)
	for _, text := range []string{"", "a", "\"", "\\", "\n", "\x01", "é", "😀", "<", "\xff"} {
		text = strings.Repeat(text, 40)
		a := &service.Authentication{
			ID: text, Method: service.MethodToken, ExpiresAt: at, CreatedAt: at, UpdatedAt: at,
			Metadata: map[string]string{text: text, "other" + text: text, "": ""},
		}
		m := Message(a)
		encoded, err := codec.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if got, weight := max(len(encoded), proto.Size(m)), convert.Weight[service.Authentication]()(a); got > weight {
			t.Errorf("%q: takes %d bytes, weighs %d", text, got, weight)
		}
	}
}

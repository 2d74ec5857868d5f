package server

import (
	"bytes"
	"runtime"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon/handler/limit"
	"github.com/guidonhq/guidon/handler/wire/auth"
	"github.com/guidonhq/guidon/handler/wire/evaluation"
	"github.com/guidonhq/guidon/handler/wire/flipt"
)

// TestMessageCost decodes the messages that take the most memory for their size, and
// compares the allocated memory with the estimate.
func TestMessageCost(t *testing.T) {
	entries := func(field byte) []byte {
		var b []byte
		for i := range 50_000 {
			b = append(b, field, 8, 0x0a, 4, byte('a'+i%20), byte('a'+i/20%20), byte('a'+i/400%20), byte('a'+i/8000%20), 0x12, 0)
		}
		return b
	}
	for _, test := range []struct {
		name string
		into proto.Message
		data []byte
	}{
		{"context", &evaluation.EvaluationRequest{}, entries(0x2a)},
		{"empty entries", &evaluation.EvaluationRequest{}, bytes.Repeat([]byte("\x2a\x00"), 100_000)},
		{"text", &evaluation.EvaluationRequest{}, append([]byte{0x22, 0xa0, 0x8d, 0x06}, bytes.Repeat([]byte("x"), 100_000)...)},
		{"batch", &evaluation.BatchEvaluationRequest{}, bytes.Repeat([]byte("\x1a\x00"), 1000)},
		{"legacy batch", &flipt.BatchEvaluationRequest{}, bytes.Repeat([]byte("\x12\x00"), 100_000)},
		{"segment keys", &flipt.CreateRuleRequest{}, bytes.Repeat([]byte("\x2a\x00"), 100_000)},
		{"metadata", &flipt.CreateFlagRequest{}, append([]byte{0x3a, 0xc0, 0x9a, 0x0c}, bytes.Repeat([]byte("\x0a\x00"), 100_000)...)},
		{"token metadata", &auth.CreateTokenRequest{}, entries(0x2a)},
		{"unknown fields", &evaluation.EvaluationRequest{}, bytes.Repeat([]byte("\x58\x01"), 100_000)},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := &inbound{message: test.into, layout: layoutOf(test.into), decoded: limit.NewPool(1 << 30).NewReservation()}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := in.decode(t.Context(), test.data, 1_000_000)
			runtime.ReadMemStats(&after)
			if err != nil {
				t.Fatal(err)
			}
			values := in.layout.count(test.data, 1_000_000)
			got, want := int64(after.TotalAlloc-before.TotalAlloc), costOf(len(test.data), values)
			t.Logf("%d bytes, %d values: %d allocated, estimate %d", len(test.data), values, got, want)
			if got > want {
				t.Errorf("decoding %d bytes with %d values allocated %d bytes, more than the estimate %d", len(test.data), values, got, want)
			}
		})
	}
}

package codec_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon/handler/codec"
	"github.com/guidonhq/guidon/handler/wire/auth"
	"github.com/guidonhq/guidon/handler/wire/evaluation"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// repeated returns a body of about 200 kB with the item repeated. # is replaced by the
// number of the item.
func repeated(before, item, after string) []byte {
	var b strings.Builder
	b.WriteString(before)
	for i := range 200_000 / len(item) {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strings.ReplaceAll(item, "#", fmt.Sprint(i)))
	}
	return []byte(b.String() + after)
}

// TestCost decodes the bodies that take the most memory for their size, and compares the
// allocated memory with the estimate.
func TestCost(t *testing.T) {
	for _, test := range []struct {
		name string
		into proto.Message
		body []byte
	}{
		{"context", &evaluation.EvaluationRequest{}, repeated(`{"context":{`, `"#":""`, `}}`)},
		{"context with escapes", &evaluation.EvaluationRequest{}, repeated(`{"context":{`, `"#":"\n"`, `}}`)},
		{"text", &evaluation.EvaluationRequest{}, repeated(`{"context":{`, `"#":"`+strings.Repeat("x", 1000)+`"`, `}}`)},
		{"batch", &evaluation.BatchEvaluationRequest{}, repeated(`{"requests":[`, `{}`, `]}`)},
		{"batch with contexts", &evaluation.BatchEvaluationRequest{}, repeated(`{"requests":[`, `{"context":{"a":"#"}}`, `]}`)},
		{"legacy batch", &flipt.BatchEvaluationRequest{}, repeated(`{"requests":[`, `{}`, `]}`)},
		{"segment keys", &flipt.CreateRuleRequest{}, repeated(`{"segmentKeys":[`, `""`, `]}`)},
		{"flag metadata, lists", &flipt.CreateFlagRequest{}, repeated(`{"metadata":{"a":[`, `[]`, `]}}`)},
		{"flag metadata, objects", &flipt.CreateFlagRequest{}, repeated(`{"metadata":{"a":[`, `{}`, `]}}`)},
		{"flag metadata, members", &flipt.CreateFlagRequest{}, repeated(`{"metadata":{`, `"#":{"":0}`, `}}`)},
		{"flag metadata, numbers", &flipt.CreateFlagRequest{}, repeated(`{"metadata":{"a":[`, `1`, `]}}`)},
		{"token metadata", &auth.CreateTokenRequest{}, repeated(`{"metadata":{`, `"#":""`, `}}`)},
		{"document", &guidonv1.ImportRequest{}, repeated(`{"document":{"flags":[`, `{}`, `]}}`)},
		{"unknown", &evaluation.EvaluationRequest{}, repeated(`{"x":[`, `{}`, `]}`)},
	} {
		t.Run(test.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if err := codec.Unmarshal(test.body, test.into, 1_000_000); err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			got, want := int64(after.TotalAlloc-before.TotalAlloc), codec.Cost(test.body)
			t.Logf("%d bytes: %d allocated, estimate %d", len(test.body), got, want)
			if got > want {
				t.Errorf("decoding %d bytes allocated %d bytes, more than the estimate %d", len(test.body), got, want)
			}
		})
	}
	for _, body := range [][]byte{repeated(`{"context":{`, `"#":""`, `}}`), repeated(`{"context":{"a":[`, `{}`, `]}}`), repeated(`{"context":{`, `"#":{"a":[1]}`, `}}`)} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _ = codec.UnmarshalContext(body, nil) // may have too many properties
		runtime.ReadMemStats(&after)
		if got, want := int64(after.TotalAlloc-before.TotalAlloc), codec.Cost(body); got > want {
			t.Errorf("OFREP: decoding %d bytes allocated %d bytes, more than the estimate %d", len(body), got, want)
		}
	}
}

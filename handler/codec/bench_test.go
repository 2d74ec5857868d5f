package codec_test

import (
	"encoding/json"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/guidonhq/guidon/bench/floor"
	"github.com/guidonhq/guidon/handler/codec"
	"github.com/guidonhq/guidon/handler/wire/evaluation"
)

// evaluationBody is an evaluation request of some 300 bytes.
const evaluationBody = `{"requestId":"5f1a7c9e-3f0e-4d2b-9a57-0c6b2f1d8e44","namespaceKey":"shop","flagKey":"checkout-button-colour",` +
	`"entityId":"customer-0012345678","context":{"country":"DE","plan":"premium","age":"42","email":"someone@example.com",` +
	`"browser":"firefox","version":"128.0.1","signedUp":"2024-05-06T07:08:09Z"},"reference":""}`

func BenchmarkUnmarshal(b *testing.B) {
	body := []byte(evaluationBody)
	b.Run("codec", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		b.ReportAllocs()
		for b.Loop() {
			if err := codec.Unmarshal(body, &evaluation.EvaluationRequest{}, 100_000); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encoding-json", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		b.ReportAllocs()
		for b.Loop() {
			if err := json.Unmarshal(body, &floor.Evaluation{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("protojson", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		b.ReportAllocs()
		for b.Loop() {
			if err := protojson.Unmarshal(body, &evaluation.EvaluationRequest{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkMarshal(b *testing.B) {
	response := &evaluation.VariantEvaluationResponse{
		Match: true, SegmentKeys: []string{"premium"}, Reason: evaluation.EvaluationReason_MATCH_EVALUATION_REASON,
		VariantKey: "blue", VariantAttachment: `{"hex":"#00f"}`, RequestId: "5f1a7c9e-3f0e-4d2b-9a57-0c6b2f1d8e44",
		RequestDurationMillis: 0.041, Timestamp: created(678901234), FlagKey: "checkout-button-colour",
	}
	b.Run("codec", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := codec.Marshal(response); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("protojson", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := (protojson.MarshalOptions{EmitUnpopulated: true}).Marshal(response); err != nil {
				b.Fatal(err)
			}
		}
	})
}

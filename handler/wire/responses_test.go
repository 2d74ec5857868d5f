package wire_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon/handler/wire/evaluation"
)

// TestResponses fails if a field was added to an evaluation response. Then add it to
// handler/codec/quick/response.go and to runtimes/server/quickgrpc/response.go, which encode
// these messages by hand, and here.
func TestResponses(t *testing.T) {
	for _, test := range []struct {
		response proto.Message
		want     []string // the names of the fields, in order
	}{
		{&evaluation.BooleanEvaluationResponse{}, []string{
			"enabled", "reason", "request_id", "request_duration_millis", "timestamp", "flag_key", "segment_keys",
		}},
		{&evaluation.VariantEvaluationResponse{}, []string{
			"match", "segment_keys", "reason", "variant_key", "variant_attachment",
			"request_id", "request_duration_millis", "timestamp", "flag_key",
		}},
		{&evaluation.BatchEvaluationResponse{}, []string{"request_id", "responses", "request_duration_millis"}},
		{&evaluation.EvaluationResponse{}, []string{"type", "boolean_response", "variant_response", "error_response"}},
		{&evaluation.ErrorEvaluationResponse{}, []string{"flag_key", "namespace_key", "reason"}},
	} {
		fields := test.response.ProtoReflect().Descriptor().Fields()
		var got []string
		for i := range fields.Len() {
			got = append(got, string(fields.Get(i).Name()))
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", proto.MessageName(test.response), diff)
		}
	}
}

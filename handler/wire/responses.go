package wire

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/guidonhq/guidon/handler/wire/evaluation"
)

// KnowsResponses reports whether evaluation responses have only the fields that the
// hand-written encoders in packages codec and server know. If a field was added, these
// leave the responses to the general encoders, so that the field is not lost.
func KnowsResponses() bool { return knowsResponses }

var knowsResponses = hasOnly(&evaluation.BooleanEvaluationResponse{},
	"enabled", "reason", "request_id", "request_duration_millis", "timestamp", "flag_key", "segment_keys") &&
	hasOnly(&evaluation.VariantEvaluationResponse{},
		"match", "segment_keys", "reason", "variant_key", "variant_attachment",
		"request_id", "request_duration_millis", "timestamp", "flag_key") &&
	hasOnly(&evaluation.BatchEvaluationResponse{}, "request_id", "responses", "request_duration_millis") &&
	hasOnly(&evaluation.EvaluationResponse{}, "type", "boolean_response", "variant_response", "error_response") &&
	hasOnly(&evaluation.ErrorEvaluationResponse{}, "flag_key", "namespace_key", "reason")

// hasOnly reports whether the message has these fields, in this order, and no others.
func hasOnly(m proto.Message, names ...protoreflect.Name) bool {
	fields := m.ProtoReflect().Descriptor().Fields()
	if fields.Len() != len(names) {
		return false
	}
	for i, name := range names {
		if fields.Get(i).Name() != name {
			return false
		}
	}
	return true
}

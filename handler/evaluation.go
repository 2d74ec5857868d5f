package handler

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/wire/evaluation"
)

func (h *Handler) evaluateVariant(ctx context.Context, m *evaluation.EvaluationRequest) (*evaluation.VariantEvaluationResponse, error) {
	start := h.now()
	result, err := h.service.EvaluateVariant(ctx, evaluationOf(m))
	end := h.now()
	h.observeVariant(m, result, err, end.Sub(start))
	if err != nil {
		return nil, err
	}
	return wireVariantResult(m.GetFlagKey(), result, told{orNew(m.GetRequestId()), end.Sub(start), timestamppb.New(end)}), nil
}

func (h *Handler) evaluateBoolean(ctx context.Context, m *evaluation.EvaluationRequest) (*evaluation.BooleanEvaluationResponse, error) {
	start := h.now()
	result, err := h.service.EvaluateBoolean(ctx, evaluationOf(m))
	end := h.now()
	h.observeBoolean(m, result, err, end.Sub(start))
	if err != nil {
		return nil, err
	}
	return wireBooleanResult(m.GetFlagKey(), result, told{orNew(m.GetRequestId()), end.Sub(start), timestamppb.New(end)}), nil
}

// evaluateBatch answers item by item, each with its own request id and all with
// the duration and end of the whole (contract 7.7, 7.8).
func (h *Handler) evaluateBatch(ctx context.Context, m *evaluation.BatchEvaluationRequest) (*evaluation.BatchEvaluationResponse, error) {
	start := h.now()
	results, err := h.service.EvaluateBatch(ctx, convertAll(m.GetRequests(), evaluationOf))
	if err != nil {
		return nil, err
	}
	end := h.now()
	duration, at := end.Sub(start), timestamppb.New(end)
	observeBatch(h, m.GetRequests(), results, duration)
	answer := &evaluation.BatchEvaluationResponse{
		RequestId:             orNew(m.GetRequestId()),
		Responses:             make([]*evaluation.EvaluationResponse, len(results)),
		RequestDurationMillis: milliseconds(duration),
	}
	for i, item := range m.GetRequests() {
		answer.Responses[i] = wireEvaluation(item, results[i], told{item.GetRequestId(), duration, at})
	}
	return answer, nil
}

func evaluationOf(m *evaluation.EvaluationRequest) guidon.EvaluationRequest {
	return guidon.EvaluationRequest{
		Namespace: m.GetNamespaceKey(), FlagKey: m.GetFlagKey(), EntityID: m.GetEntityId(), Context: m.GetContext(),
	}
}

// told is what an answer says about the request itself.
type told struct {
	requestID string
	duration  time.Duration
	at        *timestamppb.Timestamp
}

// wireEvaluation returns one answer of a batch. One about a flag that does not
// exist repeats the namespace as it was sent.
func wireEvaluation(m *evaluation.EvaluationRequest, result guidon.Evaluation, t told) *evaluation.EvaluationResponse {
	switch {
	case result.Variant != nil:
		return &evaluation.EvaluationResponse{
			Type:     evaluation.EvaluationResponseType_VARIANT_EVALUATION_RESPONSE_TYPE,
			Response: &evaluation.EvaluationResponse_VariantResponse{VariantResponse: wireVariantResult(m.GetFlagKey(), *result.Variant, t)},
		}
	case result.Boolean != nil:
		return &evaluation.EvaluationResponse{
			Type:     evaluation.EvaluationResponseType_BOOLEAN_EVALUATION_RESPONSE_TYPE,
			Response: &evaluation.EvaluationResponse_BooleanResponse{BooleanResponse: wireBooleanResult(m.GetFlagKey(), *result.Boolean, t)},
		}
	}
	return &evaluation.EvaluationResponse{
		Type: evaluation.EvaluationResponseType_ERROR_EVALUATION_RESPONSE_TYPE,
		Response: &evaluation.EvaluationResponse_ErrorResponse{ErrorResponse: &evaluation.ErrorEvaluationResponse{
			FlagKey: m.GetFlagKey(), NamespaceKey: m.GetNamespaceKey(),
			Reason: evaluation.ErrorEvaluationReason_NOT_FOUND_ERROR_EVALUATION_REASON,
		}},
	}
}

func wireVariantResult(flagKey string, r guidon.VariantResult, t told) *evaluation.VariantEvaluationResponse {
	return &evaluation.VariantEvaluationResponse{
		Match: r.Match, SegmentKeys: r.SegmentKeys, Reason: wireReason(r.Reason),
		VariantKey: r.VariantKey, VariantAttachment: r.Attachment,
		RequestId: t.requestID, RequestDurationMillis: milliseconds(t.duration), Timestamp: t.at, FlagKey: flagKey,
	}
}

func wireBooleanResult(flagKey string, r guidon.BooleanResult, t told) *evaluation.BooleanEvaluationResponse {
	return &evaluation.BooleanEvaluationResponse{
		Enabled: r.Enabled, Reason: wireReason(r.Reason),
		RequestId: t.requestID, RequestDurationMillis: milliseconds(t.duration), Timestamp: t.at,
		FlagKey: flagKey, SegmentKeys: r.SegmentKeys,
	}
}

func wireReason(r guidon.Reason) evaluation.EvaluationReason {
	switch r {
	case guidon.ReasonFlagDisabled:
		return evaluation.EvaluationReason_FLAG_DISABLED_EVALUATION_REASON
	case guidon.ReasonMatch:
		return evaluation.EvaluationReason_MATCH_EVALUATION_REASON
	case guidon.ReasonDefault:
		return evaluation.EvaluationReason_DEFAULT_EVALUATION_REASON
	}
	return evaluation.EvaluationReason_UNKNOWN_EVALUATION_REASON
}

// orNew returns the request id that the client gave in its message, or a new one.
func orNew(requestID string) string {
	if requestID == "" {
		return guidon.NewRequestID()
	}
	return requestID
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

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
	h.observeVariant(m, &result, err, end.Sub(start))
	if err != nil {
		return nil, err
	}
	answer := new(evaluation.VariantEvaluationResponse)
	setVariantResult(answer, m.GetFlagKey(), &result, told{orNew(m.GetRequestId()), end.Sub(start), timestamppb.New(end)})
	return answer, nil
}

func (h *Handler) evaluateBoolean(ctx context.Context, m *evaluation.EvaluationRequest) (*evaluation.BooleanEvaluationResponse, error) {
	start := h.now()
	result, err := h.service.EvaluateBoolean(ctx, evaluationOf(m))
	end := h.now()
	h.observeBoolean(m, &result, err, end.Sub(start))
	if err != nil {
		return nil, err
	}
	answer := new(evaluation.BooleanEvaluationResponse)
	setBooleanResult(answer, m.GetFlagKey(), &result, told{orNew(m.GetRequestId()), end.Sub(start), timestamppb.New(end)})
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

func setVariantResult(m *evaluation.VariantEvaluationResponse, flagKey string, r *guidon.VariantResult, t told) {
	m.Match, m.SegmentKeys, m.Reason = r.Match, r.SegmentKeys, wireReason(r.Reason)
	m.VariantKey, m.VariantAttachment = r.VariantKey, r.Attachment
	m.RequestId, m.RequestDurationMillis, m.Timestamp, m.FlagKey = t.requestID, milliseconds(t.duration), t.at, flagKey
}

func setBooleanResult(m *evaluation.BooleanEvaluationResponse, flagKey string, r *guidon.BooleanResult, t told) {
	m.Enabled, m.Reason = r.Enabled, wireReason(r.Reason)
	m.RequestId, m.RequestDurationMillis, m.Timestamp = t.requestID, milliseconds(t.duration), t.at
	m.FlagKey, m.SegmentKeys = flagKey, r.SegmentKeys
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

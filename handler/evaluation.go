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
	answer := new(evaluation.VariantEvaluationResponse)
	setVariantResult(answer, m.GetFlagKey(), &result, told{orNew(m.GetRequestId()), end.Sub(start), timestamppb.New(end)})
	return answer, nil
}

func (h *Handler) evaluateBoolean(ctx context.Context, m *evaluation.EvaluationRequest) (*evaluation.BooleanEvaluationResponse, error) {
	start := h.now()
	result, err := h.service.EvaluateBoolean(ctx, evaluationOf(m))
	end := h.now()
	h.observeBoolean(m, result, err, end.Sub(start))
	if err != nil {
		return nil, err
	}
	answer := new(evaluation.BooleanEvaluationResponse)
	setBooleanResult(answer, m.GetFlagKey(), &result, told{orNew(m.GetRequestId()), end.Sub(start), timestamppb.New(end)})
	return answer, nil
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
	room := newBatchRoom(results)
	for i, item := range m.GetRequests() {
		answer.Responses[i] = room.evaluation(item, results[i], told{item.GetRequestId(), duration, at})
	}
	return answer, nil
}

// batchRoom is memory for the messages of a batch, allocated all at once.
type batchRoom struct {
	responses []evaluation.EvaluationResponse
	variants  []variantItem
	booleans  []booleanItem
}

type variantItem struct {
	message evaluation.VariantEvaluationResponse
	choice  evaluation.EvaluationResponse_VariantResponse
}

type booleanItem struct {
	message evaluation.BooleanEvaluationResponse
	choice  evaluation.EvaluationResponse_BooleanResponse
}

func newBatchRoom(results []guidon.Evaluation) *batchRoom {
	variants, booleans := 0, 0
	for _, r := range results {
		switch {
		case r.Variant != nil:
			variants++
		case r.Boolean != nil:
			booleans++
		}
	}
	return &batchRoom{
		responses: make([]evaluation.EvaluationResponse, len(results)),
		variants:  make([]variantItem, variants),
		booleans:  make([]booleanItem, booleans),
	}
}

// take returns the next item.
func take[T any](free *[]T) *T {
	item := &(*free)[0]
	*free = (*free)[1:]
	return item
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

// evaluation returns one answer of a batch. One about a flag that does not exist
// repeats the namespace as it was sent.
func (b *batchRoom) evaluation(m *evaluation.EvaluationRequest, result guidon.Evaluation, t told) *evaluation.EvaluationResponse {
	response := take(&b.responses)
	switch {
	case result.Variant != nil:
		item := take(&b.variants)
		setVariantResult(&item.message, m.GetFlagKey(), result.Variant, t)
		item.choice.VariantResponse = &item.message
		response.Type = evaluation.EvaluationResponseType_VARIANT_EVALUATION_RESPONSE_TYPE
		response.Response = &item.choice
	case result.Boolean != nil:
		item := take(&b.booleans)
		setBooleanResult(&item.message, m.GetFlagKey(), result.Boolean, t)
		item.choice.BooleanResponse = &item.message
		response.Type = evaluation.EvaluationResponseType_BOOLEAN_EVALUATION_RESPONSE_TYPE
		response.Response = &item.choice
	default:
		response.Type = evaluation.EvaluationResponseType_ERROR_EVALUATION_RESPONSE_TYPE
		response.Response = &evaluation.EvaluationResponse_ErrorResponse{ErrorResponse: &evaluation.ErrorEvaluationResponse{
			FlagKey: m.GetFlagKey(), NamespaceKey: m.GetNamespaceKey(),
			Reason: evaluation.ErrorEvaluationReason_NOT_FOUND_ERROR_EVALUATION_REASON,
		}}
	}
	return response
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

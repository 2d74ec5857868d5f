package evaluation

import (
	"context"
	"slices"
	"sync"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/wire/evaluation"
	"github.com/guidonhq/guidon/service"
)

// Batches and their responses are pooled: allocated each time, they would be most of the
// garbage that the service produces.
var (
	batches        = sync.Pool{New: func() any { return new(service.Batch) }}
	batchResponses = sync.Pool{New: func() any { return new(batchResponse) }}
)

// Batch evaluates all items of a batch. Each result has its own request id, and
// all have the duration and end of the whole batch (contract 7.7, 7.8).
func (v *Evaluator) Batch(
	ctx context.Context, s *service.Service, c *call.Call, m *evaluation.BatchEvaluationRequest, _ *call.Request,
) (call.Response, error) {
	start := v.tick()
	batch := batches.Get().(*service.Batch)
	defer func() {
		batch.Reset()
		batches.Put(batch)
	}()
	for _, item := range m.GetRequests() {
		batch.Requests = append(batch.Requests, evaluationOf(item))
	}
	state, err := s.EvaluateBatch(ctx, c.Demand, batch)
	end := v.now()
	observeBatch(v, c, state, m.GetRequests(), batch.Answers, err, end.Sub(start))
	if err != nil {
		return call.Response{State: state}, err
	}
	response := batchResponses.Get().(*batchResponse)
	response.set(m, requestIDOf(c, m), batch.Answers, end.Sub(start), end)
	return call.Response{State: state, Message: &response.message, Memory: response}, nil
}

// batchResponse is the response to a batch, with the memory of all messages in it.
type batchResponse struct {
	message   evaluation.BatchEvaluationResponse
	at        timestamppb.Timestamp
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

// set fills in the empty response.
func (r *batchResponse) set(
	m *evaluation.BatchEvaluationRequest, requestID string, results []service.Evaluation, duration time.Duration, end time.Time,
) {
	setTime(&r.at, end)
	r.message.RequestId = requestID
	r.message.RequestDurationMillis = milliseconds(duration)
	r.makeRoom(results)
	for i, item := range m.GetRequests() {
		response := take(&r.responses)
		r.setEvaluation(response, item, results[i], responseMeta{item.GetRequestId(), duration, &r.at})
		r.message.Responses = append(r.message.Responses, response)
	}
}

// makeRoom allocates room for the messages of each kind. They must not move afterwards,
// because the response has pointers to them.
func (r *batchResponse) makeRoom(results []service.Evaluation) {
	variants, booleans := 0, 0
	for _, r := range results {
		switch {
		case r.Variant != nil:
			variants++
		case r.Boolean != nil:
			booleans++
		}
	}
	r.message.Responses = slices.Grow(r.message.Responses, len(results))
	r.responses = slices.Grow(r.responses, len(results))
	r.variants, r.booleans = slices.Grow(r.variants, variants), slices.Grow(r.booleans, booleans)
}

// take extends the slice by an item, for which there must be room, and returns it.
func take[T any](items *[]T) *T {
	*items = (*items)[:len(*items)+1]
	return &(*items)[len(*items)-1]
}

// setEvaluation sets one result. That of a flag that is unknown, or cannot be evaluated,
// repeats the namespace as the client sent it.
func (r *batchResponse) setEvaluation(
	response *evaluation.EvaluationResponse, m *evaluation.EvaluationRequest, result service.Evaluation, meta responseMeta,
) {
	switch {
	case result.Variant != nil:
		item := take(&r.variants)
		setVariantResult(&item.message, m.GetFlagKey(), result.Variant, meta)
		item.choice.VariantResponse = &item.message
		response.Type = evaluation.EvaluationResponseType_VARIANT_EVALUATION_RESPONSE_TYPE
		response.Response = &item.choice
	case result.Boolean != nil:
		item := take(&r.booleans)
		setBooleanResult(&item.message, m.GetFlagKey(), result.Boolean, meta)
		item.choice.BooleanResponse = &item.message
		response.Type = evaluation.EvaluationResponseType_BOOLEAN_EVALUATION_RESPONSE_TYPE
		response.Response = &item.choice
	default:
		reason := evaluation.ErrorEvaluationReason_NOT_FOUND_ERROR_EVALUATION_REASON
		if result.Err != nil {
			reason = evaluation.ErrorEvaluationReason_UNKNOWN_ERROR_EVALUATION_REASON
		}
		response.Type = evaluation.EvaluationResponseType_ERROR_EVALUATION_RESPONSE_TYPE
		response.Response = &evaluation.EvaluationResponse_ErrorResponse{ErrorResponse: &evaluation.ErrorEvaluationResponse{
			FlagKey: m.GetFlagKey(), NamespaceKey: m.GetNamespaceKey(),
			Reason: reason,
		}}
	}
}

// Release empties the response and returns it to the pool.
func (r *batchResponse) Release() {
	r.message.RequestId = ""
	r.message.Responses = slices.Delete(r.message.Responses, 0, len(r.message.Responses))
	r.responses = slices.Delete(r.responses, 0, len(r.responses))
	r.variants = slices.Delete(r.variants, 0, len(r.variants))
	r.booleans = slices.Delete(r.booleans, 0, len(r.booleans))
	batchResponses.Put(r)
}

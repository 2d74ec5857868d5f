package handler

import (
	"context"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/wire/evaluation"
)

func (h *Handler) evaluateVariant(ctx context.Context, m *evaluation.EvaluationRequest, _ *Request) (Response, error) {
	start := h.tick()
	result, err := h.service.EvaluateVariant(ctx, evaluationOf(m))
	end := h.now()
	h.observeVariant(ctx, m, &result, err, end.Sub(start))
	if err != nil {
		return Response{}, err
	}
	answer := variantAnswers.Get().(*variantAnswer)
	setTime(&answer.at, end)
	setVariantResult(&answer.message, m.GetFlagKey(), &result, told{requestIDOf(ctx, m), end.Sub(start), &answer.at})
	return Response{Message: &answer.message, memory: answer}, nil
}

func (h *Handler) evaluateBoolean(ctx context.Context, m *evaluation.EvaluationRequest, _ *Request) (Response, error) {
	start := h.tick()
	result, err := h.service.EvaluateBoolean(ctx, evaluationOf(m))
	end := h.now()
	h.observeBoolean(ctx, m, &result, err, end.Sub(start))
	if err != nil {
		return Response{}, err
	}
	answer := booleanAnswers.Get().(*booleanAnswer)
	setTime(&answer.at, end)
	setBooleanResult(&answer.message, m.GetFlagKey(), &result, told{requestIDOf(ctx, m), end.Sub(start), &answer.at})
	return Response{Message: &answer.message, memory: answer}, nil
}

// What a flag is asked for and answered with is used again.
var (
	evaluationRequests = sync.Pool{New: func() any { return new(evaluation.EvaluationRequest) }}
	variantAnswers     = sync.Pool{New: func() any { return new(variantAnswer) }}
	booleanAnswers     = sync.Pool{New: func() any { return new(booleanAnswer) }}
)

// maxKeptContext is the size from which a context is not kept, since emptying it
// takes as long as it ever was.
const maxKeptContext = 64

func takeEvaluationRequest() proto.Message {
	return evaluationRequests.Get().(*evaluation.EvaluationRequest)
}

// releaseEvaluationRequest empties the request for another one, which finds an
// empty context in it to be filled.
func releaseEvaluationRequest(m proto.Message) {
	request := m.(*evaluation.EvaluationRequest)
	properties := emptied(request.GetContext())
	request.Reset()
	request.Context = properties
	evaluationRequests.Put(request)
}

// emptied returns the context, emptied for another one, or nil where it is not kept.
func emptied(properties map[string]string) map[string]string {
	if len(properties) > maxKeptContext {
		return nil
	}
	clear(properties)
	return properties
}

type variantAnswer struct {
	message evaluation.VariantEvaluationResponse
	at      timestamppb.Timestamp
}

func (a *variantAnswer) release() {
	a.message.Reset()
	variantAnswers.Put(a)
}

type booleanAnswer struct {
	message evaluation.BooleanEvaluationResponse
	at      timestamppb.Timestamp
}

func (a *booleanAnswer) release() {
	a.message.Reset()
	booleanAnswers.Put(a)
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

// setTime is timestamppb.New for a message that is there.
func setTime(m *timestamppb.Timestamp, at time.Time) {
	m.Seconds, m.Nanos = at.Unix(), int32(at.Nanosecond()) // #nosec G115 -- below a billion
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

// requestIDOf returns the request id that the client gave in its message or, as a
// fresh one, that of the call, by which the log has it.
func requestIDOf(ctx context.Context, m interface{ GetRequestId() string }) string {
	if given := m.GetRequestId(); given != "" {
		return given
	}
	if call := guidon.CallFrom(ctx); call.RequestID != "" && !call.RequestIDGiven {
		return call.RequestID
	}
	return guidon.NewRequestID()
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

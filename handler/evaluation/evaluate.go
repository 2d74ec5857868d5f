package evaluation

import (
	"context"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/wire/evaluation"
	"github.com/guidonhq/guidon/service"
)

// Evaluator evaluates flags and notifies an observer. It is safe for concurrent use.
type Evaluator struct {
	observer  Observer // may be nil
	now, tick func() time.Time
}

// NewEvaluator returns an Evaluator. The observer may be nil. now is the time that
// responses state; durations are measured with tick.
func NewEvaluator(observer Observer, now, tick func() time.Time) *Evaluator {
	return &Evaluator{observer: observer, now: now, tick: tick}
}

// Variant evaluates a variant flag.
func (v *Evaluator) Variant(
	ctx context.Context, s *service.Service, c *call.Call, m *evaluation.EvaluationRequest, _ *call.Request,
) (call.Response, error) {
	start := v.tick()
	result, state, err := s.EvaluateVariant(ctx, c.Demand, evaluationOf(m))
	end := v.now()
	v.observeVariant(c, state, m, &result, err, end.Sub(start))
	if err != nil {
		return call.Response{State: state}, err
	}
	response := variantResponses.Get().(*variantResponse)
	setTime(&response.at, end)
	setVariantResult(&response.message, m.GetFlagKey(), &result, responseMeta{requestIDOf(c, m), end.Sub(start), &response.at})
	return call.Response{State: state, Message: &response.message, Memory: response}, nil
}

// Boolean evaluates a boolean flag.
func (v *Evaluator) Boolean(
	ctx context.Context, s *service.Service, c *call.Call, m *evaluation.EvaluationRequest, _ *call.Request,
) (call.Response, error) {
	start := v.tick()
	result, state, err := s.EvaluateBoolean(ctx, c.Demand, evaluationOf(m))
	end := v.now()
	v.observeBoolean(c, state, m, &result, err, end.Sub(start))
	if err != nil {
		return call.Response{State: state}, err
	}
	response := booleanResponses.Get().(*booleanResponse)
	setTime(&response.at, end)
	setBooleanResult(&response.message, m.GetFlagKey(), &result, responseMeta{requestIDOf(c, m), end.Sub(start), &response.at})
	return call.Response{State: state, Message: &response.message, Memory: response}, nil
}

// Request and response messages of evaluations are pooled.
var (
	evaluationRequests = sync.Pool{New: func() any { return new(evaluation.EvaluationRequest) }}
	variantResponses   = sync.Pool{New: func() any { return new(variantResponse) }}
	booleanResponses   = sync.Pool{New: func() any { return new(booleanResponse) }}
)

// maxPooledContext is the largest context, in entries, that is reused: clearing a map
// takes time in proportion to its largest size so far.
const maxPooledContext = 64

// TakeRequest returns an empty request message from the pool.
func TakeRequest() proto.Message {
	return evaluationRequests.Get().(*evaluation.EvaluationRequest)
}

// ReleaseRequest resets the message and returns it to the pool. It keeps the
// emptied context map, to be filled again.
func ReleaseRequest(m proto.Message) {
	request := m.(*evaluation.EvaluationRequest)
	properties := Emptied(request.GetContext())
	request.Reset()
	request.Context = properties
	evaluationRequests.Put(request)
}

// Emptied clears the context and returns it, or nil if it is too large to be reused.
func Emptied(properties map[string]string) map[string]string {
	if len(properties) > maxPooledContext {
		return nil
	}
	clear(properties)
	return properties
}

type variantResponse struct {
	message evaluation.VariantEvaluationResponse
	at      timestamppb.Timestamp
}

// Release implements [call.Releaser].
func (r *variantResponse) Release() {
	r.message.Reset()
	variantResponses.Put(r)
}

type booleanResponse struct {
	message evaluation.BooleanEvaluationResponse
	at      timestamppb.Timestamp
}

// Release implements [call.Releaser].
func (r *booleanResponse) Release() {
	r.message.Reset()
	booleanResponses.Put(r)
}

func evaluationOf(m *evaluation.EvaluationRequest) service.EvaluationRequest {
	return service.EvaluationRequest{
		Namespace: m.GetNamespaceKey(), FlagKey: m.GetFlagKey(), EntityID: m.GetEntityId(), Context: m.GetContext(),
	}
}

// responseMeta has the fields of a response about the request itself.
type responseMeta struct {
	requestID string
	duration  time.Duration
	at        *timestamppb.Timestamp
}

// setTime is timestamppb.New for an existing message.
func setTime(m *timestamppb.Timestamp, at time.Time) {
	m.Seconds, m.Nanos = at.Unix(), int32(at.Nanosecond()) // #nosec G115 -- below a billion
}

func setVariantResult(m *evaluation.VariantEvaluationResponse, flagKey string, r *guidon.VariantResult, meta responseMeta) {
	m.Match, m.SegmentKeys, m.Reason = r.Match, r.SegmentKeys, evaluation.EvaluationReason(r.Reason)
	m.VariantKey, m.VariantAttachment = r.VariantKey, r.Attachment
	m.RequestId, m.RequestDurationMillis, m.Timestamp, m.FlagKey = meta.requestID, milliseconds(meta.duration), meta.at, flagKey
}

func setBooleanResult(m *evaluation.BooleanEvaluationResponse, flagKey string, r *guidon.BooleanResult, meta responseMeta) {
	m.Enabled, m.Reason = r.Enabled, evaluation.EvaluationReason(r.Reason)
	m.RequestId, m.RequestDurationMillis, m.Timestamp = meta.requestID, milliseconds(meta.duration), meta.at
	m.FlagKey, m.SegmentKeys = flagKey, r.SegmentKeys
}

// requestIDOf returns the request id that the client set in its message. If there is
// none, it returns a fresh one: that of the call, which is in the log, unless the
// client gave that one too.
func requestIDOf(c *call.Call, m interface{ GetRequestId() string }) string {
	if given := m.GetRequestId(); given != "" {
		return given
	}
	if c.Caller.RequestID != "" && !c.Caller.RequestIDGiven {
		return c.Caller.RequestID
	}
	return service.NewRequestID()
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

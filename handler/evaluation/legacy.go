package evaluation

import (
	"cmp"
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service"
)

// Legacy evaluates a variant flag. Unlike the newer call it requires a flag key
// and an entity id (contract 7.9).
func (v *Evaluator) Legacy(
	ctx context.Context, s *service.Service, c *call.Call, m *flipt.EvaluationRequest, _ *call.Request,
) (call.Response, error) {
	start := v.tick()
	if err := cmp.Or(service.NotEmpty("flagKey", m.GetFlagKey()), service.NotEmpty("entityId", m.GetEntityId())); err != nil {
		return call.Response{}, err
	}
	result, state, err := s.EvaluateVariant(ctx, c.Demand, legacyEvaluationOf(m.GetNamespaceKey())(m))
	end := v.now()
	v.observeVariant(c, state, m, &result, err, end.Sub(start))
	if err != nil {
		return call.Response{State: state}, err
	}
	answer := wireLegacy(m, result, timestamppb.New(end))
	answer.RequestId = requestIDOf(c, m)
	answer.NamespaceKey = m.GetNamespaceKey()
	answer.RequestDurationMillis = milliseconds(end.Sub(start))
	return call.Response{State: state, Message: answer}, nil
}

// LegacyBatch evaluates variant flags of one namespace. An unknown flag fails the whole
// batch unless the request excludes unknown flags (contract 7.9).
func (v *Evaluator) LegacyBatch(
	ctx context.Context, s *service.Service, c *call.Call, m *flipt.BatchEvaluationRequest, _ *call.Request,
) (call.Response, error) {
	start := v.tick()
	namespace := convert.NamespaceOf(m)
	for _, item := range m.GetRequests() {
		if key := item.GetNamespaceKey(); key != "" && key != namespace {
			return call.Response{}, guidon.Errorf(guidon.InvalidArgument,
				"invalid field namespace_key: must be the same for all requests if specified")
		}
	}
	batch := service.Batch{Requests: lists.Map(m.GetRequests(), legacyEvaluationOf(namespace))}
	state, err := s.EvaluateBatch(ctx, c.Demand, &batch)
	if err == nil {
		err = checkLegacy(batch.Answers, namespace, m)
	}
	end := v.now()
	observeBatch(v, c, state, withNamespace(namespace, m.GetRequests()), batch.Answers, err, end.Sub(start))
	if err != nil {
		return call.Response{State: state}, err
	}
	answer := &flipt.BatchEvaluationResponse{RequestId: requestIDOf(c, m)}
	at := timestamppb.New(end)
	for i, item := range m.GetRequests() {
		if r := batch.Answers[i]; r.Variant != nil {
			one := wireLegacy(item, *r.Variant, at)
			one.NamespaceKey = namespace
			answer.Responses = append(answer.Responses, one)
		}
	}
	answer.RequestDurationMillis = milliseconds(end.Sub(start))
	return call.Response{State: state, Message: answer}, nil
}

// checkLegacy returns the error of the first result that fails a legacy batch, or nil if
// there is none.
func checkLegacy(results []service.Evaluation, namespace string, m *flipt.BatchEvaluationRequest) error {
	for i, item := range m.GetRequests() {
		switch r := results[i]; {
		case r.Variant != nil:
		case r.Boolean != nil:
			return &service.BatchItemError{Index: i, Err: guidon.WrongFlagType(guidon.BooleanFlag)}
		case r.Err != nil:
			return &service.BatchItemError{Index: i, Err: r.Err}
		case !m.GetExcludeNotFound():
			return &service.BatchItemError{Index: i, Err: guidon.Errorf(guidon.NotFound, "flag %q not found", namespace+"/"+item.GetFlagKey())}
		}
	}
	return nil
}

func legacyEvaluationOf(namespace string) func(*flipt.EvaluationRequest) service.EvaluationRequest {
	return func(m *flipt.EvaluationRequest) service.EvaluationRequest {
		return service.EvaluationRequest{
			Namespace: namespace, FlagKey: m.GetFlagKey(), EntityID: m.GetEntityId(), Context: m.GetContext(),
		}
	}
}

// namespacedItem is an item of a batch with the namespace of the batch.
type namespacedItem struct {
	*flipt.EvaluationRequest
	namespace string
}

func (p namespacedItem) GetNamespaceKey() string { return p.namespace }

func withNamespace(namespace string, items []*flipt.EvaluationRequest) []namespacedItem {
	return lists.Map(items, func(m *flipt.EvaluationRequest) namespacedItem { return namespacedItem{m, namespace} })
}

// wireLegacy returns a response without request id and duration, which the items of a
// batch lack.
func wireLegacy(m *flipt.EvaluationRequest, r guidon.VariantResult, at *timestamppb.Timestamp) *flipt.EvaluationResponse {
	answer := &flipt.EvaluationResponse{
		EntityId: m.GetEntityId(), RequestContext: m.GetContext(), Match: r.Match, FlagKey: m.GetFlagKey(),
		Timestamp: at, Value: r.VariantKey, Attachment: r.Attachment,
		Reason: legacyReasons[r.Reason], SegmentKeys: r.SegmentKeys,
	}
	if len(r.SegmentKeys) > 0 {
		answer.SegmentKey = r.SegmentKeys[0] //lint:ignore SA1019 deprecated on the wire, read by clients
	}
	return answer
}

// legacyReasons are the reasons in the legacy numbering (contract 3.6).
var legacyReasons = [...]flipt.EvaluationReason{
	guidon.ReasonUnknown:      flipt.EvaluationReason_UNKNOWN_EVALUATION_REASON,
	guidon.ReasonFlagDisabled: flipt.EvaluationReason_FLAG_DISABLED_EVALUATION_REASON,
	guidon.ReasonMatch:        flipt.EvaluationReason_MATCH_EVALUATION_REASON,
	guidon.ReasonDefault:      flipt.EvaluationReason_DEFAULT_EVALUATION_REASON,
}

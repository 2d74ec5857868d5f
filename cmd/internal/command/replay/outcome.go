package replay

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/handler/wire/evaluation"
)

// Outcome is the result of a service for a request, without ids, times and durations.
type Outcome struct {
	Type        string   `json:"type"` // boolean, variant or error
	FlagKey     string   `json:"flagKey,omitempty"`
	Enabled     bool     `json:"enabled"`
	Match       bool     `json:"match"`
	Reason      string   `json:"reason,omitempty"`
	SegmentKeys []string `json:"segmentKeys,omitempty"` // sorted
	VariantKey  string   `json:"variantKey,omitempty"`
	Attachment  string   `json:"variantAttachment,omitempty"`
	Error       string   `json:"error,omitempty"`
}

// evaluate returns the outcomes of the requests. If the service rejects them together, each
// is sent alone.
func evaluate(ctx context.Context, c client.Client, batch []Request) ([]Outcome, error) {
	message := new(evaluation.BatchEvaluationRequest)
	for _, r := range batch {
		message.Requests = append(message.Requests,
			&evaluation.EvaluationRequest{NamespaceKey: r.Namespace, FlagKey: r.Flag, EntityId: r.Entity, Context: r.Context})
	}
	response := new(evaluation.BatchEvaluationResponse)
	err := c.Invoke(ctx, "/flipt.evaluation.EvaluationService/Batch", message, response)
	switch {
	case isAboutRequest(err) && len(batch) == 1:
		return []Outcome{{Type: "error", Error: codeName(err)}}, nil
	case isAboutRequest(err), errors.Is(err, guidon.TooLarge) && len(batch) > 1:
		return evaluateEach(ctx, c, batch)
	case err != nil:
		return nil, err
	case len(response.GetResponses()) != len(batch):
		return nil, fmt.Errorf("unexpected response: got %d results for %d evaluations", len(response.GetResponses()), len(batch))
	}
	outcomes := make([]Outcome, len(batch))
	for i, r := range response.GetResponses() {
		outcomes[i] = outcomeOf(r)
	}
	return outcomes, nil
}

func evaluateEach(ctx context.Context, c client.Client, batch []Request) ([]Outcome, error) {
	var outcomes []Outcome
	for i := range batch {
		one, err := evaluate(ctx, c, batch[i:i+1])
		if err != nil {
			return nil, err
		}
		outcomes = append(outcomes, one...)
	}
	return outcomes, nil
}

// isAboutRequest reports whether the error is the answer to a request, and not a failure of
// the service.
func isAboutRequest(err error) bool {
	return errors.Is(err, guidon.NotFound) || errors.Is(err, guidon.InvalidArgument)
}

func codeName(err error) string {
	if errors.Is(err, guidon.NotFound) {
		return evaluation.ErrorEvaluationReason_NOT_FOUND_ERROR_EVALUATION_REASON.String()
	}
	return "INVALID_REQUEST"
}

func outcomeOf(r *evaluation.EvaluationResponse) Outcome {
	switch {
	case r.GetBooleanResponse() != nil:
		b := r.GetBooleanResponse()
		return Outcome{Type: "boolean", FlagKey: b.GetFlagKey(), Enabled: b.GetEnabled(),
			Reason: b.GetReason().String(), SegmentKeys: slices.Sorted(slices.Values(b.GetSegmentKeys()))}
	case r.GetVariantResponse() != nil:
		v := r.GetVariantResponse()
		return Outcome{
			Type: "variant", FlagKey: v.GetFlagKey(), Match: v.GetMatch(), Reason: v.GetReason().String(),
			SegmentKeys: slices.Sorted(slices.Values(v.GetSegmentKeys())), VariantKey: v.GetVariantKey(), Attachment: v.GetVariantAttachment(),
		}
	}
	return Outcome{Type: "error", Error: r.GetErrorResponse().GetReason().String()}
}

// Difference is a field whose values differ.
type Difference struct {
	Field string `json:"field"`
	From  string `json:"from"`
	To    string `json:"to"`
}

// differences returns the fields that differ. Attachments are compared as JSON, because
// databases do not keep their form.
func differences(from, to Outcome) []Difference {
	var list []Difference
	add := func(field string, a, b any, equal bool) {
		if !equal {
			list = append(list, Difference{field, text(a), text(b)})
		}
	}
	if from.Type != to.Type || from.Error != to.Error {
		add("result", from.kind(), to.kind(), false)
		return list
	}
	add("flagKey", from.FlagKey, to.FlagKey, from.FlagKey == to.FlagKey || from.FlagKey == "" || to.FlagKey == "")
	add("enabled", from.Enabled, to.Enabled, from.Enabled == to.Enabled)
	add("match", from.Match, to.Match, from.Match == to.Match)
	add("reason", from.Reason, to.Reason, from.Reason == to.Reason)
	add("segmentKeys", from.SegmentKeys, to.SegmentKeys, slices.Equal(from.SegmentKeys, to.SegmentKeys))
	add("variantKey", from.VariantKey, to.VariantKey, from.VariantKey == to.VariantKey)
	add("variantAttachment", from.Attachment, to.Attachment, sameJSON(from.Attachment, to.Attachment))
	return list
}

func (o Outcome) kind() string {
	return cmp.Or(o.Error, o.Type)
}

func text(value any) string {
	if s, ok := value.(string); ok {
		return s
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(encoded)
}

func sameJSON(a, b string) bool {
	var x, y any
	if a == b || json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return a == b
	}
	return reflect.DeepEqual(x, y)
}

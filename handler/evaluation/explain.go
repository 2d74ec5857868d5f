package evaluation

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/evaluation"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service"
)

// CheckExplain checks a request to explain an evaluation.
func CheckExplain(q *guidonv1.ExplainRequest) error {
	return service.CheckExplain(q.GetKey(), entityOf(q))
}

// Explain explains an evaluation. That does not count as an evaluation of the flag.
func (v *Evaluator) Explain(_ context.Context, view service.View, m *guidonv1.ExplainRequest) (*guidonv1.ExplainResponse, error) {
	start := v.tick()
	var edited *guidon.Flag
	if m.GetFlag() != nil {
		edited = convert.DocumentFlagOf(m.GetFlag())
	}
	e, err := view.Explain(m.GetKey(), edited, entityOf(m))
	if err != nil {
		return nil, err
	}
	meta := responseMeta{m.GetRequestId(), v.tick().Sub(start), timestamppb.New(v.now())}
	w := &explanation{e: e, at: view.AsOf(e), left: maxExplained}
	return &guidonv1.ExplainResponse{
		AsOf:         convert.Timestamp(w.at),
		NamespaceKey: convert.NamespaceOf(m), FlagKey: e.Flag.Key, EntityId: m.GetEntityId(),
		FlagType: flipt.FlagType(e.Flag.Type), Enabled: e.Flag.Enabled,
		Result: wireResult(e, meta), DecidedBy: number(e.Decided),
		Requirements: lists.Map(e.Requirements, requirement), Unmet: e.Unmet(),
		Steps: w.steps(), Others: w.others(), Limited: e.Limited || w.cut,
	}, nil
}

func entityOf(m interface {
	GetEntityId() string
	GetContext() map[string]string
}) service.Entity {
	return service.Entity{ID: m.GetEntityId(), Context: m.GetContext()}
}

// wireResult returns the result as a batch evaluation has it.
func wireResult(e *analysis.Explanation, meta responseMeta) *evaluation.EvaluationResponse {
	if e.Boolean != nil {
		m := new(evaluation.BooleanEvaluationResponse)
		setBooleanResult(m, e.Flag.Key, e.Boolean, meta)
		return &evaluation.EvaluationResponse{
			Type:     evaluation.EvaluationResponseType_BOOLEAN_EVALUATION_RESPONSE_TYPE,
			Response: &evaluation.EvaluationResponse_BooleanResponse{BooleanResponse: m},
		}
	}
	m := new(evaluation.VariantEvaluationResponse)
	setVariantResult(m, e.Flag.Key, e.Variant, meta)
	return &evaluation.EvaluationResponse{
		Type:     evaluation.EvaluationResponseType_VARIANT_EVALUATION_RESPONSE_TYPE,
		Response: &evaluation.EvaluationResponse_VariantResponse{VariantResponse: m},
	}
}

// number returns the position of a step by its index, or 0 for none.
func number(index int) int32 { return convert.Count(index + 1) }

// Limits of a response: constraints and outcomes in it, and the bytes of a string.
const (
	maxExplained     = 5000
	maxExplainedText = 512 + len("…")
)

// short returns the string, cut if it is too long.
func short(text string) string { return guidon.Shorten(text, maxExplainedText) }

// explanation converts an explanation to its message.
type explanation struct {
	e    *analysis.Explanation
	at   time.Time // that it is for, or zero if it is the same at all times
	left int       // how many constraints and outcomes there may still be
	cut  bool      // outcomes are missing
}

// take reports whether there may be n more constraints or outcomes.
func (w *explanation) take(n int) bool {
	if n > w.left {
		return false
	}
	w.left -= n
	return true
}

func (w *explanation) steps() []*guidonv1.ExplainedStep {
	steps := make([]*guidonv1.ExplainedStep, len(w.e.Steps))
	for i := range w.e.Steps {
		steps[i] = w.step(i)
	}
	return steps
}

func (w *explanation) step(i int) *guidonv1.ExplainedStep {
	s := &w.e.Steps[i]
	m := &guidonv1.ExplainedStep{Number: number(i), Outcome: string(s.Outcome), Text: w.stepText(i) + w.rampText(i), Bucket: wireBucket(s.Bucket)}
	var keys []string
	if r := s.Rule; r != nil {
		m.Id, m.Rank, m.SegmentOperator, keys = r.ID, r.Rank, flipt.SegmentOperator(r.SegmentOperator), r.SegmentKeys
		m.HoldsFrom, m.HoldsUntil = convert.Timestamp(r.Stated().From), convert.Timestamp(r.Stated().Until)
	} else {
		r := s.Rollout
		m.Id, m.Rank, m.Description = r.ID, r.Rank, r.Description
		m.HoldsFrom, m.HoldsUntil = convert.Timestamp(r.Stated().From), convert.Timestamp(r.Stated().Until)
		switch {
		case r.Threshold != nil:
			m.Value = r.Threshold.Value
		case r.Segment != nil:
			m.SegmentOperator, m.Value, keys = flipt.SegmentOperator(r.Segment.SegmentOperator), r.Segment.Value, r.Segment.SegmentKeys
		}
	}
	if s.Outcome == analysis.StepNotReached {
		m.Segments = lists.Map(keys, func(key string) *guidonv1.ExplainedSegment { return &guidonv1.ExplainedSegment{Key: key} })
	} else {
		m.Segments, m.Exceptions = lists.Map(s.Segments, w.segment), lists.Map(s.Exceptions, w.segment)
		m.Requirements = lists.Map(s.Requirements, requirement)
		m.Groups, m.Portion, m.PortionText = lists.Map(s.Groups, w.segment), wireBucket(s.Portion), portionText(s.Portion)
	}
	return m
}

func requirement(r analysis.ExplainedRequirement) *guidonv1.ExplainedRequirement {
	return &guidonv1.ExplainedRequirement{
		FlagKey: r.FlagKey, Answers: r.Answers, Exists: r.Exists, Answer: r.Answer, Met: r.Met, Text: r.String(),
	}
}

func (w *explanation) segment(g *analysis.ExplainedSegment) *guidonv1.ExplainedSegment {
	m := &guidonv1.ExplainedSegment{Key: g.Key, Exists: g.Segment != nil, Matched: &g.Matched}
	if g.Segment == nil {
		return m
	}
	m.MatchType = flipt.MatchType(g.Segment.MatchType)
	if !w.take(len(g.Constraints)) {
		m.ConstraintsOmitted = true
		return m
	}
	m.Constraints = make([]*guidonv1.ExplainedConstraint, len(g.Constraints))
	for i := range g.Constraints {
		c := &g.Constraints[i]
		m.Constraints[i] = &guidonv1.ExplainedConstraint{
			Id: c.Constraint.ID, Type: flipt.ComparisonType(c.Constraint.Type), Property: short(c.Constraint.Property),
			Operator: c.Constraint.Operator, Expected: short(c.Constraint.Value), Actual: short(c.Actual),
			Present: c.Present, Matched: c.Matched, Problem: string(c.Problem), Negate: c.Constraint.Negate,
		}
	}
	return m
}

func wireBucket(b *analysis.ExplainedBucket) *guidonv1.ExplainedBucket {
	if b == nil {
		return nil
	}
	m := &guidonv1.ExplainedBucket{
		Number: convert.Count(b.Number), Of: convert.Count(b.Of), Chosen: number(b.Chosen), By: short(b.By), Absent: b.Absent,
	}
	for _, r := range b.Ranges {
		m.Ranges = append(m.Ranges, &guidonv1.ExplainedRange{
			From: convert.Count(r.Start), To: convert.Count(r.End), VariantKey: r.Variant, Percentage: r.Percentage,
		})
	}
	return m
}

// CheckExplainSegment checks a request to explain who belongs to a segment.
func CheckExplainSegment(q *guidonv1.ExplainSegmentRequest) error {
	return service.CheckExplain(q.GetKey(), entityOf(q))
}

// ExplainSegment compares an entity with the constraints of a segment.
func ExplainSegment(_ context.Context, view service.View, m *guidonv1.ExplainSegmentRequest) (*guidonv1.ExplainSegmentResponse, error) {
	var edited *guidon.Segment
	if m.GetSegment() != nil {
		edited = convert.DocumentSegmentOf(m.GetSegment())
	}
	e, err := view.ExplainSegment(m.GetKey(), edited, entityOf(m))
	if err != nil {
		return nil, err
	}
	w := &explanation{left: maxExplained}
	return &guidonv1.ExplainSegmentResponse{NamespaceKey: convert.NamespaceOf(m), EntityId: m.GetEntityId(), Segment: w.segment(e)}, nil
}

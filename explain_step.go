package guidon

import "iter"

// ExplainedStep is a rule or a rollout in an explanation.
type ExplainedStep struct {
	Rule     *Rule    // of a variant flag, otherwise nil
	Rollout  *Rollout // of a boolean flag, otherwise nil
	Outcome  StepOutcome
	Segments []*ExplainedSegment // if the step was reached; shared by steps
	Bucket   *ExplainedBucket    // if the step consulted it, otherwise nil
}

// StepOutcome is the outcome of a rule or rollout in an evaluation.
type StepOutcome uint8

// Outcomes of steps.
const (
	StepNotReached   StepOutcome = iota // the flag is disabled, or an earlier step decided
	StepNotMatched                      // the next step was tried
	StepNeverMatches                    // it has no segments, or one that does not exist
	StepMatched                         // it decided the result
	StepNoVariant                       // it matched, but the bucket is in no range: the result is no match, and later steps are not tried
)

// ExplainedSegment is a segment of a step.
type ExplainedSegment struct {
	Key         string
	Segment     *Segment // nil if it does not exist
	Matched     bool
	Constraints []ExplainedConstraint
}

// ExplainedBucket is the bucket of the entity, and the results that buckets have.
type ExplainedBucket struct {
	Number int // of the entity, from 0
	Of     int // how many buckets there are
	Ranges []ExplainedRange
	Chosen int // index of the range with the bucket, or -1
}

// ExplainedRange is the buckets of a distribution or of a threshold.
type ExplainedRange struct {
	From, To     int           // To is exclusive; an empty range has From equal to To
	Distribution *Distribution // nil for a threshold
	VariantKey   string        // of the distribution; empty if the variant does not exist
}

// step is a rule or rollout as evaluations use it.
type step struct {
	keys     []string // of its segments
	audience *audience
	rule     *compiledRule    // nil for a rollout, and if it never matches
	rollout  *compiledRollout // nil for a rule, and if it never matches
}

// never reports whether evaluations skip the step.
func (s *step) never() bool { return s.rule == nil && s.rollout == nil }

// resolve returns the steps of the flag. It repeats the decision of compileFlag which of
// them evaluations skip.
func (x *explainer) resolve() []step {
	f := x.flag
	if f.kind == BooleanFlag {
		steps := make([]step, len(f.flag.Rollouts))
		compiled := f.rollouts
		for i, r := range f.flag.Rollouts {
			if r.Segment != nil && r.Threshold == nil {
				steps[i].keys = r.Segment.SegmentKeys
			}
			if r.Threshold != nil || x.segments.haveAll(steps[i].keys) {
				steps[i].rollout, steps[i].audience = &compiled[0], compiled[0].audience
				compiled = compiled[1:]
			}
		}
		return steps
	}
	steps := make([]step, len(f.flag.Rules))
	compiled := f.rules
	for i, r := range f.flag.Rules {
		steps[i].keys = r.SegmentKeys
		if f.kind == VariantFlag && x.segments.haveAll(r.SegmentKeys) {
			steps[i].rule, steps[i].audience = &compiled[0], compiled[0].audience
			compiled = compiled[1:]
		}
	}
	return steps
}

// haveAll reports whether there are keys and all of the segments exist.
func (x segmentIndex) haveAll(keys []string) bool {
	for _, key := range keys {
		if x[key] == nil {
			return false
		}
	}
	return len(keys) > 0
}

// path explains the steps of an evaluation that ended with the decided one.
func (x *explainer) path(decided int) []ExplainedStep {
	path := make([]ExplainedStep, len(x.steps))
	last := decided
	switch {
	case x.flag.kind == VariantFlag && !x.flag.enabled:
		last = -1
	case decided < 0:
		last = len(path) - 1
	}
	known := make(map[string]*ExplainedSegment, last+1)
	for i := range path {
		if x.flag.kind == BooleanFlag {
			path[i].Rollout = x.flag.flag.Rollouts[i]
		} else {
			path[i].Rule = x.flag.flag.Rules[i]
		}
		if i <= last {
			x.explainStep(&path[i], &x.steps[i], i == decided, known)
		}
	}
	return path
}

// explainStep explains a step that was reached.
func (x *explainer) explainStep(e *ExplainedStep, s *step, decided bool, known map[string]*ExplainedSegment) {
	e.Segments = x.lists.take(len(s.keys), len(x.steps))
	for i, key := range s.keys {
		if known[key] == nil {
			known[key] = x.explainSegment(key)
		}
		e.Segments[i] = known[key]
	}
	switch {
	case s.never():
		e.Outcome = StepNeverMatches
	case decided:
		e.Outcome = StepMatched
	default:
		e.Outcome = StepNotMatched
	}
	switch {
	case s.never():
	case s.rollout != nil && s.audience == nil:
		e.Bucket = x.thresholdBucket(s.rollout)
	case s.rule != nil && decided && len(s.rule.ranges) > 0:
		e.Bucket = x.distributionBucket(e.Rule)
		if e.Bucket.Chosen < 0 {
			e.Outcome = StepNoVariant
		}
	}
}

func (x *explainer) explainSegment(key string) *ExplainedSegment {
	e := &x.explained.take(1, len(x.steps))[0]
	e.Key = key
	g := x.segments[key]
	if g == nil {
		return e
	}
	e.Constraints = x.constraints.take(len(g.conditions), 2*len(x.steps))
	g.explain(e, x.entityID, x.context)
	return e
}

// explain sets the segment of the explanation and what it says about the entity. The
// explanation must have a place for each constraint.
func (c *compiledSegment) explain(e *ExplainedSegment, entityID string, context map[string]string) {
	e.Segment, e.Matched = c.segment, c.matches(entityID, context)
	for i := range c.conditions {
		e.Constraints[i] = explainConstraint(c.segment.Constraints[i], &c.conditions[i], entityID, context)
	}
}

func (x *explainer) thresholdBucket(r *compiledRollout) *ExplainedBucket {
	b := &ExplainedBucket{Number: x.bucket, Of: booleanBuckets, Chosen: -1, Ranges: []ExplainedRange{{To: thresholdBuckets(r.percentage)}}}
	if x.bucket < b.Ranges[0].To {
		b.Chosen = 0
	}
	return b
}

func (x *explainer) distributionBucket(r *Rule) *ExplainedBucket {
	b := &ExplainedBucket{Number: x.bucket, Of: variantBuckets, Chosen: -1, Ranges: make([]ExplainedRange, 0, len(r.Distributions))}
	for e := range x.ranges(r) {
		if e.contains(x.bucket) {
			b.Chosen = len(b.Ranges)
		}
		b.Ranges = append(b.Ranges, e)
	}
	return b
}

// contains reports whether the bucket is in the range.
func (r *ExplainedRange) contains(bucket int) bool { return r.From <= bucket && bucket < r.To }

// empty reports whether no bucket is in the range.
func (r *ExplainedRange) empty() bool { return r.From == r.To }

// ranges yields the buckets of each distribution of a rule.
func (x *explainer) ranges(r *Rule) iter.Seq[ExplainedRange] {
	return func(yield func(ExplainedRange) bool) {
		for d, share := range eachShare(x.flag.flag, r) {
			if !yield(ExplainedRange{From: share.Start, To: share.End, Distribution: d, VariantKey: share.Variant}) {
				return
			}
		}
	}
}

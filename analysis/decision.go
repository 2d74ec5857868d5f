package analysis

import (
	"math"

	"github.com/guidonhq/guidon"
)

// Outcome is the result of evaluating a flag for an entity, without the segments that
// matched.
type Outcome struct {
	Match      bool          // as in VariantResult
	Reason     guidon.Reason // as in VariantResult and BooleanResult
	VariantKey string        // of a variant flag
	Attachment string        // of the variant
	Enabled    bool          // of a boolean flag
	Absent     bool          // there is no such flag
	Fails      bool          // a segment has a constraint of an unknown type, or something is Unreadable
}

// SameValue reports whether a client that reads only the value of the flag sees no
// difference between the outcomes.
func (o Outcome) SameValue(other Outcome) bool {
	o.Match, o.Reason = other.Match, other.Reason
	return o == other
}

// decisions describes the evaluation of a flag by buckets instead of entities: the steps
// of [guidon.CompiledFlag.Variant] and [guidon.CompiledFlag.Boolean].
type decisions struct {
	buckets  int
	steps    []decision
	fallback Outcome
}

// decision is a rule or rollout that may decide the outcome.
type decision struct {
	index     int         // of the rule or rollout in the flag
	threshold bool        // it decides for its range of buckets, otherwise for who matches
	who       requirement // unless it is a threshold
	segments  []string    // the keys behind who
	outcomes  []outcomeRange
}

// outcomeRange gives an outcome to the buckets from the end of the previous range on.
type outcomeRange struct {
	end     int // exclusive
	outcome Outcome
}

// bucketsOfType returns the number of buckets of flags of the type.
func bucketsOfType(t guidon.FlagType) int {
	if t == guidon.BooleanFlag {
		return guidon.BooleanBuckets
	}
	return guidon.VariantBuckets
}

// decisionsOf returns the decisions of the flag, which may be nil. It adds the predicates
// of its segments to p.
func decisionsOf(compiled *guidon.CompiledFlag, p *predicates) *decisions {
	if compiled == nil {
		return &decisions{fallback: Outcome{Absent: true}}
	}
	switch compiled.Kind() {
	case guidon.BooleanFlag:
		return booleanDecisions(compiled, p)
	case guidon.VariantFlag:
		return variantDecisions(compiled, p)
	}
	return &decisions{buckets: bucketsOfType(compiled.Flag().Type), fallback: Outcome{Fails: true}}
}

func variantDecisions(compiled *guidon.CompiledFlag, p *predicates) *decisions {
	f := compiled.Flag()
	d := &decisions{buckets: guidon.VariantBuckets}
	if v := f.DefaultVariant(); v != nil {
		d.fallback = Outcome{Reason: guidon.ReasonDefault, VariantKey: v.Key, Attachment: v.Attachment}
	}
	if !f.Enabled {
		d.fallback.Reason = guidon.ReasonFlagDisabled
		return d
	}
	for i, set := range compiled.Steps() {
		d.add(i, set, p, d.distributed(f, f.Rules[i]))
	}
	return d
}

// distributed returns the outcomes of the buckets in a rule that matches.
func (d *decisions) distributed(f *guidon.Flag, r *guidon.Rule) []outcomeRange {
	if !distributes(f, r) {
		matched := d.fallback
		matched.Match, matched.Reason = true, guidon.ReasonMatch
		return []outcomeRange{{d.buckets, matched}}
	}
	var outcomes []outcomeRange
	covered := 0
	for share := range eachShare(f, r) {
		if share.Buckets() > 0 {
			v := f.Variant(share.Distribution.VariantID)
			given := Outcome{Match: true, Reason: guidon.ReasonMatch, VariantKey: v.Key, Attachment: v.Attachment}
			outcomes = append(outcomes, outcomeRange{share.End, given})
			covered = share.End
		}
	}
	if covered < d.buckets {
		outcomes = append(outcomes, outcomeRange{d.buckets, d.fallback})
	}
	return outcomes
}

func booleanDecisions(compiled *guidon.CompiledFlag, p *predicates) *decisions {
	f := compiled.Flag()
	d := &decisions{buckets: guidon.BooleanBuckets, fallback: Outcome{Reason: guidon.ReasonDefault, Enabled: f.Enabled}}
	for i, set := range compiled.Steps() {
		matched := Outcome{Reason: guidon.ReasonMatch, Enabled: rolloutValue(f.Rollouts[i])}
		if set != nil {
			d.add(i, set, p, []outcomeRange{{d.buckets, matched}})
			continue
		}
		end := thresholdBuckets(f.Rollouts[i].Threshold.Percentage)
		if end > 0 {
			d.steps = append(d.steps, decision{index: i, threshold: true, outcomes: []outcomeRange{{end, matched}}})
		}
		if end == d.buckets {
			return d // no entity gets further
		}
	}
	return d
}

// thresholdBuckets returns how many buckets are below the percentage.
func thresholdBuckets(percentage float32) int {
	switch {
	case !(percentage > 0): // NaN too
		return 0
	case percentage >= guidon.BooleanBuckets:
		return guidon.BooleanBuckets
	}
	return int(math.Ceil(float64(percentage)))
}

// add appends a rule or rollout with segments.
func (d *decisions) add(index int, set *guidon.Audience, p *predicates, outcomes []outcomeRange) {
	if set.Err() != nil { // entities that get here get an error
		d.steps = append(d.steps, decision{
			index: index, who: everyone, segments: set.Keys(), outcomes: []outcomeRange{{d.buckets, Outcome{Fails: true}}},
		})
		return
	}
	d.steps = append(d.steps, decision{index: index, who: p.requirement(set), segments: set.Keys(), outcomes: outcomes})
}

// noStep is the index of no rule or rollout: the default decides.
const noStep = -1

// decided holds the outcome of some buckets, and the rule or rollout that decided it.
type decided struct {
	end     int
	outcome Outcome
	index   int
}

// of returns the outcomes by bucket for entities that match the step, but no earlier one
// that is not a threshold. The step may be len(d.steps), which means no step.
func (d *decisions) of(step int) []decided {
	var list []decided
	covered := 0
	take := func(index int, outcomes []outcomeRange) {
		for _, o := range outcomes {
			if o.end > covered {
				list = append(list, decided{o.end, o.outcome, index})
				covered = o.end
			}
		}
	}
	for i := range min(step+1, len(d.steps)) {
		if s := &d.steps[i]; s.threshold || i == step {
			take(s.index, s.outcomes)
		}
	}
	take(noStep, []outcomeRange{{d.buckets, d.fallback}})
	return list
}

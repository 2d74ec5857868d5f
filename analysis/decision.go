package analysis

import (
	"slices"

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
	dimension *dimension // of the buckets; nil if no outcome depends on them
	buckets   int
	steps     []decision
	fallback  Outcome
	p         *predicates
}

// decision is a rule or rollout that may decide the outcome, or one of its shares.
type decision struct {
	index     int         // of the rule or rollout in the flag
	threshold bool        // it decides for its range of buckets, otherwise for who matches
	who       requirement // unless it is a threshold
	part      string      // of the entities that match, in words, such as " and are in its 20%"; empty for all
	unmet     string      // the key of the required flag because of which the flag is off
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

// find adds the decisions of the flag, which may be nil, and the predicates of its segments.
func (d *decisions) find(compiled *guidon.CompiledFlag, steps []step) {
	switch {
	case compiled == nil:
		d.fallback = Outcome{Absent: true}
	case compiled.Kind() == guidon.BooleanFlag:
		d.findBoolean(compiled, steps)
	case compiled.Kind() == guidon.VariantFlag:
		d.findVariants(compiled, steps)
	default:
		d.fallback = Outcome{Fails: true}
	}
}

func (d *decisions) findVariants(compiled *guidon.CompiledFlag, steps []step) {
	f := compiled.Flag()
	if v := f.DefaultVariant(); v != nil {
		d.fallback = Outcome{Reason: guidon.ReasonDefault, VariantKey: v.Key, Attachment: v.Attachment}
	}
	off := d.fallback
	if off.Reason = guidon.ReasonFlagDisabled; !f.Enabled {
		d.fallback = off
		return
	}
	d.addUnmet(compiled.Requires(), off)
	for i := range steps {
		switch s := &steps[i]; {
		case s.never():
		case s.rule.CodeDefault:
			d.add(i, s, outcomeRange{d.buckets, Outcome{Reason: guidon.ReasonDefault}})
		case !distributes(f, s.rule):
			matched := d.fallback
			matched.Match, matched.Reason = true, guidon.ReasonMatch
			d.add(i, s, outcomeRange{d.buckets, matched})
		default:
			d.distribute(f, i, s)
		}
	}
}

// distribute adds a rule that has shares. If their buckets are not those of d, each share is a
// decision.
func (d *decisions) distribute(f *guidon.Flag, index int, s *step) {
	scale := d.scale(&s.divider)
	if scale == 0 && s.divides(f) {
		d.addShares(f, index, s)
		return
	}
	var outcomes []outcomeRange
	covered := 0
	for share := range eachShare(f, s.rule, &s.divider) {
		if share.Buckets() > 0 {
			if covered = share.End * scale; scale == 0 {
				covered = d.buckets // the share is whole
			}
			outcomes = append(outcomes, outcomeRange{covered, given(f, &share)})
		}
	}
	if covered < d.buckets {
		outcomes = append(outcomes, outcomeRange{d.buckets, d.fallback})
	}
	d.add(index, s, outcomes...)
}

func (d *decisions) addShares(f *guidon.Flag, index int, s *step) {
	rest := s.divider.Buckets()
	for share := range eachShare(f, s.rule, &s.divider) {
		if share.Buckets() == 0 {
			continue
		}
		added := d.add(index, s, outcomeRange{d.buckets, given(f, &share)})
		if rest -= share.Buckets(); rest > 0 {
			buckets := guidon.BucketShare{Bucketer: s.divider, Start: share.Start, End: share.End}
			added.who = d.p.and(added.who, inShare(&buckets))
		}
		added.part = " and are in its share of " + said(share.Variant)
	}
	if rest > 0 {
		d.add(index, s, outcomeRange{d.buckets, d.fallback})
	}
}

// given returns the outcome of the entities in the share.
func given(f *guidon.Flag, share *Share) Outcome {
	v := f.Variant(share.Distribution.VariantID)
	return Outcome{Match: true, Reason: guidon.ReasonMatch, VariantKey: v.Key, Attachment: v.Attachment}
}

// scale returns how many buckets of d are one of the bucketer, or 0 if they are others.
func (d *decisions) scale(b *guidon.Bucketer) int {
	if d.dimension == nil || dimensionOf(b) != *d.dimension {
		return 0
	}
	return d.buckets / b.Buckets()
}

func (d *decisions) findBoolean(compiled *guidon.CompiledFlag, steps []step) {
	d.addUnmet(compiled.Requires(), Outcome{Reason: guidon.ReasonDefault})
	d.fallback = Outcome{Reason: guidon.ReasonDefault, Enabled: compiled.Flag().Enabled}
	for i := range steps {
		s := &steps[i]
		matched := Outcome{Reason: guidon.ReasonMatch, Enabled: s.value}
		switch {
		case s.Audience != nil:
			d.add(i, s, outcomeRange{d.buckets, matched})
		case s.share == nil || s.share.Empty():
		case s.share.Takes():
			d.steps = append(d.steps, decision{index: i, threshold: true, outcomes: []outcomeRange{{d.buckets, matched}}})
			return // no entity gets further
		default:
			d.addThreshold(i, s, matched)
		}
	}
}

func (d *decisions) addThreshold(index int, s *step, matched Outcome) {
	if scale := d.scale(&s.share.Bucketer); scale > 0 && s.share.Start == 0 && s.share.By == "" {
		d.steps = append(d.steps, decision{index: index, threshold: true, outcomes: []outcomeRange{{s.share.End * scale, matched}}})
		return
	}
	d.steps = append(d.steps, decision{
		index: index, who: d.p.and(everyone, inShare(s.share)), outcomes: []outcomeRange{{d.buckets, matched}},
	})
}

// add appends a rule or rollout with the outcomes of the entities that match.
func (d *decisions) add(index int, s *step, outcomes ...outcomeRange) *decision {
	added := decision{index: index, segments: slices.Concat(s.keys, s.stated.ExceptSegmentKeys), outcomes: outcomes}
	if s.fails() { // entities that get here get an error
		added.who, added.outcomes = everyone, []outcomeRange{{d.buckets, Outcome{Fails: true}}}
	} else {
		added.who = d.p.requirementOf(s)
		if s.Conditions != nil {
			d.addErrors(index, d.p.audienceOf(s), s.Conditions.Requires)
		}
	}
	if c := s.Conditions; c != nil && c.Portion != nil {
		added.part = " and are in its " + PercentWords(c.Portion.Percentage)
	}
	d.steps = append(d.steps, added)
	return &d.steps[len(d.steps)-1]
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

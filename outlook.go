package guidon

import (
	"cmp"
	"context"
	"iter"
	"math"
	"slices"
	"strings"
)

// FlagState summarizes the behavior of a flag in one word.
type FlagState uint8

// States of flags.
const (
	OffState    FlagState = iota // a boolean flag that is true for nobody; a variant flag that is not enabled
	OnState                      // a boolean flag that is true for everybody; a variant flag that is enabled
	PartlyState                  // a boolean flag that may be true for some and not for others
)

// Outlook summarizes the behavior of a flag, for lists.
type Outlook struct {
	// EveryoneElse has the answers for entities that are in no segments but those without
	// constraints: each answer once, that of the most buckets first. It is shared.
	EveryoneElse []AnswerShare
	// Answer is the answer for all entities, if Constant.
	Answer   Answer
	Constant bool
	State    FlagState
	// Rounded is the index of the first threshold that is below 100 percent and takes
	// everybody who gets there all the same, or NoStep.
	Rounded int32
}

// Answer is the result of an evaluation for a client.
type Answer struct {
	Variant *Variant // of a variant flag, or nil
	Enabled bool     // of a boolean flag
	Default bool     // no rule gives it: the variant is the default one, or there is none
	Fails   bool     // a constraint has an unknown type
}

// AnswerShare is an answer for some of the buckets.
type AnswerShare struct {
	Answer
	Buckets int16
}

// same reports whether clients see no difference between the answers.
func (a Answer) same(other Answer) bool {
	return a.Variant == other.Variant && a.Enabled == other.Enabled && a.Fails == other.Fails
}

// Outlook computes the outlook of the flag.
func (f *CompiledFlag) Outlook() Outlook {
	o := Outlook{Rounded: NoStep, EveryoneElse: f.everyoneElse()}
	a := f.answers(&o)
	if !a.constant() && !f.independent() && f.analyzable() {
		a = f.reachedAnswers()
	}
	if a.constant() {
		o.Constant, o.Answer = true, a.first
	}
	o.State = f.state(a)
	return o
}

func (f *CompiledFlag) state(a answers) FlagState {
	switch {
	case f.kind == VariantFlag && f.enabled, a.some && a.constant() && a.first.Enabled:
		return OnState
	case f.kind == BooleanFlag && a.on:
		return PartlyState
	}
	return OffState
}

// answers are the answers that entities may get from a flag.
type answers struct {
	first            Answer
	some, differ, on bool // there are any, not all are the same, one is true
}

func (a *answers) add(one Answer) {
	if !a.some {
		a.first, a.some = one, true
	}
	a.differ = a.differ || !a.first.same(one)
	a.on = a.on || one.Enabled
}

// constant reports whether everybody gets the same, and it is not an error.
func (a *answers) constant() bool { return a.some && !a.differ && !a.first.Fails }

// defaultAnswer returns the answer of the flag if no rule or rollout gives one.
func (f *CompiledFlag) defaultAnswer() Answer {
	switch f.kind {
	case BooleanFlag:
		return Answer{Enabled: f.enabled}
	case VariantFlag:
		return Answer{Variant: f.defaultVariant, Default: true}
	}
	return Answer{Fails: true}
}

// answers returns the answers of all rules or rollouts that are not behind one that takes
// everybody, and that have buckets. It notes in o the first threshold that does so by rounding.
func (f *CompiledFlag) answers(o *Outlook) (a answers) {
	if f.kind == VariantFlag && f.enabled {
		for i := range f.rules {
			r := &f.rules[i]
			if r.audience.unknown {
				a.add(Answer{Fails: true})
				return a
			}
			for _, share := range f.sharesOf(r) {
				a.add(share.Answer)
			}
			if r.audience.takesAnyone() {
				return a
			}
		}
	}
	if f.kind == BooleanFlag {
		covered := 0
		for i := range f.rollouts {
			r := &f.rollouts[i]
			switch end := thresholdBuckets(r.percentage); {
			case r.audience != nil && r.audience.unknown:
				a.add(Answer{Fails: true})
				return a
			case r.audience != nil:
				a.add(Answer{Enabled: r.value})
				if r.audience.takesAnyone() {
					return a
				}
			case end > covered:
				a.add(Answer{Enabled: r.value})
				if covered = end; end == booleanBuckets {
					o.Rounded = f.rounded(r.percentage)
					return a
				}
			}
		}
	}
	a.add(f.defaultAnswer())
	return a
}

// rounded returns the index of the first threshold of the percentage, which takes everybody,
// or NoStep if it is not below 100 percent.
func (f *CompiledFlag) rounded(percentage float32) int32 {
	if percentage >= booleanBuckets {
		return NoStep
	}
	return int32(slices.IndexFunc(f.flag.Rollouts, func(r *Rollout) bool { // #nosec G115 -- a flag has fewer rollouts
		return r.Threshold != nil && r.Threshold.Percentage == percentage
	}))
}

// Limits of the flags whose reach is computed for an outlook. Of larger ones everything
// counts as possible that no earlier rule or rollout takes whole.
const (
	maxOutlookSteps      = 50
	maxOutlookConditions = 200
)

// analyzable reports whether the reach of the flag is computed.
func (f *CompiledFlag) analyzable() bool {
	n := 0
	for g := range f.segments() {
		n += len(g.conditions)
	}
	return len(f.rules)+len(f.rollouts) <= maxOutlookSteps && n <= maxOutlookConditions
}

// independent reports whether it is certain that entities may be in any combination of the
// segments of the flag, because no two constraints are about the same property, so that no
// segment occurs twice, and each may hold or not. Then everything is reached, except for the
// steps that answers leaves out. This holds for most flags, and finding it out takes much
// less than their reach.
func (f *CompiledFlag) independent() bool {
	const most = 16
	var subjects []*Constraint
	for g := range f.segments() {
		if len(subjects)+len(g.conditions) > most {
			return false
		}
		for _, c := range g.segment.Constraints {
			if slices.ContainsFunc(subjects, c.sameSubject) || !c.contingent() {
				return false
			}
			subjects = append(subjects, c)
		}
	}
	return true
}

// sameSubject reports whether the constraints are about the same property, or both about the
// entity.
func (c *Constraint) sameSubject(other *Constraint) bool {
	entity := c.Type == EntityIDComparison
	return entity == (other.Type == EntityIDComparison) && (entity || c.Property == other.Property)
}

// contingent reports whether it is certain that the constraint holds for some values and not
// for others.
func (c *Constraint) contingent() bool {
	o := operandOf(c)
	if o.problem != NoProblem {
		return false
	}
	switch c.Type {
	case StringComparison, EntityIDComparison:
		switch c.Operator {
		case OpEmpty, OpNotEmpty:
			return c.Type == StringComparison // the id of an entity is not empty
		case OpIsOneOf, OpIsNotOneOf:
			return slices.ContainsFunc(o.texts, func(text string) bool { return text != "" })
		}
		return !blank(c.Value) && strings.TrimSpace(c.Value) == c.Value
	case NumberComparison:
		switch c.Operator {
		case OpPresent, OpNotPresent:
			return true
		case OpIsOneOf, OpIsNotOneOf:
			return len(o.numbers) > 0
		}
		return !math.IsNaN(o.number) && !math.IsInf(o.number, 0)
	}
	return true
}

// segments yields the segments of the rules and rollouts, as often as they are referred to.
func (f *CompiledFlag) segments() iter.Seq[*compiledSegment] {
	return func(yield func(*compiledSegment) bool) {
		each := func(set *audience) bool {
			return set == nil || !slices.ContainsFunc(set.segments, func(g *compiledSegment) bool { return !yield(g) })
		}
		for i := range f.rules {
			if !each(f.rules[i].audience) {
				return
			}
		}
		for i := range f.rollouts {
			if !each(f.rollouts[i].audience) {
				return
			}
		}
	}
}

// reachedAnswers returns the answers of the rules, rollouts and the default that are not
// certain to be unreached.
func (f *CompiledFlag) reachedAnswers() (a answers) {
	segments := segmentIndex{}
	for g := range f.segments() {
		segments[g.segment.Key] = g // those of rules and rollouts that never match may be missing
	}
	r, _ := reachOf(context.Background(), flagState{f.flag, segments}) // it does not stop: the flag is small
	for i := range r.Steps {
		step := &r.Steps[i]
		switch {
		case step.Cause != Reached:
		case step.Fails:
			a.add(Answer{Fails: true})
		case f.kind == BooleanFlag:
			a.add(Answer{Enabled: f.flag.Rollouts[step.Index].value()})
		default:
			for _, share := range step.Shares {
				if share.Buckets() > 0 {
					a.add(Answer{Variant: f.flag.VariantByKey(share.Variant)})
				}
			}
			if step.Unassigned > 0 {
				a.add(f.defaultAnswer())
			}
		}
	}
	if r.Default.Cause == Reached {
		a.add(f.defaultAnswer())
	}
	return a
}

// value returns the value that the rollout sets.
func (r *Rollout) value() bool {
	if r.Threshold != nil {
		return r.Threshold.Value
	}
	return r.Segment != nil && r.Segment.Value
}

// takesAnyone reports whether entities that are in no segments but those without
// constraints match, and so everybody does.
func (a *audience) takesAnyone() bool {
	open := func(g *compiledSegment) bool { return len(g.conditions) == 0 }
	if a.all {
		return !slices.ContainsFunc(a.segments, func(g *compiledSegment) bool { return !open(g) })
	}
	return slices.ContainsFunc(a.segments, open)
}

// everyoneElse returns [Outlook.EveryoneElse], by the steps of [CompiledFlag.Variant] and
// [CompiledFlag.Boolean].
func (f *CompiledFlag) everyoneElse() []AnswerShare {
	if f.kind == BooleanFlag {
		return f.everyoneElseBoolean()
	}
	if f.kind == VariantFlag && f.enabled {
		for i := range f.rules {
			switch r := &f.rules[i]; {
			case r.audience.unknown:
				return []AnswerShare{{Answer{Fails: true}, variantBuckets}}
			case r.audience.takesAnyone():
				return f.sharesOf(r)
			}
		}
	}
	return []AnswerShare{{f.defaultAnswer(), variantBuckets}}
}

// sharesOf returns the answers of a rule for matching entities, by its ranges.
func (f *CompiledFlag) sharesOf(r *compiledRule) []AnswerShare {
	var shares answerShares
	covered := 0
	for _, x := range r.ranges {
		end := min(x.end, variantBuckets)
		shares.add(end-covered, Answer{Variant: f.flag.VariantByKey(x.key)})
		covered = max(covered, end)
	}
	shares.add(variantBuckets-covered, f.defaultAnswer())
	return shares.sorted()
}

func (f *CompiledFlag) everyoneElseBoolean() []AnswerShare {
	var shares answerShares
	covered, rest := 0, f.defaultAnswer()
	for i := range f.rollouts {
		r := &f.rollouts[i]
		if r.audience == nil {
			end := thresholdBuckets(r.percentage)
			shares.add(end-covered, Answer{Enabled: r.value})
			covered = max(covered, end)
			continue
		}
		if r.audience.unknown {
			rest = Answer{Fails: true}
			break
		}
		if r.audience.takesAnyone() {
			rest = Answer{Enabled: r.value}
			break
		}
	}
	shares.add(booleanBuckets-covered, rest)
	switch {
	case len(shares) > 1 || rest.Fails:
		return shares.sorted()
	case shares[0].Enabled:
		return everyoneTrue
	}
	return everyoneFalse
}

// The most frequent outlooks of boolean flags are shared.
var (
	everyoneTrue  = []AnswerShare{{Answer{Enabled: true}, booleanBuckets}}
	everyoneFalse = []AnswerShare{{Answer{Enabled: false}, booleanBuckets}}
)

// answerShares collects shares by answer.
type answerShares []AnswerShare

func (s *answerShares) add(buckets int, a Answer) {
	if buckets <= 0 {
		return
	}
	for i := range *s {
		if (*s)[i].Answer == a {
			(*s)[i].Buckets += int16(buckets) // #nosec G115 -- at most 1000
			return
		}
	}
	*s = append(*s, AnswerShare{a, int16(buckets)}) // #nosec G115 -- at most 1000
}

// sorted returns the shares, the largest first.
func (s answerShares) sorted() []AnswerShare {
	slices.SortStableFunc(s, func(a, b AnswerShare) int { return cmp.Compare(b.Buckets, a.Buckets) })
	return slices.Clip([]AnswerShare(s))
}

// Percentage returns the share in percent, for a flag of the type.
func (s AnswerShare) Percentage(t FlagType) float32 {
	return float32(s.Buckets) * 100 / float32(bucketsOfType(t))
}

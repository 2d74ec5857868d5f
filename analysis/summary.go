package analysis

import (
	"context"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/guidonhq/guidon"
)

// FlagState summarizes the behavior of a flag in one word.
type FlagState uint8

// States of flags.
const (
	OffState    FlagState = iota // a boolean flag that is true for nobody; a variant flag that is not enabled
	OnState                      // a boolean flag that is true for everybody; a variant flag that is enabled
	PartlyState                  // a boolean flag that may be true for some and not for others
)

// Summary summarizes the behavior of a flag, for lists.
type Summary struct {
	// EveryoneElse has the answers for entities that are in no segments but those without
	// constraints: each answer once, that of the most buckets first. It is shared.
	EveryoneElse []AnswerShare
	// Answer is the answer for all entities, if Constant.
	Answer   Answer
	Constant bool
	State    FlagState
	Own      FlagState // the state if other flags met what it and its rules require: what its switch turns
	Unmet    bool      // other flags give nobody what the flag itself requires
	// Rounded is the index of the first threshold that is below 100 percent and takes
	// everybody who gets there all the same, or NoStep.
	Rounded int32
}

// Answer is the result of an evaluation for a client.
type Answer struct {
	Variant *guidon.Variant // of a variant flag, or nil
	Enabled bool            // of a boolean flag
	Default bool            // no rule gives it: the variant is the default one, or there is none
	Fails   bool            // a constraint has an unknown type
}

// same reports whether clients see no difference between the answers.
func (a Answer) same(other Answer) bool {
	return a.Variant == other.Variant && a.Enabled == other.Enabled && a.Fails == other.Fails
}

// Summarize returns the summary of the flag.
func Summarize(compiled *guidon.CompiledFlag) Summary {
	f := &summarized{CompiledFlag: compiled, flag: compiled.Flag()}
	f.met, _ = meets(compiled.Requires())
	s := Summary{Rounded: NoStep, Unmet: f.met == no, EveryoneElse: f.everyoneElse()}
	a := f.possibleAnswers(&s)
	if a.constant() {
		s.Constant, s.Answer = true, a.first
	}
	s.State = f.state(a)
	if s.Own = s.State; f.flag.Linked() {
		own := &summarized{CompiledFlag: compiled, flag: f.flag, met: yes, own: true}
		s.Own = own.state(own.possibleAnswers(&Summary{}))
	}
	return s
}

// possibleAnswers returns the answers that are not certain to be given to nobody. It notes in s what
// answers does.
func (f *summarized) possibleAnswers(s *Summary) answers {
	a := f.answers(s)
	if !a.constant() && !f.independent() && f.analyzable() {
		return f.reachedAnswers()
	}
	return a
}

// summarized is the flag of a summary.
type summarized struct {
	*guidon.CompiledFlag
	flag *guidon.Flag
	met  truth // whether entities meet what the flag itself requires
	own  bool  // as if entities met what its rules require
}

func (f *summarized) state(a answers) FlagState {
	switch {
	case f.Kind() == guidon.VariantFlag && f.flag.Enabled && f.met != no, a.some && a.constant() && a.first.Enabled:
		return OnState
	case f.Kind() == guidon.BooleanFlag && a.on:
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
func (f *summarized) defaultAnswer() Answer {
	switch f.Kind() {
	case guidon.BooleanFlag:
		return Answer{Enabled: f.flag.Enabled && f.met != no}
	case guidon.VariantFlag:
		return Answer{Variant: f.flag.DefaultVariant(), Default: true}
	}
	return Answer{Fails: true}
}

// steps yields the rules or rollouts that an evaluation may get to.
func (f *summarized) steps() iter.Seq2[int, guidon.Step] {
	if f.Kind() == guidon.UnreadableFlag || f.met == no || f.Kind() == guidon.VariantFlag && !f.flag.Enabled {
		return func(func(int, guidon.Step) bool) {}
	}
	return f.Steps()
}

// answers returns the answers of all rules or rollouts that are not behind one that takes
// everybody, and that have buckets. It notes in s the first threshold that does so by rounding.
func (f *summarized) answers(s *Summary) (a answers) {
	f.addUnmet(&a)
	covered := 0
	for i, step := range f.steps() {
		if step.Audience == nil {
			t := f.Threshold(i)
			end := plainEnd(f.flag, &t)
			if t.Empty() || end > 0 && end <= covered {
				continue
			}
			covered = max(covered, end)
			a.add(Answer{Enabled: f.flag.Rollouts[i].Threshold.Value})
			if covered == guidon.FineBuckets {
				if t.Percentage < 100 {
					s.Rounded = int32(i) // #nosec G115 -- a flag has fewer rollouts
				}
				return a
			}
			continue
		}
		for _, share := range f.given(i, step) {
			a.add(share.Answer)
		}
		if step.Audience.Err() != nil || takesAnyone(step) {
			return a
		}
	}
	a.add(f.defaultAnswer())
	return a
}

// addUnmet adds the answer of the flag if a flag that it requires does not answer so.
func (f *summarized) addUnmet(a *answers) {
	switch {
	case f.met == yes:
	case f.Kind() == guidon.BooleanFlag:
		a.add(Answer{})
	default:
		a.add(f.defaultAnswer())
	}
}

// Limits of the flags whose reach is computed for a summary. Of larger ones everything
// counts as possible that no earlier rule or rollout takes whole.
const (
	maxSummarizedSteps       = 50
	maxSummarizedConstraints = 200
)

// analyzable reports whether the reach of the flag is computed.
func (f *summarized) analyzable() bool {
	n := 0
	for g := range f.segments() {
		n += len(g.Constraints())
	}
	return max(len(f.flag.Rules), len(f.flag.Rollouts)) <= maxSummarizedSteps && n <= maxSummarizedConstraints
}

// independent reports whether it is certain that entities may be in any combination of the
// segments of the flag, because no two constraints are about the same property, so that no
// segment occurs twice, and each may hold or not. Then everything is reached, except for the
// steps that answers leaves out. This holds for most flags, and finding it out takes much
// less than their reach.
func (f *summarized) independent() bool {
	const most = 16
	for _, step := range f.steps() {
		if step.Conditions != nil {
			return false
		}
	}
	var subjects []subject
	for g := range f.segments() {
		if len(subjects)+len(g.Constraints()) > most {
			return false
		}
		for _, c := range g.Segment().Constraints {
			if slices.Contains(subjects, subjectOf(c)) || !contingent(c) {
				return false
			}
			subjects = append(subjects, subjectOf(c))
		}
	}
	return true
}

// contingent reports whether it is certain that the constraint holds for some values and not
// for others, or nothing can be found out about that because it is a pattern.
func contingent(c *guidon.Constraint) bool {
	o := operandOf(c)
	switch {
	case o.problem != NoProblem || operators[c.Operator] == nil:
		return false
	case operatorOf(c).presence:
		return c.Type != guidon.EntityIDComparison // an id is not empty
	case isText(c):
		return slices.ContainsFunc(o.Texts, func(text string) bool { return text != "" && strings.TrimSpace(text) == text })
	case c.Type == guidon.ListComparison || c.Type == guidon.AddressComparison:
		return o.Len() > 0
	case c.Type == guidon.VersionComparison:
		return o.Version.Compare(leastVersion) > 0 && o.Version.Compare(largestVersion) < 0
	case c.Type == guidon.NumberComparison:
		return slices.ContainsFunc(o.Numbers, func(n float64) bool { return !math.IsNaN(n) && !math.IsInf(n, 0) })
	}
	return true
}

// Before and after these there are no versions.
var (
	leastVersion, _   = guidon.ParseVersion("0.0.0-0")
	largestVersion, _ = guidon.ParseVersion("999999999999999999.999999999999999999.999999999999999999")
)

// segments yields the segments of the rules and rollouts, as often as they are referred to.
func (f *summarized) segments() iter.Seq[*guidon.CompiledSegment] {
	return func(yield func(*guidon.CompiledSegment) bool) {
		for _, step := range f.steps() {
			if step.Audience != nil && slices.ContainsFunc(step.Audience.Segments(), func(g *guidon.CompiledSegment) bool { return !yield(g) }) {
				return
			}
		}
	}
}

// reachedAnswers returns the answers of the rules, rollouts and the default that are not
// certain to be unreached.
func (f *summarized) reachedAnswers() (a answers) {
	f.addUnmet(&a)
	r, _ := reachOf(context.Background(), f.CompiledFlag) // it does not stop: the flag is small
	for i, step := range f.steps() {
		if cause := r.Steps[i].Cause; cause != Reached && !(f.own && cause == NeverMet) {
			continue
		}
		for _, share := range f.given(i, step) {
			a.add(share.Answer)
		}
	}
	if r.Default.Cause == Reached {
		a.add(f.defaultAnswer())
	}
	return a
}

// rolloutValue returns the value that the rollout sets.
func rolloutValue(r *guidon.Rollout) bool {
	if r.Threshold != nil {
		return r.Threshold.Value
	}
	return r.Segment != nil && r.Segment.Value
}

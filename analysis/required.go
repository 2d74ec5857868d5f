package analysis

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/lists"
)

// The answer of a required flag is compared as if it were a property of the entity, with a value of
// answersOf. So what is known about text is known about answers, and flags of the same
// content give the same answers before and after a change.

// What flags answer that do not exist, or whose evaluation fails: no flag requires it.
const (
	answersNothing = "\x00nothing"
	answersError   = "\x00error"
)

// answersOf has the answers that a flag may give, each once. It is set in init because those of one
// flag depend on those of others.
var answersOf *guidon.FlagDerivation[[]string]

func init() { answersOf = guidon.NewFlagDerivation(findAnswers) }

func findAnswers(f *guidon.CompiledFlag) []string {
	d := decisions{buckets: bucketsOfType(f.Kind()), p: newPredicates(context.Background())}
	d.find(f, stepsOf(f))
	return lists.Distinct(lists.Map(d.possible(), func(one Outcome) string { return one.answer(f.Kind()) }))
}

// answersOfRequired is answersOf for a flag that may be nil.
func answersOfRequired(f *guidon.CompiledFlag) []string {
	if f == nil {
		return []string{answersNothing}
	}
	return answersOf.Of(f)
}

// possible returns the outcomes that are not behind a decision for everyone.
func (d *decisions) possible() (list []Outcome) {
	for i := range d.steps {
		s := &d.steps[i]
		if !s.threshold && s.who.isNobody() {
			continue
		}
		for _, o := range s.outcomes {
			list = append(list, o.outcome)
		}
		if s.threshold || s.who.isEveryone() {
			return list
		}
	}
	return append(list, d.fallback)
}

// answer returns the outcome as requirements name it.
func (o Outcome) answer(t guidon.FlagType) string {
	switch {
	case o.Fails:
		return answersError
	case t == guidon.BooleanFlag:
		return strconv.FormatBool(o.Enabled)
	}
	return o.VariantKey
}

// answering returns a segment of the entities for which the flag, which may be nil, gives one of the
// wanted answers.
func (p *predicates) answering(f *guidon.CompiledFlag, wanted func(answer string) bool) *guidon.CompiledSegment {
	var in, out []string
	for _, answer := range answersOfRequired(f) {
		if wanted(answer) {
			in = append(in, answer)
		} else {
			out = append(out, answer)
		}
	}
	g := &guidon.Segment{}
	switch name := p.answerName(f); {
	case len(in) == 0:
		g.Constraints = []*guidon.Constraint{hasValue(name), hasValue(name).Opposite()}
	case len(out) > 0 && slices.Max(in) > slices.Max(out): // so that the segments of two parts exclude each other, and cover all
		g.Constraints = []*guidon.Constraint{isOneOf(name, out).Opposite()}
	case len(out) > 0:
		g.Constraints = []*guidon.Constraint{isOneOf(name, in)}
	}
	return guidon.CompileSegment(g)
}

// isOneOf returns the constraint that the property has one of the answers, which as values are not empty.
func isOneOf(property string, answers []string) *guidon.Constraint {
	values := listForm(lists.Map(answers, func(answer string) string { return "=" + answer }))
	return &guidon.Constraint{Type: guidon.StringComparison, Property: property, Operator: guidon.OpIsOneOf, Value: values}
}

// answerName returns the property that has the answer of the flag, which no context has. It is
// the same for flags of the same content.
func (p *predicates) answerName(f *guidon.CompiledFlag) string {
	switch known := p.named[f]; {
	case f == nil:
		return "\x00"
	case known != "":
		return known
	}
	content := *f.Flag()
	content.Name, content.Description, content.Metadata, content.CreatedAt, content.UpdatedAt = "", "", nil, time.Time{}, time.Time{}
	used := []any{p.namesOf(f.Requires())}
	for _, s := range f.Steps() {
		if s.Audience != nil {
			used = append(used, contentsOf(s.Audience.Segments()))
		}
		if c := s.Conditions; c != nil {
			used = append(used, p.namesOf(c.Requires))
			if c.Also != nil {
				used = append(used, contentsOf(c.Also.Segments()))
			}
		}
		used = append(used, "")
	}
	text := cmp.Or(encode(content, used), fmt.Sprintf("%p", f)) // JSON has no infinite percentage
	if _, known := p.names[text]; !known {
		p.names[text] = len(p.names)
	}
	p.named[f] = fmt.Sprintf("\x00answer %d", p.names[text])
	return p.named[f]
}

func (p *predicates) namesOf(all []guidon.CompiledRequirement) []string {
	return lists.Map(all, func(r guidon.CompiledRequirement) string { return p.answerName(r.Flag) })
}

func contentsOf(segments []*guidon.CompiledSegment) []string {
	return lists.Map(segments, func(g *guidon.CompiledSegment) string { return newPredicate(g).content() })
}

// met returns the segments of the entities for which all requirements are met.
func (p *predicates) met(all []guidon.CompiledRequirement) []*guidon.CompiledSegment {
	return lists.Map(all, func(r guidon.CompiledRequirement) *guidon.CompiledSegment { return p.answering(r.Flag, r.Accepts) })
}

// meets reports whether all entities meet the requirements. If none does, unmet is the key of a flag
// that gives none of the required answers.
func meets(all []guidon.CompiledRequirement) (met truth, unmet string) {
	met = yes
	for i := range all {
		answers := answersOfRequired(all[i].Flag)
		switch refused := slices.DeleteFunc(slices.Clone(answers), all[i].Accepts); len(refused) {
		case 0:
		case len(answers):
			return no, all[i].Key
		default:
			met = unknown
		}
	}
	return met, ""
}

// addErrors adds that evaluations of entities in the audience of the rule fail if those of a required flag
// do.
func (d *decisions) addErrors(index int, audience requirement, all []guidon.CompiledRequirement) {
	for i := range all {
		d.addRequired(decision{index: index, who: d.p.and(audience, d.p.met(all[:i])...)}, all[i].Flag, isError, Outcome{Fails: true})
	}
}

// addUnmet adds the outcome of the entities for which the flag is off because it requires others.
func (d *decisions) addUnmet(all []guidon.CompiledRequirement, off Outcome) {
	for i := range all {
		unmet := func(answer string) bool { return !isError(answer) && !all[i].Accepts(answer) }
		d.addRequired(decision{index: noStep, who: everyone}, all[i].Flag, isError, Outcome{Fails: true})
		d.addRequired(decision{index: noStep, who: everyone, unmet: all[i].Key}, all[i].Flag, unmet, off)
	}
}

func isError(answer string) bool { return answer == answersError }

// addRequired adds the decision if some entities get one of the wanted answers from the flag.
func (d *decisions) addRequired(added decision, f *guidon.CompiledFlag, wanted func(answer string) bool, outcome Outcome) {
	if added.who = d.p.and(added.who, d.p.answering(f, wanted)); !added.who.isNobody() {
		added.outcomes = []outcomeRange{{d.buckets, outcome}}
		d.steps = append(d.steps, added)
	}
}

// DependentEffect is the effect on another flag, which requires the changed one, directly or not, and does
// not change itself.
type DependentEffect struct {
	FlagKey string
	*Effect
}

// maxDependents limits the flags whose effect is computed for one change.
const maxDependents = 20

// addDependents adds the effects on the flags that require the flag with the key in both states.
func (e *Effect) addDependents(ctx context.Context, before, after *guidon.Snapshot, flagKey string) error {
	if !e.Any() {
		return nil
	}
	keys := dependents(before, after, flagKey)
	if len(keys) > maxDependents {
		keys, e.Truncated = keys[:maxDependents], true
	}
	for _, key := range keys {
		effect, err := effectWithLater(ctx, before, after, key)
		if err != nil {
			return err
		}
		if effect.Any() {
			e.Dependents = append(e.Dependents, DependentEffect{key, effect})
		}
	}
	return nil
}

// dependents returns the keys of the flags that do not change themselves and require the flag with
// the key, directly or not, sorted.
func dependents(before, after *guidon.Snapshot, flagKey string) (keys []string) {
	for _, f := range before.Requiring() {
		isRequired := func(one *guidon.Flag) bool { return one.Key == flagKey }
		if f.Key != flagKey && after.Flag(f.Key) == f && slices.ContainsFunc(withRequired(before, f.Key), isRequired) {
			keys = append(keys, f.Key)
		}
	}
	slices.Sort(keys)
	return keys
}

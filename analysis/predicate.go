package analysis

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unique"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/lists"
)

// A predicate is the content of a segment, as far as it decides which entities belong to
// the segment. Segments with the same content are the same predicate, whatever their keys,
// ids, names and the order of their constraints. It is not used by evaluations.
type predicate struct {
	id      int        // in predicates.all
	any     bool       // one of the constraints is enough
	demands []demand   // that all constraints match
	holds   [][]demand // alternatives for the predicate to hold, without contradictory ones
	fails   [][]demand // the same for it not to hold
}

// predicates are the predicates of the segments of one analysis.
type predicates struct {
	all       []*predicate
	byContent map[string]*predicate
	bySegment map[*guidon.CompiledSegment]*predicate
	related   []relation // of each two predicates, by id; see relate
	work      int        // left, for comparing constraints
	stop      stop
	scratch   []demand      // memory of facts.possible
	pairs     map[pair]bool // see impossiblePair

	named map[*guidon.CompiledFlag]string // the properties of answers
	names map[string]int                  // their numbers, by the content of the flag
}

// maxRelated limits how many predicates of one analysis are compared with each other.
// Beyond it only equal ones are recognized.
const maxRelated = 100

// maxPredicateWork limits how many values one analysis compares with constraints.
const maxPredicateWork = 1_000_000

func newPredicates(ctx context.Context) *predicates {
	return &predicates{
		stop: stop{ctx: ctx, units: stopUnits}, work: maxPredicateWork,
		byContent: map[string]*predicate{}, bySegment: map[*guidon.CompiledSegment]*predicate{},
		pairs: map[pair]bool{}, named: map[*guidon.CompiledFlag]string{}, names: map[string]int{},
	}
}

// of returns the predicate of the segment, or nil if it does not exist. Once the analysis
// must stop, it does no more work, and the result means nothing.
func (p *predicates) of(c *guidon.CompiledSegment) *predicate {
	if c == nil {
		return nil
	}
	if p.stop.after(len(c.Constraints())) {
		return &predicate{}
	}
	found := p.bySegment[c]
	if found == nil {
		found = p.intern(newPredicate(c))
		p.bySegment[c] = found
	}
	return found
}

// intern returns the predicate with the content of added, which is added if there is none.
func (p *predicates) intern(added *predicate) *predicate {
	content := added.content()
	if known := p.byContent[content]; known != nil {
		return known
	}
	added.id = len(p.all)
	added.holds = slices.DeleteFunc(alternativesOf(added.demands, added.any, true), p.contradictory)
	added.fails = slices.DeleteFunc(alternativesOf(added.demands, added.any, false), p.contradictory)
	p.all = append(p.all, added)
	p.byContent[content] = added
	return added
}

func newPredicate(c *guidon.CompiledSegment) *predicate {
	found := &predicate{demands: demandsOf(c)}
	slices.SortFunc(found.demands, func(a, b demand) int { return cmp.Compare(a.content.Value(), b.content.Value()) })
	found.demands = slices.CompactFunc(found.demands, func(a, b demand) bool { return a.content == b.content })
	found.any = c.Segment().MatchType == guidon.MatchAny && len(found.demands) > 1
	return found
}

// demandsOf returns the demands that all constraints of the segment match.
func demandsOf(g *guidon.CompiledSegment) []demand {
	compiled := g.Constraints()
	list := make([]demand, len(compiled))
	for i, c := range g.Segment().Constraints {
		list[i] = newDemand(c, &compiled[i], true)
		about := subjectOf(c)
		content := fmt.Sprintf("(%v %q %d %q %q %v)", about.entity, about.property, c.Type, c.Operator, c.Value, c.Negate)
		list[i].content = unique.Make(content)
	}
	return list
}

func (p *predicate) content() string {
	var text strings.Builder
	fmt.Fprint(&text, p.any)
	for _, d := range p.demands {
		text.WriteString(d.content.Value())
	}
	return text.String()
}

// alternativesOf returns lists of demands: constraints of which either one or all must match
// hold together, or do not, if all demands of at least one list are met.
func alternativesOf(constraints []demand, either, holds bool) [][]demand {
	all := slices.Clone(constraints)
	for i := range all {
		all[i].match = holds
	}
	if either != holds {
		return [][]demand{all}
	}
	lists := make([][]demand, len(all))
	for i := range all {
		lists[i] = all[i : i+1]
	}
	return lists
}

// alternatives returns lists of demands: an entity satisfies the predicate, or does not, if
// it meets all demands of at least one of them.
func (p *predicate) alternatives(holds bool) [][]demand {
	if holds {
		return p.holds
	}
	return p.fails
}

// alwaysHolds reports whether it is certain that every entity satisfies the predicate.
func (p *predicate) alwaysHolds() bool { return len(p.fails) == 0 }

// neverHolds reports whether it is certain that no entity satisfies the predicate.
func (p *predicate) neverHolds() bool { return len(p.holds) == 0 }

// requirement is the set of predicates of a rule or rollout: all of them must hold, or
// one. It is in a normal form: all of none is everyone, and one of none is nobody.
type requirement struct {
	all bool
	of  []*predicate
}

var (
	everyone = requirement{all: true}
	nobody   = requirement{all: false}
)

func (r requirement) isNobody() bool   { return !r.all && len(r.of) == 0 }
func (r requirement) isEveryone() bool { return r.all && len(r.of) == 0 }

// requirementOf returns the requirement of a step with an audience.
func (p *predicates) requirementOf(s *step) requirement {
	var also []*guidon.CompiledSegment
	if c := s.Conditions; c != nil {
		also = p.met(c.Requires)
		if c.Portion != nil {
			also = append(also, inShare(c.Portion))
		}
		if c.Split != nil && c.Split.By != "" {
			also = append(also, guidon.CompileSegment(&guidon.Segment{Constraints: []*guidon.Constraint{hasValue(c.Split.By)}}))
		}
	}
	return p.and(p.audienceOf(s), also...)
}

// audienceOf is requirementOf without what a rule requires besides its audience.
func (p *predicates) audienceOf(s *step) requirement {
	return p.and(p.require(requirement{all: s.Audience.All()}, s.Audience.Segments()...), s.also()...)
}

// and returns the requirement that the segments match too. If r is one of several predicates, all
// that is known about it then is that it equals itself.
func (p *predicates) and(r requirement, segments ...*guidon.CompiledSegment) requirement {
	switch {
	case len(segments) == 0 || r.isNobody():
		return r
	case !r.all:
		ids := lists.Map(r.of, func(one *predicate) int { return one.id })
		slices.Sort(ids)
		one := guidon.CompileSegment(&guidon.Segment{Constraints: []*guidon.Constraint{hasValue(fmt.Sprint("\x00any", ids))}})
		r = requirement{all: true, of: []*predicate{p.of(one)}}
	}
	return p.require(r, segments...)
}

// require adds the segments to the requirement.
func (p *predicates) require(r requirement, segments ...*guidon.CompiledSegment) requirement {
	r.of = slices.Clip(r.of)
	for _, g := range segments {
		found := p.of(g)
		switch {
		case found.alwaysHolds():
			if !r.all {
				return everyone
			}
		case found.neverHolds():
			if r.all {
				return nobody
			}
		case !slices.Contains(r.of, found):
			r.of = append(r.of, found)
		}
	}
	return p.normalize(r)
}

func (p *predicates) normalize(r requirement) requirement {
	switch {
	case len(r.of) == 1:
		r.all = true
	case r.all && p.contradictory(decisive(r.of, true)):
		return nobody
	case !r.all && p.contradictory(decisive(r.of, false)):
		return everyone
	}
	return r
}

// decisive returns demands that every entity meets for which all of the predicates hold, or
// for which none does.
func decisive(predicates []*predicate, holds bool) []demand {
	var list []demand
	for _, p := range predicates {
		list = appendDecisive(list, p, holds)
	}
	return list
}

// appendDecisive appends the demands that every entity meets for which the predicate holds,
// or does not.
func appendDecisive(list []demand, p *predicate, holds bool) []demand {
	if all := p.alternatives(holds); len(all) == 1 {
		return append(list, all[0]...)
	}
	return list
}

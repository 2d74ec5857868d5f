package guidon

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A predicate is the content of a segment, as far as it decides which entities belong to
// the segment. Segments with the same content are the same predicate, whatever their keys,
// ids, names and the order of their constraints. It is not used by evaluations.
type predicate struct {
	id          int  // in predicates.all
	any         bool // one of the constraints is enough
	constraints []*claim
}

// predicates are the predicates of the segments of one analysis.
type predicates struct {
	all       []*predicate
	byContent map[string]*predicate
	bySegment map[*compiledSegment]*predicate
	related   []relation // of each two predicates, by id; see relate
}

// maxRelated limits how many predicates of one analysis are compared with each other.
// Beyond it only equal ones are recognized.
const maxRelated = 100

func newPredicates() *predicates {
	return &predicates{byContent: map[string]*predicate{}, bySegment: map[*compiledSegment]*predicate{}}
}

// of returns the predicate of the segment, or nil if it does not exist.
func (p *predicates) of(c *compiledSegment) *predicate {
	if c == nil {
		return nil
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
	p.all = append(p.all, added)
	p.byContent[content] = added
	return added
}

func newPredicate(c *compiledSegment) *predicate {
	found := &predicate{}
	for i, constraint := range c.segment.Constraints {
		found.constraints = append(found.constraints, newClaim(constraint, c.conditions[i]))
	}
	slices.SortFunc(found.constraints, func(a, b *claim) int { return cmp.Compare(a.content, b.content) })
	found.constraints = slices.CompactFunc(found.constraints, func(a, b *claim) bool { return a.content == b.content })
	found.any = c.segment.MatchType == MatchAny && len(found.constraints) > 1
	return found
}

func (p *predicate) content() string {
	var text strings.Builder
	fmt.Fprint(&text, p.any)
	for _, c := range p.constraints {
		text.WriteString(c.content)
	}
	return text.String()
}

// alternatives returns lists of constraints: an entity satisfies the predicate if it
// satisfies all constraints of at least one of them.
func (p *predicate) alternatives() [][]*claim {
	if !p.any {
		return [][]*claim{p.constraints}
	}
	lists := make([][]*claim, len(p.constraints))
	for i := range p.constraints {
		lists[i] = p.constraints[i : i+1]
	}
	return lists
}

// alwaysHolds reports whether every entity satisfies the predicate.
func (p *predicate) alwaysHolds() bool {
	if len(p.constraints) == 0 {
		return true
	}
	return p.any && complementary(p.constraints)
}

// neverHolds reports whether no entity can satisfy the predicate. False means that it is
// not known.
func (p *predicate) neverHolds() bool {
	return !slices.ContainsFunc(p.alternatives(), func(list []*claim) bool { return !contradictory(list) })
}

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

func (r requirement) isNobody() bool { return !r.all && len(r.of) == 0 }

// requirement returns the requirement of the audience.
func (p *predicates) requirement(a *audience) requirement {
	r := requirement{all: a.all}
	for _, g := range a.segments {
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
	return r.normalize()
}

func (r requirement) normalize() requirement {
	if r.all && contradictory(r.necessary()) {
		return nobody
	}
	if !r.all && complementary(r.sufficient()) {
		return everyone
	}
	if len(r.of) == 1 {
		r.all = true
	}
	return r
}

// necessary returns constraints that every entity satisfies that fulfills r, of which all
// predicates must hold.
func (r requirement) necessary() []*claim {
	var list []*claim
	for _, p := range r.of {
		if !p.any {
			list = append(list, p.constraints...)
		}
	}
	return list
}

// sufficient returns constraints each of which is enough to fulfill r, of which one
// predicate must hold.
func (r requirement) sufficient() []*claim {
	var list []*claim
	for _, p := range r.of {
		if p.any || len(p.constraints) == 1 {
			list = append(list, p.constraints...)
		}
	}
	return list
}

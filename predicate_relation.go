package guidon

import "slices"

// relation is what is known of two predicates a and b, as bits.
type relation uint8

const (
	implies  relation = 1 << iota // whatever satisfies a satisfies b
	excludes                      // nothing satisfies both
	covers                        // everything satisfies a or b
)

// relate compares all predicates with each other. It must be called once all of them have
// been added.
func (p *predicates) relate() {
	if len(p.all) > maxRelated {
		return
	}
	p.related = make([]relation, len(p.all)*len(p.all))
	work := 0
	for _, a := range p.all {
		for _, b := range p.all {
			work += 1 + len(a.constraints)*len(b.constraints)
			if work > maxRelationWork {
				return
			}
			if a != b && a.shares(b) {
				p.related[a.id*len(p.all)+b.id] = relationOf(a, b)
			}
		}
	}
}

// maxRelationWork limits how many pairs of constraints one analysis compares.
const maxRelationWork = 100_000

// relation returns what is known of two different predicates.
func (p *predicates) relation(a, b int) relation {
	if p.related == nil {
		return 0
	}
	return p.related[a*len(p.all)+b]
}

// shares reports whether some constraints of both are about the same subject.
func (p *predicate) shares(other *predicate) bool {
	return slices.ContainsFunc(p.constraints, func(a *claim) bool {
		return slices.ContainsFunc(other.constraints, func(b *claim) bool { return a.subject == b.subject })
	})
}

func relationOf(a, b *predicate) relation {
	if len(a.constraints)+len(b.constraints) > maxCompared {
		return 0
	}
	var known relation
	if a.implies(b) {
		known |= implies
	}
	if a.excludes(b) {
		known |= excludes
	}
	if (a.any || len(a.constraints) == 1) && (b.any || len(b.constraints) == 1) && complementary(slices.Concat(a.constraints, b.constraints)) {
		known |= covers
	}
	return known
}

// implies reports whether every alternative of p satisfies an alternative of b.
func (p *predicate) implies(b *predicate) bool {
	for _, have := range p.alternatives() {
		satisfies := func(want []*claim) bool {
			return !slices.ContainsFunc(want, func(c *claim) bool { return !follows(c, have) })
		}
		if !slices.ContainsFunc(b.alternatives(), satisfies) {
			return false
		}
	}
	return true
}

// follows reports whether whatever satisfies all of the list satisfies c: because it is in
// the list, or because it holds for the few values that the list leaves.
func follows(c *claim, list []*claim) bool {
	for _, have := range list {
		if have.content == c.content {
			return true
		}
		if have.subject != c.subject {
			continue
		}
		values, finite := have.candidates()
		if finite && !slices.ContainsFunc(values, func(value string) bool { return !c.holdsFor(value) }) {
			return true
		}
		if c.wantsContent() && have.needsContent() {
			return true
		}
	}
	return false
}

// excludes reports whether every alternative of p contradicts every one of b.
func (p *predicate) excludes(b *predicate) bool {
	for _, x := range p.alternatives() {
		for _, y := range b.alternatives() {
			if !contradictory(slices.Concat(x, y)) {
				return false
			}
		}
	}
	return true
}

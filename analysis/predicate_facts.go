package analysis

import (
	"slices"
)

// truth is whether something holds, as far as it is known.
type truth int8

const (
	unknown truth = iota
	yes
	no
)

func truthOf(holds bool) truth {
	if holds {
		return yes
	}
	return no
}

// facts holds the facts known about some entities: which predicates they satisfy, and which
// they do not.
type facts struct {
	predicates *predicates
	known      []truth // by id
	clauses    []clause
	size       int // of known and clauses, which copies and conclusions take
}

// clause states that at least one of the predicates holds, or that at least one does not.
type clause struct {
	of    []*predicate
	holds bool
}

func (p *predicates) facts() *facts {
	return &facts{predicates: p, known: make([]truth, len(p.all)), size: len(p.all)}
}

func (x *facts) clone() *facts {
	return &facts{x.predicates, slices.Clone(x.known), slices.Clip(x.clauses), x.size}
}

// value reports whether the entities fulfill the requirement.
func (x *facts) value(r requirement) truth {
	all := truthOf(r.all) // if every predicate has this value, so has the result
	result := all
	for _, p := range r.of {
		switch x.known[p.id] {
		case all:
		case unknown:
			result = unknown
		default:
			return x.known[p.id]
		}
	}
	return result
}

// assume adds that the entities fulfill the requirement, or that they do not. It returns
// false if no entity is left. True means that there may be some.
func (x *facts) assume(r requirement, holds bool) bool {
	if r.all != holds {
		x.clauses = append(x.clauses, clause{r.of, holds})
		x.size += 1 + len(r.of)
		return x.propagate()
	}
	for _, p := range r.of {
		if !x.set(p.id, holds) {
			return false
		}
	}
	if len(r.of) == 0 {
		return true
	}
	return x.propagate()
}

// leaves is assume, and compares the constraints of all predicates at once as well.
func (x *facts) leaves(r requirement, holds bool) bool { return x.assume(r, holds) && x.possible() }

// possible reports whether there may be such entities, by comparing the constraints of all
// predicates at once instead of two by two.
func (x *facts) possible() bool {
	p := x.predicates
	list := p.scratch[:0]
	for id, known := range x.known {
		if known != unknown {
			list = appendDecisive(list, p.all[id], known == yes)
		}
	}
	p.scratch = list
	return !p.spend(len(list)/4) || !p.contradictory(list)
}

// set adds a fact, and the facts that follow from it by the relations of the predicates.
func (x *facts) set(id int, holds bool) bool {
	if known := x.known[id]; known != unknown {
		return known == truthOf(holds)
	}
	x.known[id] = truthOf(holds)
	if x.predicates.related == nil {
		return true
	}
	for other := range x.known {
		if other == id {
			continue
		}
		ok := true
		forward, backward := x.predicates.relation(id, other), x.predicates.relation(other, id)
		switch {
		case holds && forward&implies != 0, !holds && forward&covers != 0:
			ok = x.set(other, true)
		case holds && forward&excludes != 0, !holds && backward&implies != 0:
			ok = x.set(other, false)
		}
		if !ok {
			return false
		}
	}
	return true
}

// propagate adds the facts that follow from clauses with only one unknown predicate.
func (x *facts) propagate() bool {
	for progress := true; progress; {
		progress = false
		for _, c := range x.clauses {
			open, satisfied := -1, false
			count := 0
			for _, p := range c.of {
				switch x.known[p.id] {
				case truthOf(c.holds):
					satisfied = true
				case unknown:
					open = p.id
					count++
				}
			}
			switch {
			case satisfied || count > 1:
			case count == 0 || !x.set(open, c.holds):
				return false
			default:
				progress = true
			}
		}
	}
	return true
}

// relation holds the known relations between two predicates a and b, as bits.
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
	for i, a := range p.all {
		for _, b := range p.all[i+1:] {
			forward, backward := p.relationOf(a, b)
			p.related[a.id*len(p.all)+b.id] = forward
			p.related[b.id*len(p.all)+a.id] = backward
		}
	}
}

// relation returns the known relations between two different predicates.
func (p *predicates) relation(a, b int) relation {
	if p.related == nil {
		return 0
	}
	return p.related[a*len(p.all)+b]
}

// relationOf returns the known relations between two predicates, and those in the reverse
// order.
func (p *predicates) relationOf(a, b *predicate) (forward, backward relation) {
	if p.never(a, true, b, false) {
		forward |= implies
	}
	if p.never(b, true, a, false) {
		backward |= implies
	}
	if p.never(a, true, b, true) {
		forward, backward = forward|excludes, backward|excludes
	}
	if p.never(a, false, b, false) {
		forward, backward = forward|covers, backward|covers
	}
	return forward, backward
}

// never reports whether no entity satisfies, or does not satisfy, both predicates as stated.
func (p *predicates) never(a *predicate, aHolds bool, b *predicate, bHolds bool) bool {
	for _, x := range a.alternatives(aHolds) {
		for _, y := range b.alternatives(bHolds) {
			if !p.clash(x, y) {
				return false
			}
		}
	}
	return true
}

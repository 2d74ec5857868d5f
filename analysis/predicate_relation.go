package analysis

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

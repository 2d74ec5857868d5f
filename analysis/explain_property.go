package analysis

import (
	"math/bits"
	"slices"

	"github.com/guidonhq/guidon"
)

// property is a property of the context in a [search], or the entity's id. A vector has a
// bit for each of its facts: the outcomes that a value of the property has.
type property struct {
	subject subject
	value   string // the actual one
	facts   []int32
	actual  []uint64 // vector of the actual value

	// The known values, see [search.build].
	built   bool
	exact   bool     // no other vectors are possible
	values  []string // one for each vector; the first is the actual value
	vectors []uint64

	// Of the current node.
	touched    bool
	mask, want []uint64 // the demands
	chosen     int      // index of the value, or noValue
	now        []uint64 // vector
}

// noValue is chosen for a property if it is not known whether any value meets the demands.
const noValue = -1

// words returns the length of a vector.
func (p *property) words() int { return len(p.actual) }

// add adds a fact, and returns its bit.
func (p *property) add(index int32, c *guidon.CompiledConstraint) int32 {
	bit := len(p.facts)
	if bit == 0 {
		p.facts = make([]int32, 0, 16)
	}
	p.facts = append(p.facts, index)
	if bit%64 == 0 {
		p.actual = append(p.actual, 0)
		p.now = p.actual
	}
	if c.Accepts(p.value) {
		p.actual[bit/64] |= 1 << (bit % 64)
	}
	return int32(bit) // #nosec G115 -- at most maxFacts
}

// reset removes the demands and returns to the actual outcomes.
func (p *property) reset(facts []fact) {
	for _, f := range p.facts {
		facts[f].demand = 0
	}
	clear(p.mask)
	clear(p.want)
	p.touched, p.chosen, p.now = false, 0, p.actual
}

func (p *property) vector(i int) []uint64 { return p.vectors[i*p.words() : (i+1)*p.words()] }

// differs reports whether the outcome of the fact with the bit is not the actual one.
func (p *property) differs(bit int) bool {
	return (p.now[bit/64]^p.actual[bit/64])>>(bit%64)&1 == 1
}

// difference returns how many outcomes of value i are not the actual ones, of the first
// counted facts and of all, and whether the value meets the demands.
func (p *property) difference(i, counted int) (cost, total int, meets bool) {
	for w, v := range p.vector(i) {
		if v&p.mask[w] != p.want[w] {
			return 0, 0, false
		}
		changed := v ^ p.actual[w]
		total += bits.OnesCount64(changed)
		if left := counted - 64*w; left < 64 {
			changed &= 1<<max(left, 0) - 1
		}
		cost += bits.OnesCount64(changed)
	}
	return cost, total, true
}

// changed returns how many outcomes of the first counted facts are not the actual ones.
func (p *property) changed(counted int) (n int) {
	for bit := range counted {
		if p.differs(bit) {
			n++
		}
	}
	return n
}

// build finds out which vectors the values of a property have, by comparing examples of
// values. That the entity has another id is not considered, unless entityFree is set.
func (s *search) build(p *property) {
	if p.built {
		return
	}
	p.built = true
	p.mask, p.want = make([]uint64, p.words()), make([]uint64, p.words())
	p.values, p.vectors = []string{p.value}, append([]uint64(nil), p.actual...)
	if p.exact = true; p.subject.entity && !s.entityFree {
		return
	}
	e := examples{work: s.spend}
	for _, index := range p.facts {
		f := &s.facts[index]
		o := operandOf(f.constraint)
		f.operand = &o
		e.add(f.constraint, f.operand)
	}
	candidates, candidate := e.values(), make([]uint64, p.words())
	p.values, p.vectors = slices.Grow(p.values, len(candidates)), slices.Grow(p.vectors, len(candidates)*p.words())
	for _, value := range candidates {
		if !s.vectorOf(p, value, candidate) {
			p.exact = false
			return
		}
		if !p.has(candidate) {
			p.values, p.vectors = append(p.values, value), append(p.vectors, candidate...)
		}
	}
	p.exact = e.complete() || len(p.facts) < 10 && len(p.values) == 1<<len(p.facts)
}

// vectorOf sets the vector to that of the value. It returns false if the work is done.
func (s *search) vectorOf(p *property, value string, vector []uint64) bool {
	clear(vector)
	for bit, f := range p.facts {
		if !s.spend(costOf(s.facts[f].constraint, value)) {
			return false
		}
		if s.facts[f].condition.Accepts(value) {
			vector[bit/64] |= 1 << (bit % 64)
		}
	}
	return true
}

// has reports whether the vector of a value is known.
func (p *property) has(vector []uint64) bool {
	for i := range p.values {
		if slices.Equal(p.vector(i), vector) {
			return true
		}
	}
	return false
}

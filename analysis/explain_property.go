package analysis

import (
	"slices"

	"github.com/guidonhq/guidon"
)

// property is a property of the context in a [search], or the entity's id. The outcomes that a
// value of it has are those of its facts.
type property struct {
	subject subject
	facts   []int32

	// See [search.build].
	built  bool
	exact  bool         // no other outcomes are possible than those of the known values
	values []knownValue // with different outcomes; the first is the actual value

	// Of the current node.
	touched bool
	demands []int8 // of the facts
	chosen  int    // index of the value, or noValue
	now     []bool // outcomes
}

// knownValue is a value of a property.
type knownValue struct {
	text     string
	outcomes []bool
}

// noValue is chosen for a property if it is not known whether any value meets the demands.
const noValue = -1

// add adds a fact, and returns its index.
func (p *property) add(fact int32, c *guidon.CompiledConstraint) int32 {
	actual := &p.values[0]
	p.facts, actual.outcomes = append(p.facts, fact), append(actual.outcomes, c.Accepts(actual.text))
	p.now = actual.outcomes
	return int32(len(p.facts) - 1) // #nosec G115 -- at most maxFacts
}

// reset removes the demands and returns to the actual outcomes.
func (p *property) reset(facts []fact) {
	for _, f := range p.facts {
		facts[f].demand = 0
	}
	p.touched, p.chosen, p.now = false, 0, p.values[0].outcomes
}

// differs reports whether the outcome of the fact with the index is not the actual one.
func (p *property) differs(i int) bool { return p.now[i] != p.values[0].outcomes[i] }

// difference returns how many of the outcomes are not the actual ones, of the first counted facts
// and of all, and whether they meet the demands.
func (p *property) difference(outcomes []bool, counted int) (cost, total int, meets bool) {
	actual := p.values[0].outcomes
	for i, is := range outcomes {
		if demand := p.demands[i]; demand != 0 && demand > 0 != is {
			return 0, 0, false
		}
		if is != actual[i] {
			if total++; i < counted {
				cost++
			}
		}
	}
	return cost, total, true
}

// build finds out which outcomes the values of a property have, by comparing examples of
// values. That the entity has another id is not considered, unless entityFree is set.
func (s *search) build(p *property) {
	if p.built {
		return
	}
	p.built, p.exact, p.values, p.demands = true, true, p.values[:1], make([]int8, len(p.facts))
	if p.subject.entity && !s.entityFree {
		return
	}
	e := examples{work: s.spend}
	for _, index := range p.facts {
		f := &s.facts[index]
		o := operandOf(f.constraint)
		f.operand = &o
		e.add(f.constraint, f.operand)
	}
	for _, value := range e.values() {
		outcomes, done := s.outcomesOf(p, value)
		if !done {
			p.exact = false
			return
		}
		if !slices.ContainsFunc(p.values, func(v knownValue) bool { return slices.Equal(v.outcomes, outcomes) }) {
			p.values = append(p.values, knownValue{value, outcomes})
		}
	}
	p.exact = e.complete() || len(p.facts) < 10 && len(p.values) == 1<<len(p.facts)
}

// outcomesOf returns the outcomes of the value. It returns false if there is too much work.
func (s *search) outcomesOf(p *property, value string) (outcomes []bool, done bool) {
	outcomes = make([]bool, len(p.facts))
	for i, f := range p.facts {
		if !s.spend(costOf(s.facts[f].constraint, value)) {
			return nil, false
		}
		outcomes[i] = s.facts[f].condition.Accepts(value)
	}
	return outcomes, true
}

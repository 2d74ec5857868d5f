package analysis

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/lists"
)

// Probe is an entity for which a flag can be evaluated.
type Probe struct {
	EntityID string
	Context  map[string]string
}

// Probes returns different entities for which the rules and rollouts of the flag decide
// differently: for each of them, one that most of its constraints accept, and those next to it
// on both sides of every value that a constraint compares; then some that combine such values
// at random; then, if there are shares, many ids for each of them. The same flag has the same
// probes. There are at most limit; cut reports whether there would be more, apart from ids.
//
// Probes are for comparing services that evaluate the same flag. No finite number of them
// proves that two services are equal.
func Probes(f *guidon.Flag, segments map[string]*guidon.Segment, limit int) (list []Probe, cut bool) {
	p := &probeBuilder{limit: limit, seen: make(map[string]bool), values: make(map[subject][]string)}
	steps := probeSteps(f, segments)
	for _, s := range steps {
		p.learn(s.constraints)
	}
	p.add(Probe{EntityID: p.id(), Context: map[string]string{}})
	for _, s := range steps {
		p.probe(s)
	}
	p.combine()
	p.divide(steps)
	return p.list, p.cut
}

// probeStep is a rule or a rollout.
type probeStep struct {
	constraints []*guidon.Constraint
	dividers    []subject // whose values decide who is in its shares
}

// probeSteps returns the rules and rollouts of the flag.
func probeSteps(f *guidon.Flag, segments map[string]*guidon.Segment) (list []probeStep) {
	snapshot := guidon.NewSnapshot(&guidon.Namespace{}, guidon.Revision{}, []*guidon.Flag{f}, slices.Collect(maps.Values(segments)))
	for _, s := range stepsOf(snapshot.Compiled(f.Key)) {
		one := probeStep{dividers: s.dividers()}
		for _, key := range slices.Concat(s.keys, s.stated.ExceptSegmentKeys) {
			if g := segments[key]; g != nil {
				one.constraints = append(one.constraints, g.Constraints...)
			}
		}
		for _, g := range s.stated.Groups {
			one.constraints = append(one.constraints, g.Constraints...)
		}
		list = append(list, one)
	}
	return list
}

// dividers returns the subjects whose values decide who is in the shares of the step.
func (s *step) dividers() (list []subject) {
	add := func(by string) { list = append(list, subject{entity: by == "", property: by}) }
	if c := s.Conditions; c != nil && c.Portion != nil {
		add(c.Portion.By)
	}
	if s.share != nil {
		add(s.share.By)
	}
	if s.rule != nil && slices.ContainsFunc(s.rule.Distributions, func(d *guidon.Distribution) bool { return d.Rollout < 100 }) {
		add(s.divider.By)
	}
	return lists.Distinct(list)
}

// probeBuilder builds the probes of a flag.
type probeBuilder struct {
	limit  int
	values map[subject][]string // that distinguish the constraints on it
	list   []Probe
	seen   map[string]bool
	cut    bool
	next   int // number of the next id
}

// maxProbeWork limits the work for the values of one property.
const maxProbeWork = 100_000

// learn finds values that distinguish the constraints, together with those before.
func (p *probeBuilder) learn(constraints []*guidon.Constraint) {
	about := make(map[subject][]*guidon.Constraint)
	for _, c := range constraints {
		about[subjectOf(c)] = append(about[subjectOf(c)], c)
	}
	for s, list := range about {
		left := maxProbeWork
		e := examples{work: func(units int) bool { left -= units; return left > 0 }}
		for _, c := range list {
			o := operandOf(c)
			e.add(c, &o)
		}
		p.values[s] = lists.Distinct(append(p.values[s], e.values()...))
		p.cut = p.cut || e.cut
	}
}

// probe adds the probes of one step.
func (p *probeBuilder) probe(s probeStep) {
	base := p.base(s.constraints)
	p.add(base)
	for _, about := range subjectsOf(s.constraints) {
		for _, value := range p.values[about] {
			p.add(p.with(base, about, value))
		}
		if !about.entity {
			without := maps.Clone(base.Context)
			delete(without, about.property)
			p.add(Probe{EntityID: p.id(), Context: without})
		}
	}
}

// subjectsOf returns the subjects of the constraints, in order.
func subjectsOf(constraints []*guidon.Constraint) []subject {
	return lists.Distinct(lists.Map(constraints, subjectOf))
}

// base returns an entity that as many of the constraints as possible accept.
func (p *probeBuilder) base(constraints []*guidon.Constraint) Probe {
	probe := Probe{EntityID: p.id(), Context: make(map[string]string)}
	for _, about := range subjectsOf(constraints) {
		var compiled []guidon.CompiledConstraint
		for _, c := range constraints {
			if one, known := guidon.CompileConstraint(c); known && subjectOf(c) == about {
				compiled = append(compiled, one)
			}
		}
		best, most := "", -1
		for _, value := range p.values[about] {
			n := 0
			for i := range compiled {
				if compiled[i].Accepts(value) {
					n++
				}
			}
			if n > most {
				best, most = value, n
			}
		}
		probe = p.with(probe, about, best)
	}
	return probe
}

// with returns the probe with another value.
func (p *probeBuilder) with(probe Probe, about subject, value string) Probe {
	if about.entity {
		return Probe{EntityID: value, Context: probe.Context}
	}
	probe.Context = maps.Clone(probe.Context)
	probe.Context[about.property] = value
	return probe
}

// id returns a new id, of any bucket.
func (p *probeBuilder) id() string {
	p.next++
	return fmt.Sprintf("probe-%d", p.next)
}

// combinations is how many probes with random values are made for each property.
const combinations = 20

// combine adds probes with values of all properties at random.
func (p *probeBuilder) combine() {
	subjects := slices.SortedFunc(maps.Keys(p.values), func(a, b subject) int { return strings.Compare(a.property, b.property) })
	random := rand.New(rand.NewPCG(1, uint64(len(subjects)))) // #nosec G404 -- reproducible
	for range combinations * len(subjects) {
		probe := Probe{EntityID: p.id(), Context: make(map[string]string)}
		for _, about := range subjects {
			values := p.values[about]
			if i := random.IntN(len(values) + 1); i < len(values) {
				probe = p.with(probe, about, values[i])
			}
		}
		p.add(probe)
	}
}

// probeIDs is how many ids are tried for all shares of a flag.
const probeIDs = 500

// divide adds entities that the steps with shares accept, and that differ in what divides them.
func (p *probeBuilder) divide(steps []probeStep) {
	steps = slices.DeleteFunc(steps, func(s probeStep) bool { return len(s.dividers) == 0 })
	each := min(probeIDs, p.limit-len(p.list)) / max(len(steps), 1)
	for _, s := range steps {
		base := p.base(s.constraints)
		for range each {
			for _, about := range s.dividers {
				base = p.with(base, about, p.id())
			}
			p.add(base)
		}
	}
}

// add adds a probe unless it is there, or there are too many.
func (p *probeBuilder) add(probe Probe) {
	key := fmt.Sprintf("%q %q", probe.EntityID, probe.Context)
	switch {
	case p.seen[key]:
	case len(p.list) >= p.limit:
		p.cut = true
	default:
		p.seen[key] = true
		p.list = append(p.list, probe)
	}
}

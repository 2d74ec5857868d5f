package analysis

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/guidonhq/guidon"
)

// Probe is an entity for which a flag can be evaluated.
type Probe struct {
	EntityID string
	Context  map[string]string
}

// Probes returns different entities for which the rules and rollouts of the flag decide
// differently: for each of them, one that most of its constraints accept, those next to it
// on both sides of every value that a constraint compares, and those in the first and the
// last bucket of every share; then those that two of them accept; then some that combine
// such values at random. The same flag has the same probes. There are at most limit; cut
// reports whether there would be more.
//
// Probes are for comparing services that evaluate the same flag. No finite number of them
// proves that two services are equal.
func Probes(f *guidon.Flag, segments map[string]*guidon.Segment, limit int) (list []Probe, cut bool) {
	p := &probeBuilder{flag: f, limit: limit, seen: make(map[string]bool), values: make(map[subject][]string)}
	for _, s := range p.steps(segments) {
		p.learn(s.constraints)
		p.all = append(p.all, s)
	}
	p.add(Probe{EntityID: p.entity(), Context: map[string]string{}})
	for _, s := range p.all {
		p.probe(s)
	}
	p.overlap()
	p.combine()
	return p.list, p.cut
}

// probeStep is a rule or a rollout.
type probeStep struct {
	constraints []*guidon.Constraint
	ends        []int // of its shares, in buckets
}

// probeBuilder builds the probes of a flag.
type probeBuilder struct {
	flag   *guidon.Flag
	limit  int
	all    []probeStep
	values map[subject][]string // that distinguish the constraints on it
	list   []Probe
	seen   map[string]bool
	cut    bool
	next   int            // number of the next entity
	inside map[int]string // entities by bucket
}

// steps returns the rules and rollouts.
func (p *probeBuilder) steps(segments map[string]*guidon.Segment) []probeStep {
	of := func(keys []string) (constraints []*guidon.Constraint) {
		for _, key := range keys {
			if g := segments[key]; g != nil {
				constraints = append(constraints, g.Constraints...)
			}
		}
		return constraints
	}
	var list []probeStep
	for _, r := range p.flag.Rules {
		s := probeStep{constraints: of(r.SegmentKeys)}
		end := 0
		for _, d := range r.Distributions {
			if d.Shares() {
				end += d.Buckets()
				s.ends = append(s.ends, end)
			}
		}
		list = append(list, s)
	}
	for _, r := range p.flag.Rollouts {
		switch r.Type() {
		case guidon.SegmentRollout:
			list = append(list, probeStep{constraints: of(r.Segment.SegmentKeys)})
		case guidon.ThresholdRollout:
			percentage := float64(r.Threshold.Percentage)
			list = append(list, probeStep{ends: []int{int(math.Floor(percentage)), int(math.Ceil(percentage))}})
		}
	}
	return list
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
		for _, value := range e.values() {
			if !slices.Contains(p.values[s], value) {
				p.values[s] = append(p.values[s], value)
			}
		}
		p.cut = p.cut || e.cut
	}
}

// probe adds the probes of one step.
func (p *probeBuilder) probe(s probeStep) {
	base := p.base(s.constraints)
	p.add(base)
	for _, bucket := range p.boundaries(s.ends) {
		at := base
		at.EntityID = bucket
		p.add(at)
	}
	for _, about := range subjectsOf(s.constraints) {
		for _, value := range p.values[about] {
			p.add(p.with(base, about, value))
		}
		if !about.entity {
			without := maps.Clone(base.Context)
			delete(without, about.property)
			p.add(Probe{EntityID: p.entity(), Context: without})
		}
	}
}

// subjectsOf returns the subjects of the constraints, in order.
func subjectsOf(constraints []*guidon.Constraint) []subject {
	var list []subject
	for _, c := range constraints {
		if s := subjectOf(c); !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

// base returns an entity that as many of the constraints as possible accept.
func (p *probeBuilder) base(constraints []*guidon.Constraint) Probe {
	probe := Probe{EntityID: p.entity(), Context: make(map[string]string)}
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

// entity returns a new entity, of any bucket.
func (p *probeBuilder) entity() string {
	p.next++
	return fmt.Sprintf("probe-%d", p.next)
}

// maxProbeEntities is how many entities are tried to find one for each bucket.
const maxProbeEntities = 20_000

// boundaries returns entities in the buckets on both sides of the ends, and in the first and
// the last one.
func (p *probeBuilder) boundaries(ends []int) []string {
	if len(ends) == 0 {
		return nil
	}
	count := bucketsOfType(p.flag.Type)
	if p.inside == nil {
		p.inside = make(map[int]string, count)
		for i := 0; i < maxProbeEntities && len(p.inside) < count; i++ {
			entity := fmt.Sprintf("bucket-%d", i)
			if bucket := p.flag.Bucket(entity); p.inside[bucket] == "" {
				p.inside[bucket] = entity
			}
		}
	}
	var list []string
	for _, end := range append([]int{0, count}, ends...) {
		for _, bucket := range []int{end - 1, end} {
			if entity := p.inside[bucket]; entity != "" && !slices.Contains(list, entity) {
				list = append(list, entity)
			}
		}
	}
	return list
}

// overlap adds entities that two steps accept, as far as they can agree.
func (p *probeBuilder) overlap() {
	for i, first := range p.all {
		for _, second := range p.all[i+1:] {
			if p.cut {
				return
			}
			p.add(p.base(slices.Concat(first.constraints, second.constraints)))
		}
	}
}

// combinations is how many probes with random values are made for each property.
const combinations = 20

// combine adds probes with values of all properties at random.
func (p *probeBuilder) combine() {
	subjects := slices.SortedFunc(maps.Keys(p.values), func(a, b subject) int { return strings.Compare(a.property, b.property) })
	random := rand.New(rand.NewPCG(1, uint64(len(subjects)))) // #nosec G404 -- reproducible
	for range combinations * len(subjects) {
		probe := Probe{EntityID: p.entity(), Context: make(map[string]string)}
		for _, about := range subjects {
			values := p.values[about]
			if i := random.IntN(len(values) + 1); i < len(values) {
				probe = p.with(probe, about, values[i])
			}
		}
		p.add(probe)
	}
}

// add adds a probe unless it is there, or there are too many.
func (p *probeBuilder) add(probe Probe) {
	var key strings.Builder
	fmt.Fprintf(&key, "%q", probe.EntityID)
	for _, name := range slices.Sorted(maps.Keys(probe.Context)) {
		fmt.Fprintf(&key, " %q=%q", name, probe.Context[name])
	}
	switch {
	case p.seen[key.String()]:
	case len(p.list) >= p.limit:
		p.cut = true
	default:
		p.seen[key.String()] = true
		p.list = append(p.list, probe)
	}
}

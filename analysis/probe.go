package analysis

import (
	"cmp"
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
// differently: for each of them, one that most of its constraints accept, those next to it
// on both sides of every value that a constraint compares, and those in the first and the
// last bucket of every share; then those that two of them accept; then some that combine
// such values at random. The same flag has the same probes. There are at most limit; cut
// reports whether there would be more.
//
// Probes are for comparing services that evaluate the same flag. No finite number of them
// proves that two services are equal.
func Probes(f *guidon.Flag, segments map[string]*guidon.Segment, limit int) (list []Probe, cut bool) {
	p := &probeBuilder{flag: f, limit: limit, seen: make(map[string]bool),
		values: make(map[subject][]string), inside: make(map[guidon.Bucketer][]placed)}
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
	shares      []probeShares
}

// probeShares are the ends of shares.
type probeShares struct {
	guidon.Bucketer
	ends []int
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
	next   int // number of the next entity
	inside map[guidon.Bucketer][]placed
}

// steps returns the rules and rollouts.
func (p *probeBuilder) steps(segments map[string]*guidon.Segment) (list []probeStep) {
	snapshot := guidon.NewSnapshot(&guidon.Namespace{}, guidon.Revision{}, []*guidon.Flag{p.flag}, slices.Collect(maps.Values(segments)))
	for _, s := range stepsOf(snapshot.Compiled(p.flag.Key)) {
		one := probeStep{}
		for _, key := range slices.Concat(s.keys, s.stated.ExceptSegmentKeys) {
			if g := segments[key]; g != nil {
				one.constraints = append(one.constraints, g.Constraints...)
			}
		}
		for _, g := range s.stated.Groups {
			one.constraints = append(one.constraints, g.Constraints...)
		}
		one.shares = p.sharesOf(&s)
		list = append(list, one)
	}
	return list
}

// sharesOf returns the shares of the step.
func (p *probeBuilder) sharesOf(s *step) (list []probeShares) {
	if c := s.Conditions; c != nil && c.Portion != nil {
		list = append(list, probeShares{c.Portion.Bucketer, []int{c.Portion.Start, c.Portion.End}})
	}
	switch {
	case s.share != nil:
		list = append(list, probeShares{s.share.Bucketer, []int{s.share.Start, s.share.End}})
	case s.rule != nil: // whose variants need not be known
		shares, sum := probeShares{Bucketer: s.divider}, guidon.BucketSum{Fine: s.divider.Buckets() == guidon.FineBuckets}
		for _, d := range s.rule.Distributions {
			if d.Shares() {
				shares.ends = append(shares.ends, sum.Add(d))
			}
		}
		if len(shares.ends) > 0 {
			list = append(list, shares)
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
		p.values[s] = lists.Distinct(append(p.values[s], e.values()...))
		p.cut = p.cut || e.cut
	}
}

// probe adds the probes of one step.
func (p *probeBuilder) probe(s probeStep) {
	base := p.base(s.constraints)
	p.add(base)
	for _, shares := range s.shares {
		about := subject{entity: shares.By == "", property: shares.By}
		for _, value := range p.boundaries(&shares) {
			p.add(p.with(base, about, value))
		}
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
	return lists.Distinct(lists.Map(constraints, subjectOf))
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

// maxProbeEntities is how many values are tried to find one for each bucket.
const maxProbeEntities = 20_000

// placed is a value in its bucket.
type placed struct {
	bucket int
	value  string
}

// boundaries returns values in the buckets on both sides of the ends, or close to them, and in
// the first and the last one.
func (p *probeBuilder) boundaries(shares *probeShares) (list []string) {
	all := p.placed(shares.Bucketer)
	for _, end := range append([]int{0, shares.Buckets()}, shares.ends...) {
		i, _ := slices.BinarySearchFunc(all, end, func(v placed, bucket int) int { return cmp.Compare(v.bucket, bucket) })
		for _, v := range all[max(i-1, 0):min(i+1, len(all))] {
			if !slices.Contains(list, v.value) {
				list = append(list, v.value)
			}
		}
	}
	return list
}

// placed returns values in order of their buckets, at most one for each bucket.
func (p *probeBuilder) placed(b guidon.Bucketer) []placed {
	if p.inside[b] == nil {
		all, seen := []placed(nil), make(map[int]bool)
		for i := 0; i < maxProbeEntities && len(all) < b.Buckets(); i++ {
			value := fmt.Sprintf("bucket-%d", i)
			if bucket := b.Bucket(value); !seen[bucket] {
				seen[bucket] = true
				all = append(all, placed{bucket, value})
			}
		}
		slices.SortFunc(all, func(a, b placed) int { return cmp.Compare(a.bucket, b.bucket) })
		p.inside[b] = all
	}
	return p.inside[b]
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

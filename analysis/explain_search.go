package analysis

import (
	"slices"

	"github.com/guidonhq/guidon"
)

// search searches for contexts with which the entity gets another result, by changing as few
// outcomes of constraints as possible.
//
// It starts from the outcomes as they are. If they violate a goal (a step must match,
// or an earlier one must not), at least one of some outcomes must be different. Each of them
// is tried, so demands on outcomes accumulate. All outcomes of constraints on a property
// follow from its value, so demands are met by all outcomes together that some value is
// known to have. The cost of demands is the number of outcomes that differ at least. The
// cheapest demands are tried first, so the first ones that violate nothing are the smallest.
type search struct {
	x          *explainer
	facts      []fact
	properties []property
	steps      []searchStep // up to end
	end        int          // index of the first step after which none is tried, whatever the context, or the number of steps
	entityFree bool         // the entity may be another one
	hashes     bool         // buckets, or answers of required flags, depend on the context: the outcome of a share may change with it
	work       int          // left
	limited    bool

	// Of one run.
	nodes   []node
	queue   []int32 // by cost: the node to be tried first, see node.next; -1 for none
	touched []int32 // properties that the current node has demands on
	guessed bool    // values were chosen for a property whose possible outcomes are not all known
	open    bool    // a goal is met if the demands on some property can be, which is not known
}

// fact is a constraint whose outcome is searched for. Constraints that compare the same
// property in the same way are one fact, unless one of them is negated.
type fact struct {
	constraint *guidon.Constraint
	condition  *guidon.CompiledConstraint
	operand    *operand // set once the property is built
	segment    string   // key of the first segment that has it
	exception  bool     // that segment must not match, so its constraint is the opposite
	property   int32    // index
	index      int32    // among the facts of the property
	demand     int8     // of the current node: 1 to match, -1 not to match, 0 for none
}

// demanded returns the demand that the fact has the outcome.
func (f *fact) demanded(match bool) demand {
	return demand{constraint: f.constraint, condition: f.condition, operand: f.operand, match: match}
}

// searchStep has the sets of segments of a step that must match, and none for one that does not
// depend on the context.
type searchStep struct {
	sets  []searchSet
	facts int // how many facts there are up to this step
}

// searchSet are segments of which all must match, or one.
type searchSet struct {
	segments []*searchSegment
	all      bool
}

type searchSegment struct {
	key   string
	any   bool
	facts []int32
}

// node has the demands of its parent, and that the fact choices[choice] has the outcome want
// while those before it have the opposite.
type node struct {
	parent  int32 // or -1
	goal    int32 // index
	choices []int32
	choice  int32
	next    int32 // of the same cost in the queue, or -1
	want    bool
}

// goal requires that the steps in [from, to) do not match and, if match is the index of a
// step, that this one does.
type goal struct{ from, to, match int }

// finding is the result of a run.
type finding struct {
	verdict  Verdict
	goal     goal // that is met, if the verdict is Reachable
	smallest bool
}

func newSearch(x *explainer) *search {
	s := &search{x: x, work: explainWork}
	s.findEnd()
	s.collect()
	return s
}

// spend takes units of work. It returns false if there are not enough.
func (s *search) spend(units int) bool {
	s.work -= units
	if s.work < 0 {
		s.limited = true
	}
	return s.work >= 0
}

func (s *search) findEnd() {
	s.hashes = readContext(s.x.compiled.Requires())
	for i := range s.x.steps {
		t := &s.x.steps[i]
		s.hashes = s.hashes || t.hashesProperty()
		if s.stops(t) || t.fails() || s.takes(t) {
			s.end = i
			return
		}
	}
	s.end = len(s.x.steps)
}

// stops reports whether the step is a threshold that has the entity.
func (s *search) stops(t *step) bool { return t.share != nil && t.share.Has(s.x.entityID, s.x.context) }

// takes reports whether the step matches whatever the context.
func (s *search) takes(t *step) bool {
	return t.Audience != nil && s.x.admits(t) && isOpen(t.Step) && !t.hashesProperty()
}

// canStop reports whether step i, which is not after the end, can decide the result.
func (s *search) canStop(i int) bool {
	t := &s.x.steps[i]
	if t.Audience == nil {
		return s.stops(t)
	}
	return !t.fails() && s.x.admits(t)
}

// collect finds the facts of the steps up to the end.
func (s *search) collect() {
	s.steps = make([]searchStep, min(s.end+1, len(s.x.steps)))
	known := make(map[*guidon.CompiledSegment]*searchSegment, len(s.steps))
	for i := range s.steps {
		if t := &s.x.steps[i]; t.Audience != nil && s.canStop(i) {
			s.addSet(&s.steps[i], t.Audience, known)
			if c := t.Conditions; c != nil && c.Also != nil {
				s.addSet(&s.steps[i], c.Also, known)
			}
		}
		s.steps[i].facts = len(s.facts)
		if s.limited {
			return
		}
	}
}

func (s *search) addSet(step *searchStep, a *guidon.Audience, known map[*guidon.CompiledSegment]*searchSegment) {
	set := searchSet{segments: make([]*searchSegment, len(a.Segments())), all: a.All()}
	for n, g := range a.Segments() {
		if known[g] == nil {
			known[g] = &searchSegment{}
			s.collectSegment(known[g], g)
		}
		set.segments[n] = known[g]
	}
	if len(set.segments) > 0 {
		step.sets = append(step.sets, set)
	}
}

func (s *search) collectSegment(segment *searchSegment, g *guidon.CompiledSegment) {
	segment.key, segment.any = g.Segment().Key, g.Segment().MatchType == guidon.MatchAny
	if len(s.facts)+len(g.Constraints()) > maxFacts || !s.spend(len(g.Constraints())) {
		s.limited = true
		return
	}
	segment.facts = make([]int32, len(g.Constraints()))
	for i := range segment.facts {
		segment.facts[i] = s.factOf(g, i)
	}
}

// factOf returns the index of the fact for a constraint of the segment.
func (s *search) factOf(g *guidon.CompiledSegment, constraint int) int32 {
	c, condition := g.Segment().Constraints[constraint], &g.Constraints()[constraint]
	property := s.propertyOf(c)
	p := &s.properties[property]
	s.spend((len(s.properties) + len(p.facts)) / 32)
	for _, f := range p.facts {
		if known := s.facts[f].constraint; comparesAs(known, c) && known.Negate == c.Negate {
			return f
		}
	}
	index := int32(len(s.facts)) // #nosec G115 -- at most maxFacts
	s.facts = append(s.facts, fact{
		constraint: c, condition: condition, segment: g.Segment().Key, exception: g.IsException(), property: property, index: p.add(index, condition),
	})
	return index
}

// propertyOf returns the index of the property that the condition compares.
func (s *search) propertyOf(c *guidon.Constraint) int32 {
	about := subjectOf(c)
	for i := range s.properties {
		if s.properties[i].subject == about {
			return int32(i) // #nosec G115 -- at most maxFacts
		}
	}
	actual := s.x.entityID
	if !about.entity {
		actual = s.x.context[about.property]
	}
	s.properties = append(s.properties, property{subject: about, values: []knownValue{{text: actual}}})
	return int32(len(s.properties) - 1) // #nosec G115 -- at most maxFacts
}

// run searches for the smallest set of outcomes to change so that one of the goals is
// met. If it finds one, the properties have the outcomes.
func (s *search) run(goals ...goal) finding {
	s.nodes, s.queue, s.guessed, s.open = s.nodes[:0], s.queue[:0], false, false
	for i := len(goals) - 1; i >= 0; i-- { // among equal ones the first is tried first
		s.push(node{parent: -1, goal: int32(i)}, goals, 0) // #nosec G115 -- at most MaxExplainedSteps
	}
	for cost := 0; cost < len(s.queue); cost++ {
		for s.queue[cost] >= 0 && !s.limited {
			index := s.queue[cost]
			s.queue[cost] = s.nodes[index].next
			required := goals[s.nodes[index].goal]
			s.apply(index, s.scope(required))
			choices, want, violated := s.violation(required)
			if !violated && !s.limited {
				if !s.assumed() {
					return finding{Reachable, required, !s.guessed}
				}
				s.open = true
			}
			for i := range choices {
				// #nosec G115 -- at most maxFacts
				s.push(node{parent: index, goal: s.nodes[index].goal, choices: choices, choice: int32(i), want: want}, goals, cost)
			}
		}
	}
	if s.limited || s.open {
		return finding{verdict: Undecided}
	}
	return finding{verdict: Impossible}
}

// nodeWork is the work of one node besides that of its outcomes. It limits the number of nodes.
const nodeWork = 10

// push adds a node to the queue, unless nothing meets its demands. It costs at least as much as
// its parent, for which a value may have been missing that it has.
func (s *search) push(n node, goals []goal, least int) {
	if !s.spend(nodeWork) {
		return
	}
	index := int32(len(s.nodes)) // #nosec G115 -- limited by nodeWork
	s.nodes = append(s.nodes, n)
	cost, ok := s.apply(index, s.scope(goals[n.goal]))
	if !ok {
		s.nodes = s.nodes[:index]
		return
	}
	cost = max(cost, least)
	for len(s.queue) <= cost {
		s.queue = append(s.queue, -1)
	}
	s.nodes[index].next, s.queue[cost] = s.queue[cost], index
}

// scope returns the number of facts whose outcomes count for the goal: those of the
// steps that are tried.
func (s *search) scope(r goal) int {
	if last := min(max(r.to-1, r.match), len(s.steps)-1); last >= 0 {
		return s.steps[last].facts
	}
	return 0
}

// apply chooses the outcomes of all properties so that they meet the demands of the node. It
// returns how many outcomes of the facts in scope are different, or false if nothing meets
// the demands.
func (s *search) apply(index int32, scope int) (cost int, ok bool) {
	for _, p := range s.touched {
		s.properties[p].reset(s.facts)
	}
	s.touched = s.touched[:0]
	for index >= 0 {
		n := &s.nodes[index]
		index = n.parent
		if len(n.choices) == 0 {
			continue
		}
		s.require(n.choices[n.choice], n.want)
		for _, f := range n.choices[:n.choice] {
			s.require(f, !n.want)
		}
	}
	for _, i := range s.touched {
		c, ok := s.choose(&s.properties[i], scope)
		if !ok {
			return 0, false
		}
		cost += c
	}
	return cost, true
}

// require adds a demand on the fact.
func (s *search) require(index int32, match bool) {
	f := &s.facts[index]
	if f.demand = -1; match {
		f.demand = 1
	}
	if p := &s.properties[f.property]; !p.touched {
		p.touched = true
		s.touched = append(s.touched, f.property)
	}
}

// choose makes the outcomes of the property those that meet the demands on it and differ
// least from the actual ones: first among the facts in scope, then among all.
func (s *search) choose(p *property, scope int) (cost int, ok bool) {
	s.build(p)
	const together = 64 // outcomes, which are compared in about one unit of work
	if !s.spend(len(p.facts) + len(p.values)*((len(p.facts)+together-1)/together)) {
		return 0, false
	}
	counted := 0 // facts in scope
	for n, index := range p.facts {
		if int(index) < scope {
			counted = n + 1
		}
		p.demands[n] = s.facts[index].demand
	}
	best, bestTotal := -1, 0
	for i, v := range p.values {
		c, total, meets := p.difference(v.outcomes, counted)
		if meets && (best < 0 || c < cost || c == cost && total < bestTotal) {
			best, cost, bestTotal = i, c, total
		}
	}
	if best < 0 && p.exact {
		return 0, false
	}
	s.guessed = s.guessed || !p.exact
	if best < 0 {
		return s.extend(p, counted)
	}
	p.chosen, p.now = best, p.values[best].outcomes
	return cost, true
}

// extend makes the outcomes of the property those that meet the demands on it, if no known
// value does. It returns false if it is certain that no other value does either.
func (s *search) extend(p *property, counted int) (cost int, ok bool) {
	var demands []demand
	for _, index := range p.facts {
		if f := &s.facts[index]; f.demand != 0 {
			demands = append(demands, f.demanded(f.demand > 0))
		}
	}
	value, possible := satisfy(demands, s.spend)
	var outcomes []bool
	known := false
	switch possible {
	case no:
		return 0, false
	case yes:
		outcomes, known = s.outcomesOf(p, value)
	}
	if known {
		p.values = append(p.values, knownValue{value, outcomes})
		p.chosen, p.now = len(p.values)-1, outcomes
	} else {
		s.assume(p, demands)
	}
	for i := range counted {
		if p.differs(i) {
			cost++
		}
	}
	return cost, true
}

// assume makes the outcomes of the property those that are demanded, and otherwise the
// actual ones or, if these are certain to be impossible then, the opposite.
func (s *search) assume(p *property, demands []demand) {
	p.chosen, p.now = noValue, make([]bool, len(p.facts))
	for i, index := range p.facts {
		f := &s.facts[index]
		if f.demand != 0 {
			p.now[i] = f.demand > 0
			continue
		}
		demands = append(demands, f.demanded(p.values[0].outcomes[i]))
		last := &demands[len(demands)-1]
		if _, possible := satisfy(demands, s.spend); possible == no {
			last.match = !last.match
		}
		p.now[i] = last.match
	}
}

// assumed reports whether the demands on a property are assumed to be met.
func (s *search) assumed() bool {
	return slices.ContainsFunc(s.touched, func(i int32) bool { return s.properties[i].chosen == noValue })
}

// holds returns the outcome of the fact.
func (s *search) holds(index int32) bool {
	f := &s.facts[index]
	return s.properties[f.property].now[f.index]
}

// violation returns outcomes of which at least one must be different, and which: those that
// do not match must, or the reverse. It returns false if the outcomes meet the goal.
func (s *search) violation(r goal) (choices []int32, want, violated bool) {
	if r.match < len(s.steps) && r.match >= 0 {
		if step := &s.steps[r.match]; len(step.sets) > 0 && !s.stepHolds(step) {
			unmet := slices.IndexFunc(step.sets, func(set searchSet) bool { return !s.setHolds(set) })
			return s.free(s.vary(nil, step.sets[unmet], true)), true, true
		}
	}
	for i := r.from; i < r.to; i++ {
		if step := &s.steps[i]; len(step.sets) > 0 && s.stepHolds(step) {
			for _, set := range step.sets {
				choices = s.vary(choices, set, false)
			}
			return s.free(choices), false, true
		}
	}
	return nil, false, false
}

// free returns those of the facts that have no demands. The others have the outcome that was
// demanded.
func (s *search) free(facts []int32) []int32 {
	s.spend(len(facts))
	return slices.DeleteFunc(facts, func(f int32) bool { return s.facts[f].demand != 0 })
}

func (s *search) stepHolds(step *searchStep) bool {
	return !slices.ContainsFunc(step.sets, func(set searchSet) bool { return !s.setHolds(set) })
}

func (s *search) setHolds(set searchSet) bool {
	for _, g := range set.segments {
		if s.segmentHolds(g) != set.all {
			return !set.all
		}
	}
	return set.all
}

func (s *search) segmentHolds(g *searchSegment) bool {
	s.spend(1 + len(g.facts))
	if len(g.facts) == 0 {
		return true
	}
	for _, f := range g.facts {
		if s.holds(f) == g.any {
			return g.any
		}
	}
	return !g.any
}

// vary adds the facts of which at least one must have another outcome so that a set of segments
// matches that does not, or the reverse.
func (s *search) vary(choices []int32, set searchSet, match bool) []int32 {
	for _, g := range set.segments {
		if s.segmentHolds(g) == match {
			continue
		}
		facts := g.facts
		if g.any != match {
			facts = s.first(g, !match)
		}
		if choices = append(choices, facts...); set.all == match {
			break
		}
	}
	return choices
}

// first returns the first fact of the segment with the outcome, as a list.
func (s *search) first(g *searchSegment, outcome bool) []int32 {
	for i, f := range g.facts {
		if s.holds(f) == outcome {
			return g.facts[i : i+1]
		}
	}
	return nil
}

// changes returns the changes that a run has found.
func (s *search) changes(f finding) []PropertyChange {
	scope := s.scope(f.goal)
	changes := make([]PropertyChange, 0, len(s.touched))
	for i := range s.properties {
		p := &s.properties[i]
		if !p.touched {
			continue
		}
		change := PropertyChange{Property: p.subject.name(), Actual: p.values[0].text, Example: p.values[p.chosen].text}
		for n, index := range p.facts {
			if f := &s.facts[index]; int(index) < scope && p.differs(n) {
				outcome := OutcomeChange{SegmentKey: f.segment, Constraint: f.constraint, Match: s.holds(index)}
				if f.exception {
					outcome.Constraint, outcome.Match = f.constraint.Opposite(), !outcome.Match
				}
				change.Outcomes = append(change.Outcomes, outcome)
			}
		}
		if len(change.Outcomes) > 0 {
			changes = append(changes, change)
		}
	}
	return changes
}

package analysis

import (
	"cmp"
	"context"
	"slices"

	"github.com/guidonhq/guidon"
)

// Effect describes how the outcomes of users change when one state of a flag replaces
// another: which share of them gets another outcome, and which. It is computed from the
// buckets of the engine and holds exactly. The number of users in a group of [EffectGroup]
// is not known, because it depends on the contexts of their evaluations.
type Effect struct {
	Type        guidon.FlagType // after the change, or before if the flag is deleted
	Buckets     int             // of the type; the counts of buckets below are of so many
	TypeChanged bool            // every evaluation of the former type fails; there are no groups
	Steps       []StepPair
	Groups      []EffectGroup // those in which some entities get another outcome
	Everyone    *Outcome      // the value that all entities have after the change; nil if they differ, or may fail
	Truncated   bool          // there may be more groups, or dependents
	Later       []LaterEffect // at the next boundaries, each that differs from the one before
	Dependents  []DependentEffect
	Conditional bool // there are rules with conditions besides segments, or the flag requires others
}

// StepPair is a rule or rollout by its index before and after the change. NoStep stands
// for one that does not exist.
type StepPair struct{ Before, After int }

// NoStep is the index of no rule or rollout: the default decides, or there is none.
const NoStep = noStep

// EffectGroup are the entities for whom the same rule or rollout with segments matches
// first before the change, and the same after it.
type EffectGroup struct {
	Before, After int // its index, or NoStep if none matches
	Who           Membership
	// RemovedSegments are the keys of the segments of the rule or rollout before, if it no
	// longer exists.
	RemovedSegments []string
	// ChangedSegments are the keys of the segments that the membership depends on, and
	// that do not match the same entities as before. The group then consists of those that
	// matched before as Before says, and match now as After says.
	ChangedSegments []string
	Unchanged       int // buckets whose outcome stays
	Moves           []Move
	Part            string // of the entities that match the rule after, in words, such as " and are in its 20%"; empty for all
	// UnmetBefore and UnmetAfter are the keys of the required flags because of which the flag is off for
	// them, or empty.
	UnmetBefore, UnmetAfter string
}

// Membership says which entities are known to belong to a group.
type Membership uint8

// Memberships.
const (
	Everyone       Membership = iota // all entities
	ByContext                        // the entities whose contexts match
	ByChangedMatch                   // as ByContext, and it depends on segments that changed
)

// Move is a share of a group that gets another outcome. For a boolean flag, that is another
// value; for a variant flag, match and reason count too.
type Move struct {
	Buckets  int           // the sum of Ranges
	Ranges   []BucketRange // ascending
	From, To Outcome
	// FromStep and ToStep are the indexes of the rule or rollout that decides, or NoStep
	// for the default.
	FromStep, ToStep int
}

// BucketRange are the buckets from Start to before End.
type BucketRange struct{ Start, End int }

// EffectOf returns the effect on the users of the flag if the state before is replaced
// by after, such as one that [guidon.Snapshot.Apply] has made of it, at the same time. The flag may
// exist in only one of them. The error is that of the context.
func EffectOf(ctx context.Context, before, after *guidon.Snapshot, flagKey string) (*Effect, error) {
	e, err := effectWithLater(ctx, before, after, flagKey)
	if err == nil {
		err = e.addDependents(ctx, before, after, flagKey)
	}
	return e, err
}

func effectWithLater(ctx context.Context, before, after *guidon.Snapshot, flagKey string) (*Effect, error) {
	e, err := effectOf(ctx, before, after, flagKey)
	if err == nil {
		err = e.later(ctx, before, after, flagKey)
	}
	return e, err
}

// Any reports whether something may change for users.
func (e *Effect) Any() bool {
	return e.TypeChanged || len(e.Groups) > 0 || e.Truncated || len(e.Later) > 0 || len(e.Dependents) > 0
}

func effectOf(ctx context.Context, before, after *guidon.Snapshot, flagKey string) (*Effect, error) {
	have, want := before.Flag(flagKey), after.Flag(flagKey)
	e := &Effect{}
	if f := cmp.Or(want, have); f != nil {
		e.Type = f.Type
	}
	e.Buckets = bucketsOfType(e.Type)
	if have != nil && want != nil {
		e.TypeChanged = have.Type != want.Type
		e.Steps = pairSteps(have, want)
	}
	if e.TypeChanged || have == nil && want == nil {
		return e, nil
	}
	if err := e.compare(ctx, before, after, flagKey); err != nil {
		return nil, err
	}
	return e, nil
}

func (e *Effect) compare(ctx context.Context, before, after *guidon.Snapshot, flagKey string) error {
	p := newPredicates(ctx)
	c := &comparison{effect: e, work: maxEffectWork, stop: &p.stop}
	c.decide(before.Compiled(flagKey), after.Compiled(flagKey), p)
	c.changed = changedSegments(before, after, flagKey, p)
	p.relate()
	if p.stop.err == nil {
		c.run(p.facts())
	}
	if p.stop.err != nil {
		return p.stop.err
	}
	if c.leaves == 1 && !e.Truncated && len(e.Groups) == 1 {
		e.Groups[0].Who, e.Groups[0].ChangedSegments = Everyone, nil
	}
	if !e.Truncated && len(c.outcomes) == 1 && !c.outcomes[0].Fails {
		e.Everyone = &c.outcomes[0]
	}
	return nil
}

// decide finds the decisions of both states of a flag, of which one may be nil, in the same
// dimension.
func (c *comparison) decide(before, after *guidon.CompiledFlag, p *predicates) {
	var shares dimensions
	var steps [2][]step
	var own dimension
	for i, f := range []*guidon.CompiledFlag{before, after} {
		if f != nil {
			steps[i], own = stepsOf(f), ownDimension(f.Flag())
			shares.add(f.Flag(), steps[i])
			shares.addRequired(f)
			c.effect.Conditional = c.effect.Conditional || slices.ContainsFunc(steps[i], step.conditional) || len(f.Requires()) > 0
		}
	}
	d := decisions{buckets: c.effect.Buckets, p: p}
	if main, counted := shares.main(own); counted {
		if d.dimension = &main; shares.fine {
			d.buckets = guidon.FineBuckets
		}
	}
	c.effect.Buckets = d.buckets
	c.before, c.after = new(d), new(d)
	c.before.find(before, steps[0])
	c.after.find(after, steps[1])
}

// changedSegments returns the keys of the segments of the flag that do not match the same
// entities in both states.
func changedSegments(before, after *guidon.Snapshot, flagKey string, p *predicates) map[string]bool {
	changed := map[string]bool{}
	for _, f := range []*guidon.Flag{before.Flag(flagKey), after.Flag(flagKey)} {
		if f == nil {
			continue
		}
		for key := range f.SegmentKeys() {
			if p.of(before.CompiledSegment(key)) != p.of(after.CompiledSegment(key)) {
				changed[key] = true
			}
		}
	}
	return changed
}

// Limits of the work for one effect.
const (
	maxEffectWork  = 1_000_000 // predicates examined
	maxEffectMoves = 2_000     // in all groups
)

// comparison finds the groups of an effect.
type comparison struct {
	effect        *Effect
	before, after *decisions
	changed       map[string]bool
	work          int // left
	stop          *stop
	leaves        int       // groups found, including those without moves
	outcomes      []Outcome // after the change, at most one of each value
	moves         int
}

// run visits every combination of a first match before and a first match after the change
// that some entity may have.
func (c *comparison) run(x *facts) {
	for i := 0; i <= len(c.before.steps); i++ {
		if i == len(c.before.steps) {
			c.walkAfter(i, x)
			return
		}
		s := &c.before.steps[i]
		if s.threshold {
			continue
		}
		if !c.spend(x.size + len(s.who.of)) {
			return
		}
		if matching := x.clone(); matching.assume(s.who, true) {
			c.walkAfter(i, matching)
		}
		if !x.assume(s.who, false) {
			return
		}
	}
}

// walkAfter visits the first matches after the change of those that x is about.
func (c *comparison) walkAfter(i int, x *facts) {
	for j := range c.after.steps {
		s := &c.after.steps[j]
		if s.threshold {
			continue
		}
		if !c.spend(1 + len(s.who.of)) {
			return
		}
		switch x.value(s.who) {
		case yes:
			c.visit(i, j)
			return
		case no:
			continue
		}
		if !c.spend(x.size) {
			return
		}
		if x.clone().assume(s.who, true) {
			c.visit(i, j)
		}
		if !x.assume(s.who, false) {
			return
		}
	}
	c.visit(i, len(c.after.steps))
}

func (c *comparison) spend(work int) bool {
	c.work -= work
	if c.work < 0 || c.stop.after(work) {
		c.effect.Truncated = true
	}
	return !c.effect.Truncated
}

// visit adds the group of the steps, unless nothing changes for it.
func (c *comparison) visit(i, j int) {
	c.leaves++
	if !c.spend(i + j) {
		return
	}
	before, after := c.before.of(i), c.after.of(j)
	for _, d := range after {
		if !slices.ContainsFunc(c.outcomes, d.outcome.SameValue) {
			c.outcomes = append(c.outcomes, d.outcome)
		}
	}
	group := EffectGroup{Before: c.before.indexOf(i), After: c.after.indexOf(j), Who: ByContext}
	if j < len(c.after.steps) {
		group.Part, group.UnmetAfter = c.after.steps[j].part, c.after.steps[j].unmet
	}
	if i < len(c.before.steps) {
		group.UnmetBefore = c.before.steps[i].unmet
	}
	remains := func(p StepPair) bool { return p.Before == group.Before && p.After != NoStep }
	if i < len(c.before.steps) && !slices.ContainsFunc(c.effect.Steps, remains) {
		group.RemovedSegments = c.before.steps[i].segments
	}
	group.compare(before, after, c.same)
	if len(group.Moves) == 0 {
		return
	}
	if c.moves += len(group.Moves); c.moves > maxEffectMoves {
		c.effect.Truncated = true
		return
	}
	group.ChangedSegments = c.changedUntil(i, j)
	if len(group.ChangedSegments) > 0 {
		group.Who = ByChangedMatch
	}
	c.effect.Groups = append(c.effect.Groups, group)
}

// same reports whether users see no difference between the outcomes. Nobody has to care why
// a boolean flag is on.
func (c *comparison) same(from, to Outcome) bool {
	return from == to || c.effect.Type == guidon.BooleanFlag && from.SameValue(to)
}

// indexOf returns the index of the rule or rollout in the flag.
func (d *decisions) indexOf(step int) int {
	if step == len(d.steps) {
		return NoStep
	}
	return d.steps[step].index
}

// changedUntil returns the changed segments that are evaluated to find the steps.
func (c *comparison) changedUntil(i, j int) []string {
	if len(c.changed) == 0 {
		return nil
	}
	var keys []string
	for _, s := range slices.Concat(c.before.steps[:min(i+1, len(c.before.steps))], c.after.steps[:min(j+1, len(c.after.steps))]) {
		for _, key := range s.segments {
			if c.changed[key] {
				keys = append(keys, key)
			}
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// compare adds the moves from the outcomes before to those after the change.
func (g *EffectGroup) compare(before, after []decided, same func(from, to Outcome) bool) {
	start := 0
	for len(before) > 0 && len(after) > 0 {
		from, to := before[0], after[0]
		end := min(from.end, to.end)
		if same(from.outcome, to.outcome) {
			g.Unchanged += end - start
		} else {
			g.move(BucketRange{start, end}, Move{From: from.outcome, To: to.outcome, FromStep: from.index, ToStep: to.index})
		}
		start = end
		if from.end == end {
			before = before[1:]
		}
		if to.end == end {
			after = after[1:]
		}
	}
}

// move adds buckets to the move like m.
func (g *EffectGroup) move(buckets BucketRange, m Move) {
	i := slices.IndexFunc(g.Moves, func(have Move) bool {
		return have.From == m.From && have.To == m.To && have.FromStep == m.FromStep && have.ToStep == m.ToStep
	})
	if i < 0 {
		i = len(g.Moves)
		g.Moves = append(g.Moves, m)
	}
	have := &g.Moves[i]
	have.Buckets += buckets.End - buckets.Start
	if last := len(have.Ranges) - 1; last >= 0 && have.Ranges[last].End == buckets.Start {
		have.Ranges[last].End = buckets.End
		return
	}
	have.Ranges = append(have.Ranges, buckets)
}

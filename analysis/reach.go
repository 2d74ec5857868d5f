package analysis

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/lists"
)

// Reach describes the outcomes that the rules and rollouts of a flag can never have,
// whatever the entities and contexts, and the buckets of its percentages. It does not claim
// that everything else happens: only what is certain is stated as never reached.
type Reach struct {
	Type    guidon.FlagType
	Buckets int
	// Disabled means that no rule is reached until the variant flag is enabled. The rest
	// of the Reach is that of the flag once it is enabled.
	Disabled bool
	Steps    []StepReach // of the rules or rollouts, in their order
	Default  DefaultReach
	Unserved []string // keys of the variants that no entity can get
	// Truncated means that there was too much to compare: more may never be reached.
	Truncated bool
	Flag      *guidon.Flag
	Summary   Summary
}

// StepReach is the reach of a rule or rollout.
type StepReach struct {
	Index     int
	ID        string
	Fails     bool // its evaluation fails, because a constraint has an unknown type
	Cause     Cause
	By        []int           // for Shadowed: the earlier rules or rollouts, which suffice together; empty if they are many
	Times     string          // for NotYet and Ended: when it holds, in words
	Segment   string          // for MissingSegment: the key, or empty if it refers to none
	Unmet     string          // for NeverMet: the key of the other flag
	Conflicts []ConstraintRef // for Unsatisfiable: constraints that cannot hold together, or at all
	Buckets   int             // the most for which it can decide: earlier thresholds have the others
	Shares    []Share         // of the distributions of a rule, or of a threshold
	// Unassigned is how many buckets of a rule get no variant by a distribution, but the
	// default one or none.
	Unassigned int
}

// DefaultReach is the reach of the outcome if no rule or rollout decides.
type DefaultReach struct {
	Cause Cause // Reached or Shadowed
	By    []int
}

// ConstraintRef names a constraint by its segment or group and its index.
type ConstraintRef struct {
	Segment string // its key, or empty for a group
	Group   int    // the number of the group of the rule, from 1, or 0 for a segment
	Index   int
}

// Cause is why a rule, rollout or default never decides.
type Cause uint8

// Causes.
const (
	Reached        Cause = iota
	Shadowed             // all entities that would match are taken by earlier ones
	Unsatisfiable        // no entity can match its segments
	MissingSegment       // it refers to a segment that does not exist
	NoBuckets            // its percentage is 0
	NotYet               // it begins to hold later
	Ended                // it no longer holds
	NeverMet             // it, or the flag, requires an answer that another flag gives nobody
)

// reaches holds the reach of the flags of a snapshot, by key.
var reaches = guidon.NewDerivation(func(*guidon.Snapshot) *sync.Map { return new(sync.Map) })

// ReachOf returns the reach of the flag, or nil if it does not exist. It is kept with the
// snapshot, and must not be modified. The error is that of the context.
func ReachOf(ctx context.Context, s *guidon.Snapshot, flagKey string) (*Reach, error) {
	f := s.Compiled(flagKey)
	if f == nil {
		return nil, nil
	}
	known := reaches.Of(s)
	if r, ok := known.Load(flagKey); ok {
		return r.(*Reach), nil
	}
	r, err := reachOf(ctx, f)
	if err != nil {
		return nil, err
	}
	r.explainNever(s, f)
	r.Flag, r.Summary = f.Flag(), Summarize(f)
	kept, _ := known.LoadOrStore(flagKey, r)
	return kept.(*Reach), nil
}

// explainNever sets the cause of each rule or rollout that evaluations skip, and its first segment
// that does not exist. Of a flag with a boundary to come, by itself or by one that it requires, no
// variant is certain to be unserved.
func (r *Reach) explainNever(s *guidon.Snapshot, f *guidon.CompiledFlag) {
	for i, step := range stepsOf(f) {
		is := &r.Steps[i]
		is.Segment = step.missing(s)
		switch {
		case is.Cause != MissingSegment:
		case !step.stated.From.IsZero() && s.Epoch() < step.stated.From.Unix():
			is.Cause, is.Times = NotYet, forceWords(step.stated, s.Epoch())
		case !step.stated.InForce(s.Epoch()):
			is.Cause, is.Times = Ended, forceWords(step.stated, s.Epoch())
		case is.Segment == "" && step.stated.Portion != nil:
			is.Cause = NoBuckets
		}
	}
	if len(comingBoundaries(s.Epoch(), withRequired(s, f.Flag().Key)...)) > 0 {
		r.Unserved = nil
	}
}

// reachOf returns the reach of the flag, without the names of segments that are missing.
func reachOf(ctx context.Context, compiled *guidon.CompiledFlag) (*Reach, error) {
	f := compiled.Flag()
	r := &Reach{Type: f.Type, Buckets: bucketsOfType(f.Type), Disabled: f.Type == guidon.VariantFlag && !f.Enabled}
	p := newPredicates(ctx)
	met, unmet := meets(compiled.Requires())
	var steps []*reachStep
	for i, s := range stepsOf(compiled) {
		step := newReachStep(f, i, s, p)
		step.Unmet = cmp.Or(unmet, step.Unmet)
		steps = append(steps, step)
	}
	p.relate()
	if p.stop.err != nil {
		return nil, p.stop.err
	}
	s := &reachSearch{reach: r, predicates: p, left: p.facts(), open: true}
	for _, step := range steps {
		s.add(step)
	}
	r.Truncated = r.Truncated || p.work < 0
	if !s.open && (met == yes || f.Type == guidon.BooleanFlag) { // unmet, a boolean flag is false, whatever its default
		r.Default = DefaultReach{Shadowed, s.takersOf(everyone)}
	}
	if f.Type == guidon.VariantFlag {
		r.Unserved = unserved(f, r)
	}
	return r, p.stop.err
}

// reachStep is a rule or rollout on its way to a StepReach.
type reachStep struct {
	StepReach
	step
	who   requirement // nobody if plain, or if evaluations skip the step
	plain bool        // it is a threshold that has the first of the flag's own buckets
}

func newReachStep(f *guidon.Flag, index int, s step, p *predicates) *reachStep {
	r := &reachStep{StepReach: StepReach{Index: index, ID: s.id}, step: s}
	r.plain = s.share != nil && isPlain(f, s.share)
	switch {
	case s.rule != nil && !s.rule.CodeDefault:
		r.Unassigned = s.divider.Buckets()
		for share := range eachShare(f, s.rule, &s.divider) {
			r.Shares, r.Unassigned = append(r.Shares, share), share.Of-share.End
		}
	case s.share != nil:
		r.Shares = []Share{shareOf(s.share)}
	}
	switch {
	case s.fails():
		r.who, r.Fails = everyone, true
	case s.Audience != nil:
		r.who = p.requirementOf(&s)
		if s.Conditions != nil {
			_, r.Unmet = meets(s.Conditions.Requires)
		}
	case s.share != nil && !r.plain:
		r.who = p.and(everyone, inShare(s.share))
	}
	return r
}

// reachSearch goes through the rules or rollouts of a flag.
type reachSearch struct {
	reach      *Reach
	predicates *predicates
	left       *facts  // about the entities that no earlier one has matched
	open       bool    // there may be such entities, and buckets for them
	takers     []taker // earlier ones that decide
	covered    int     // buckets of the largest threshold so far
	work       int     // done
}

// taker is a rule or rollout that takes entities from later ones.
type taker struct {
	index     int
	threshold bool
	end       int // of a threshold
	who       requirement
}

func (s *reachSearch) add(step *reachStep) {
	switch {
	case step.Unmet != "":
		step.Cause = NeverMet
	case step.plain:
		s.addThreshold(step)
	default:
		s.addMatching(step)
	}
	if step.Cause != Reached {
		step.Buckets = 0
	}
	s.reach.Steps = append(s.reach.Steps, step.StepReach)
}

func (s *reachSearch) addThreshold(step *reachStep) {
	end := step.Shares[0].End * s.reach.Buckets / step.Shares[0].Of
	step.Buckets = end - s.covered
	switch {
	case end == 0:
		step.Cause = NoBuckets
	case !s.spend(1 + len(s.takers)):
	case !s.open:
		step.Cause, step.By = Shadowed, s.takersOf(everyone)
	case step.Buckets <= 0:
		step.Cause, step.By = Shadowed, s.thresholdOf(end)
	default:
		s.covered = end
		s.takers = append(s.takers, taker{index: step.Index, threshold: true, end: end})
		s.open = end < s.reach.Buckets
	}
}

// thresholdOf returns the first threshold that has as many buckets.
func (s *reachSearch) thresholdOf(end int) []int {
	for _, t := range s.takers {
		if t.threshold && t.end >= end {
			return []int{t.index}
		}
	}
	return nil
}

// addMatching adds a rule or rollout with segments.
func (s *reachSearch) addMatching(step *reachStep) {
	step.Buckets = s.reach.Buckets - s.covered
	switch {
	case step.never():
		step.Cause = MissingSegment
	case step.share != nil && step.share.Empty():
		step.Cause = NoBuckets
	case step.who.isNobody():
		step.Cause, step.Conflicts = Unsatisfiable, s.conflicts(&step.step)
	case !s.spend(s.left.size + len(s.takers)):
	case !s.remain(step.who, nil):
		step.Cause = Unsatisfiable
	case !s.open || !s.left.clone().leaves(step.who, true):
		step.Cause, step.By = Shadowed, s.takersOf(step.who)
	default:
		s.takers = append(s.takers, taker{index: step.Index, who: step.who})
		s.open = s.left.leaves(step.who, false)
	}
}

// maxReachWork limits how many predicates and takers are examined for one flag.
const maxReachWork = 5_000_000

func (s *reachSearch) spend(work int) bool {
	s.work += work
	if s.work > maxReachWork || s.predicates.stop.after(work) {
		s.reach.Truncated = true
	}
	return !s.reach.Truncated
}

// maxTakers limits how many takers a cause names.
const maxTakers = 64

// takersOf returns the earlier ones that together take all entities that fulfill the
// requirement: a single one if that suffices, otherwise some of which none can be left out.
// If that is too much work, it may return more. It returns none if there would be more than
// maxTakers.
func (s *reachSearch) takersOf(who requirement) []int {
	for _, t := range s.takers {
		if t.end == s.reach.Buckets || !t.threshold && !s.remain(who, []taker{t}) {
			return []int{t.index}
		}
	}
	needed := slices.DeleteFunc(slices.Clone(s.takers), func(t taker) bool { return t.threshold })
	if len(needed) > maxTakers {
		return nil
	}
	for i := 0; i < len(needed); {
		if rest := slices.Delete(slices.Clone(needed), i, i+1); !s.remain(who, rest) {
			needed = rest
		} else {
			i++
		}
	}
	return lists.Map(needed, func(t taker) int { return t.index })
}

// remain reports whether the takers may leave an entity that fulfills the requirement.
func (s *reachSearch) remain(who requirement, takers []taker) bool {
	x := s.predicates.facts()
	work := x.size + len(takers)
	if s.work += work; s.work > maxReachWork || s.predicates.stop.after(work) {
		return true
	}
	if !x.assume(who, true) {
		return false
	}
	for _, t := range takers {
		if !x.assume(t.who, false) {
			return false
		}
	}
	return x.possible()
}

// conflicts returns the constraints because of which nobody belongs to all of the segments,
// or to one of them.
func (s *reachSearch) conflicts(step *step) []ConstraintRef {
	refs := map[*guidon.Constraint]ConstraintRef{}
	var necessary, found []demand
	set, group := step.Audience, 0
	if set == nil {
		return nil
	}
	for _, g := range set.Segments() {
		segment := g.Segment()
		ref := ConstraintRef{Segment: segment.Key}
		if segment.Key == "" {
			group++
			ref.Group = group
		}
		for i, c := range segment.Constraints {
			ref.Index = i
			refs[c] = ref
		}
		lists := alternativesOf(demandsOf(g), segment.MatchType == guidon.MatchAny && len(segment.Constraints) > 0, true)
		alone := s.conflictOfEach(lists)
		found = append(found, alone...)
		if set.All() && len(alone) > 0 {
			break
		}
		if len(lists) == 1 {
			necessary = append(necessary, lists[0]...)
		}
	}
	if set.All() && len(found) == 0 {
		found = s.predicates.conflict(necessary)
	}
	return lists.Map(found, func(d demand) ConstraintRef { return refs[d.constraint] })
}

// conflictOfEach returns the demands because of which nothing meets any of the lists, or
// none if something may.
func (s *reachSearch) conflictOfEach(lists [][]demand) []demand {
	var found []demand
	for _, list := range lists {
		why := s.predicates.conflict(list)
		if len(why) == 0 {
			return nil
		}
		found = append(found, why...)
	}
	return found
}

// unserved returns the keys of the variants that no entity can get.
func unserved(f *guidon.Flag, r *Reach) []string {
	served := map[string]bool{}
	fallback := r.Default.Cause == Reached
	for _, step := range r.Steps {
		if step.Cause != Reached {
			continue
		}
		fallback = fallback || step.Unassigned > 0
		for _, share := range step.Shares {
			served[share.Variant] = served[share.Variant] || share.Buckets() > 0
		}
	}
	if v := f.DefaultVariant(); v != nil && fallback {
		served[v.Key] = true
	}
	var keys []string
	for _, v := range f.Variants {
		if !served[v.Key] {
			keys = append(keys, v.Key)
		}
	}
	return keys
}

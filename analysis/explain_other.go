package analysis

import (
	"maps"
	"slices"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/lists"
)

// Result is what distinguishes the results of a flag.
type Result struct {
	Match      bool   // of a variant flag
	VariantKey string // of a variant flag; empty for no variant
	Enabled    bool   // of a boolean flag
}

// OtherResult is a result that the flag can return but did not, and the changes needed for
// it. The entity stays the same, and so does its bucket: only its context differs.
type OtherResult struct {
	Result

	Verdict   Verdict
	Step      int              // index of the step that gives the result if it is Reachable, or -1 if no step matches
	Changes   []PropertyChange // if it is Reachable
	Smallest  bool             // if it is Reachable: it is certain that no smaller set of outcomes gives the result
	Obstacles []Obstacle       // otherwise, by step
}

// Verdict is whether the flag can return a result for the entity, as responses name it.
type Verdict string

// Verdicts.
const (
	Undecided  Verdict = "undecided"  // neither a context was found nor can one be excluded
	Reachable  Verdict = "reachable"  // with the changes
	Impossible Verdict = "impossible" // no context gives the result
)

// PropertyChange is a needed change of one property of the context.
type PropertyChange struct {
	Property string
	Actual   string
	Example  string // a value that is sufficient; empty if the property must be missing or empty
	Outcomes []OutcomeChange
}

// OutcomeChange is a constraint that must have the other outcome. Constraints that compare
// the same property in the same way are one, unless one of them is negated.
type OutcomeChange struct {
	SegmentKey string // of the first segment that has the constraint
	Constraint *guidon.Constraint
	Match      bool // the outcome that it must have
}

// Obstacle is why a step cannot give a result.
type Obstacle struct {
	Step       int // index of the step, or -1 if the result is that of no step
	Reason     ObstacleReason
	By         int    // index of the earlier step, for EarlierStep, EarlierSteps and UnknownConstraint
	FlagKey    string // for RequirementUnmet
	SegmentKey string // for SegmentMissing, and for Contradiction and OtherEntity if it is about one segment
	Property   string // for Contradiction if it is about one property
	Range      Share  // for EmptyRange and OtherBucket
}

// ObstacleReason is the kind of an [Obstacle], as responses name it.
type ObstacleReason string

// Reasons of obstacles.
const (
	NotDecided        ObstacleReason = "not_decided"        // no context was found
	WorkLimit         ObstacleReason = "limit"              // the limit of work was reached
	FlagDisabled      ObstacleReason = "flag_disabled"      // the flag is disabled
	NoRule            ObstacleReason = "no_rule"            // no rule or rollout gives the result
	NoSegments        ObstacleReason = "no_segments"        // the step has no segments
	SegmentMissing    ObstacleReason = "segment_missing"    // the step has a segment that does not exist
	EmptyRange        ObstacleReason = "empty_range"        // the result has no buckets
	OtherBucket       ObstacleReason = "other_bucket"       // the entity is in another bucket than those of the range
	EarlierStep       ObstacleReason = "earlier_step"       // an earlier step matches whenever this one would
	EarlierSteps      ObstacleReason = "earlier_steps"      // the steps up to the earlier one together match whenever this one would
	UnknownConstraint ObstacleReason = "unknown_constraint" // an earlier step, or this one, has a constraint of an unknown type, which fails the evaluation
	Contradiction     ObstacleReason = "contradiction"      // nothing satisfies the segments
	OtherEntity       ObstacleReason = "other_entity"       // the segments require another entity id
	NotInForce        ObstacleReason = "not_in_force"       // the step does not hold yet, or no longer
	RequirementUnmet  ObstacleReason = "requirement"        // the step, or the flag if it is that of no step, requires another answer of a flag
)

// Limits of the search for other results. One unit of work is about the outcome of one
// constraint.
const (
	explainWork  = 100_000
	maxOthers    = 1000
	maxObstacles = 1000 // of an explanation
	maxFacts     = 2000 // different constraints of a flag
	maxExamples  = 1000 // values tried for a property
)

// addOthers finds the other results.
func (x *explainer) addOthers(e *Explanation) {
	o := &others{x: x, e: e}
	results := o.results()
	if len(results) > maxOthers {
		results, e.Limited = results[:maxOthers], true
	}
	e.Others = results
	off, verdict := Obstacle{Step: -1, By: -1, FlagKey: e.Unmet()}, Impossible
	switch {
	case e.Variant != nil && !x.flag.Enabled:
		off.Reason = FlagDisabled
	case off.FlagKey == "":
	case readContext(x.compiled.Requires()):
		off.Reason, verdict = RequirementUnmet, Undecided
	default:
		off.Reason = RequirementUnmet
	}
	if off.Reason != "" {
		for i := range results {
			results[i].Verdict, results[i].Obstacles = verdict, []Obstacle{off}
		}
		return
	}
	if len(results) > 0 {
		o.search = newSearch(x)
		for i := range results {
			o.explain(&results[i])
		}
		e.Limited = e.Limited || o.search.limited
	}
}

// others finds the other results of an explanation.
type others struct {
	x         *explainer
	e         *Explanation
	gives     []Result // for each step, if it matches; only for steps that can
	search    *search
	obstacles int
}

// results returns the results other than the actual one, without a verdict, and determines
// the result of each step.
func (o *others) results() []OtherResult {
	x := o.x
	o.gives = make([]Result, len(x.steps))
	if o.e.Boolean != nil {
		for i := range x.steps {
			if s := &x.steps[i]; !s.never() {
				o.gives[i] = Result{Enabled: s.value}
			}
		}
		return []OtherResult{{Result: Result{Enabled: !o.e.Boolean.Enabled}, Step: -1}}
	}
	base := o.noMatch()
	candidates := []Result{{Match: o.e.Variant.Match, VariantKey: o.e.Variant.VariantKey}} // the actual one is the first
	for _, v := range x.flag.Variants {
		given := func(r *guidon.Rule) bool { return distributesTo(x.flag, r, v.Key) }
		if v.Key != base.VariantKey || slices.ContainsFunc(x.flag.Rules, given) { // the default variant is a result anyway
			candidates = append(candidates, Result{Match: true, VariantKey: v.Key})
		}
	}
	for i := range x.steps {
		if s := &x.steps[i]; !s.never() {
			o.gives[i] = o.distribution(s, base)
			if s.rule.CodeDefault || !distributes(x.flag, s.rule) {
				candidates = append(candidates, o.gives[i])
			}
		}
	}
	others := lists.Distinct(append(candidates, base))[1:]
	return lists.Map(others, func(r Result) OtherResult { return OtherResult{Result: r, Step: -1} })
}

// distribution returns the result of a rule that matches, for the bucket of the entity.
func (o *others) distribution(s *step, base Result) Result {
	if s.rule.CodeDefault {
		return Result{}
	}
	for share := range eachShare(o.x.flag, s.rule, &s.divider) {
		if o.x.within(&s.divider, share) {
			return Result{Match: true, VariantKey: share.Variant}
		}
	}
	return Result{Match: !distributes(o.x.flag, s.rule), VariantKey: base.VariantKey}
}

// noMatch returns the result if no step matches.
func (o *others) noMatch() (r Result) {
	f := o.x.flag
	if f.Type == guidon.BooleanFlag {
		return Result{Enabled: f.Enabled}
	}
	if v := f.DefaultVariant(); v != nil {
		r.VariantKey = v.Key
	}
	return r
}

// explain finds out how the flag could return the result.
func (o *others) explain(r *OtherResult) {
	s := o.search
	goals := make([]goal, 0, len(s.steps)+1)
	for i := range o.x.steps {
		if i <= s.end && !o.x.steps[i].never() && o.gives[i] == r.Result && s.canStop(i) {
			goals = append(goals, goal{0, i, i})
		}
	}
	falls := o.noMatch() == r.Result
	if falls && s.end == len(o.x.steps) {
		goals = append(goals, goal{0, s.end, s.end}) // none of the steps
	}
	found := s.run(goals...)
	if found.verdict == Reachable {
		changes := s.changes(found)
		if step, gives := o.with(r, changes); gives {
			r.Verdict, r.Step, r.Changes, r.Smallest = Reachable, step, changes, found.smallest && !s.hashes
			return
		}
	}
	if r.Verdict = found.verdict; s.hashes || r.Verdict == Reachable {
		r.Verdict = Undecided
	}
	o.obstruct(r, falls)
}

// with returns the step that decides with the changes, or -1, and whether that gives the result:
// they may change buckets and answers of required flags too.
func (o *others) with(r *OtherResult, changes []PropertyChange) (step int, gives bool) {
	context := map[string]string{}
	maps.Copy(context, o.x.context)
	for _, c := range changes {
		context[c.Property] = c.Example
	}
	e, err := Decide(o.x.snapshot, o.x.flag.Key, o.x.entityID, context)
	switch {
	case err != nil:
		return -1, false
	case e.Boolean != nil:
		return e.Decided, e.Boolean.Enabled == r.Enabled
	}
	return e.Decided, e.Variant.Match == r.Match && e.Variant.VariantKey == r.VariantKey
}

// obstruct adds the obstacles of each step that gives the result to some entity.
func (o *others) obstruct(r *OtherResult, falls bool) {
	limit := func() bool {
		o.obstacles++
		if o.obstacles > maxObstacles {
			o.e.Limited = true
		}
		return o.obstacles > maxObstacles
	}
	r.Obstacles = make([]Obstacle, 0, min(len(o.x.steps)+1, 16))
	for i := range o.x.steps {
		obstacle, concerned := o.obstacle(i, r)
		if !concerned {
			continue
		}
		if limit() {
			return
		}
		r.Obstacles = append(r.Obstacles, obstacle)
	}
	if falls && !limit() {
		r.Obstacles = append(r.Obstacles, o.obstacleOfNone())
	}
	if len(r.Obstacles) == 0 {
		r.Obstacles = []Obstacle{{Step: -1, Reason: NoRule, By: -1}}
	}
}

// obstacle returns why step i cannot give the result, if it gives it to any entity.
func (o *others) obstacle(i int, r *OtherResult) (obstacle Obstacle, concerned bool) {
	obstacle = Obstacle{Step: i, By: -1}
	s := &o.x.steps[i]
	if s.never() {
		obstacle.Reason, obstacle.SegmentKey = NoSegments, s.missing(o.x.snapshot)
		switch {
		case obstacle.SegmentKey != "":
			obstacle.Reason = SegmentMissing
		case !s.stated.InForce(o.x.snapshot.Epoch()):
			obstacle.Reason = NotInForce
		case s.stated.Portion != nil:
			obstacle.Reason = EmptyRange
		}
		return obstacle, o.wouldGive(i, r)
	}
	gives := o.gives[i] == r.Result
	bucketer, bucket, given := o.buckets(i, r)
	if !gives && !given {
		return obstacle, false
	}
	outside := given && !o.x.within(bucketer, bucket)
	if c := s.Conditions; !outside && c != nil && c.Portion != nil && !c.Portion.Has(o.x.entityID, o.x.context) {
		outside, bucketer, bucket = true, &c.Portion.Bucketer, shareOf(c.Portion)
	}
	if outside {
		obstacle.Property = bucketer.By
	}
	unmet := o.x.unmet(s)
	switch {
	case outside && bucket.Buckets() == 0:
		obstacle.Reason, obstacle.Range = EmptyRange, bucket
	case i > o.search.end:
		obstacle.Reason, obstacle.By = EarlierStep, o.search.end
		if o.x.steps[o.search.end].fails() {
			obstacle.Reason = UnknownConstraint
		}
	case outside:
		obstacle.Reason, obstacle.Range = OtherBucket, bucket
	case unmet != "":
		obstacle.Reason, obstacle.FlagKey = RequirementUnmet, unmet
	case s.fails():
		obstacle.Reason, obstacle.By = UnknownConstraint, i
	default:
		o.search.blame(&obstacle, i)
	}
	return obstacle, true
}

// obstacleOfNone returns why it cannot be that no step matches.
func (o *others) obstacleOfNone() Obstacle {
	obstacle := Obstacle{Step: -1, By: o.search.end, Reason: EarlierStep}
	if o.search.end == len(o.x.steps) {
		obstacle.By = -1
		o.search.blame(&obstacle, len(o.x.steps))
		return obstacle
	}
	if o.x.steps[o.search.end].fails() {
		obstacle.Reason = UnknownConstraint
	}
	return obstacle
}

// wouldGive reports whether a step that never matches has the result.
func (o *others) wouldGive(i int, r *OtherResult) bool {
	f := o.x.flag
	if o.e.Boolean != nil {
		return rolloutValue(f.Rollouts[i]) == r.Enabled
	}
	return r.Match && distributesTo(f, f.Rules[i], r.VariantKey)
}

// buckets returns the buckets for which step i is meant to give the result, and whether there
// are any: those of the distribution with the entity's bucket, or else of the first one with
// any bucket.
func (o *others) buckets(i int, r *OtherResult) (by *guidon.Bucketer, best Share, given bool) {
	s := &o.x.steps[i]
	if s.share != nil {
		return &s.share.Bucketer, shareOf(s.share), s.value == r.Enabled
	}
	if s.rule == nil || !r.Match || s.rule.CodeDefault || !distributes(o.x.flag, s.rule) {
		return nil, Share{}, false
	}
	for share := range eachShare(o.x.flag, s.rule, &s.divider) {
		if share.Variant == r.VariantKey && (!given || best.Buckets() == 0 || o.x.within(&s.divider, share)) {
			best, given = share, true
		}
	}
	return &s.divider, best, given
}

// within reports whether the entity is in the share.
func (x *explainer) within(b *guidon.Bucketer, s Share) bool {
	value, found := b.Value(x.entityID, x.context)
	return found && s.contains(b.Bucket(value))
}

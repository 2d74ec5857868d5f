package analysis

import (
	"slices"

	"github.com/guidonhq/guidon"
)

// ExplainedStep is a rule or a rollout in an explanation.
type ExplainedStep struct {
	Rule     *guidon.Rule    // of a variant flag, otherwise nil
	Rollout  *guidon.Rollout // of a boolean flag, otherwise nil
	Outcome  StepOutcome
	Segments []*ExplainedSegment // if the step was reached; shared by steps
	Bucket   *ExplainedBucket    // if the step consulted it, otherwise nil

	// If the step was reached.
	Groups       []*ExplainedSegment // its groups of constraints, without keys
	Exceptions   []*ExplainedSegment // shared by steps
	Portion      *ExplainedBucket    // or nil
	Requirements []ExplainedRequirement

	All          bool // all segments must match
	EmptyPortion bool // so it never matches

	Times string // if it is not in force: when it is, in words
}

// StepOutcome is the outcome of a rule or rollout in an evaluation, as responses name it.
type StepOutcome string

// Outcomes of steps.
const (
	StepNotReached   StepOutcome = "not_reached"   // the flag is disabled, or off because of another flag, or an earlier step decided
	StepNotMatched   StepOutcome = "not_matched"   // the next step was tried
	StepNeverMatches StepOutcome = "never_matches" // it has no segments, or one that does not exist, or an empty portion
	StepMatched      StepOutcome = "matched"       // it decided the result
	StepNotInForce   StepOutcome = "not_in_force"  // it is passed over, because it does not hold yet, or no longer
	StepNoVariant    StepOutcome = "no_variant"    // it matched, but the bucket is in no range: the result is no match, and later steps are not tried
)

// ExplainedSegment is a segment of a step.
type ExplainedSegment struct {
	Key         string
	Segment     *guidon.Segment // nil if it does not exist
	Matched     bool
	Constraints []ExplainedConstraint
}

// ExplainedBucket is the bucket of the entity, and the results that buckets have.
type ExplainedBucket struct {
	By     string // the property that is hashed; empty for the entity's id
	Absent bool   // the entity lacks the property, so it has no bucket, and Chosen is -1
	Number int    // of the entity, from 0
	Of     int    // how many buckets there are
	Ranges []Share
	Chosen int // index of the range with the bucket, or -1
}

// path explains the steps of the evaluation.
func (x *explainer) path(e *Explanation) []ExplainedStep {
	decided := e.Decided
	path := make([]ExplainedStep, len(x.steps))
	last := decided
	switch {
	case e.Unmet() != "", x.flag.Type == guidon.VariantFlag && !x.flag.Enabled:
		last = -1
	case decided < 0:
		last = len(path) - 1
	}
	known := make(map[string]*ExplainedSegment, last+1)
	for i := range path {
		if path[i].Rule = x.steps[i].rule; path[i].Rule == nil {
			path[i].Rollout = x.flag.Rollouts[i]
		}
		if c := x.steps[i].stated; !c.InForce(x.snapshot.Epoch()) {
			path[i].Times = forceWords(c, x.snapshot.Epoch())
		}
		if path[i].Outcome = StepNotReached; i <= last {
			x.explainStep(&path[i], &x.steps[i], i == decided, known)
		}
	}
	return path
}

// explainStep explains a step that was reached.
func (x *explainer) explainStep(e *ExplainedStep, s *step, decided bool, known map[string]*ExplainedSegment) {
	e.Segments = x.explainSegments(s.keys, known)
	x.explainConditions(e, s, known)
	switch {
	case !s.stated.InForce(x.snapshot.Epoch()):
		e.Outcome = StepNotInForce
	case s.never():
		e.Outcome = StepNeverMatches
	case decided:
		e.Outcome = StepMatched
	default:
		e.Outcome = StepNotMatched
	}
	switch {
	case s.never():
	case s.share != nil:
		e.Bucket = x.bucketIn(&s.share.Bucketer, shareOf(s.share))
	case s.rule != nil && decided && !s.rule.CodeDefault && distributes(x.flag, s.rule):
		e.Bucket = x.bucketIn(&s.divider, slices.Collect(eachShare(x.flag, s.rule, &s.divider))...)
		if e.Bucket.Chosen < 0 {
			e.Outcome = StepNoVariant
		}
	}
}

func (x *explainer) explainSegments(keys []string, known map[string]*ExplainedSegment) []*ExplainedSegment {
	list := make([]*ExplainedSegment, len(keys))
	for i, key := range keys {
		if known[key] == nil {
			known[key] = &ExplainedSegment{Key: key}
			if g := x.snapshot.CompiledSegment(key); g != nil {
				known[key] = explainSegment(g, x.entityID, x.context)
			}
		}
		list[i] = known[key]
	}
	return list
}

func (x *explainer) explainConditions(e *ExplainedStep, s *step, known map[string]*ExplainedSegment) {
	for _, g := range s.stated.Groups {
		group := guidon.CompileSegment(&guidon.Segment{MatchType: g.MatchType, Constraints: g.Constraints})
		e.Groups = append(e.Groups, explainSegment(group, x.entityID, x.context))
	}
	e.All, e.EmptyPortion = s.Audience != nil && s.Audience.All(), s.never() && s.stated.Portion != nil
	e.Exceptions = x.explainSegments(s.stated.ExceptSegmentKeys, known)
	c := s.Conditions
	if c == nil {
		return
	}
	e.Requirements = x.requirements(c.Requires)
	if c.Portion != nil {
		e.Portion = x.bucketIn(&c.Portion.Bucketer, shareOf(c.Portion))
	}
}

// ExplainSegment reports whether the entity belongs to the segment, which need not be that of
// a snapshot, and compares it with all constraints, by the matchers of the evaluation. Like an
// evaluation, it returns InvalidArgument if a constraint has an unknown type.
func ExplainSegment(g *guidon.Segment, entityID string, context map[string]string) (*ExplainedSegment, error) {
	compiled := guidon.CompileSegment(g)
	if err := compiled.Err(); err != nil {
		return nil, err
	}
	return explainSegment(compiled, entityID, context), nil
}

func explainSegment(g *guidon.CompiledSegment, entityID string, context map[string]string) *ExplainedSegment {
	e := &ExplainedSegment{Key: g.Segment().Key, Segment: g.Segment(), Matched: g.Matches(entityID, context)}
	e.Constraints = make([]ExplainedConstraint, len(g.Constraints()))
	for i, c := range e.Segment.Constraints {
		e.Constraints[i] = explainConstraint(c, &g.Constraints()[i], entityID, context)
	}
	return e
}

func (x *explainer) bucketIn(b *guidon.Bucketer, ranges ...Share) *ExplainedBucket {
	e := &ExplainedBucket{By: b.By, Of: b.Buckets(), Ranges: ranges, Chosen: -1}
	value, found := b.Value(x.entityID, x.context)
	if e.Absent = !found; found {
		e.Number = b.Bucket(value)
		e.Chosen = slices.IndexFunc(ranges, func(s Share) bool { return s.contains(e.Number) })
	}
	return e
}

// ExplainedConstraint is a constraint of a segment, compared with the entity.
type ExplainedConstraint struct {
	Constraint *guidon.Constraint
	Actual     string // the property, or the entity's id
	Present    bool   // the context has the property; an absent one is the same as an empty one
	Matched    bool
	Problem    ConstraintProblem
}

// ConstraintProblem is why a constraint could not compare its values, in words. It did not match
// then, unless it is negated (contract 7.2).
type ConstraintProblem string

// Problems of constraints.
const (
	NoProblem            ConstraintProblem = ""
	NoValue              ConstraintProblem = "there is no value"
	ValueNotNumber       ConstraintProblem = "the value is not a number"
	ValueNotBoolean      ConstraintProblem = "the value is not a boolean"
	ValueNotDateTime     ConstraintProblem = "the value is not an RFC 3339 time or a date"
	ValueNotVersion      ConstraintProblem = "the value is not a version"
	ValueNotAddress      ConstraintProblem = "the value is not an address"
	ValueTooLong         ConstraintProblem = "the value is longer than 4 KiB" // for a pattern
	ExpectedNotNumber    ConstraintProblem = "the value of the constraint is not a number"
	ExpectedNotDateTime  ConstraintProblem = "the value of the constraint is not an RFC 3339 time or a date"
	ExpectedNotStrings   ConstraintProblem = "the value of the constraint is not a JSON list of strings"
	ExpectedNotNumbers   ConstraintProblem = "the value of the constraint is not a JSON list of numbers"
	ExpectedNotVersion   ConstraintProblem = "the value of the constraint is not a version"
	ExpectedNotPattern   ConstraintProblem = "the value of the constraint is not a pattern of RE2 within the limits"
	ExpectedNotList      ConstraintProblem = "the value of the constraint is not a JSON list of texts, numbers and booleans"
	ExpectedNotAddresses ConstraintProblem = "the value of the constraint is not a JSON list of addresses and CIDR blocks"
	OperatorUnsupported  ConstraintProblem = "the operator never matches values of this type" // or of any
)

func explainConstraint(
	c *guidon.Constraint, compiled *guidon.CompiledConstraint, entityID string, context map[string]string,
) ExplainedConstraint {
	e := ExplainedConstraint{Constraint: c, Actual: entityID, Present: true}
	if c.Type != guidon.EntityIDComparison {
		e.Actual, e.Present = context[c.Property]
	}
	e.Matched = compiled.Accepts(e.Actual)
	if e.Matched == c.Negate {
		e.Problem = problemOf(c, e.Actual)
	}
	return e
}

// ProblemOf returns why the constraint cannot compare its value with any other, or NoProblem.
func ProblemOf(c *guidon.Constraint) ConstraintProblem { return operandOf(c).problem }

// problemOf returns why a constraint whose comparison fails could not compare the value.
func problemOf(c *guidon.Constraint, actual string) ConstraintProblem {
	problem := operandOf(c).problem
	switch {
	case problem != NoProblem:
		return problem
	case operatorOf(c).presence:
		return NoProblem
	case actual == "":
		return NoValue
	}
	return actualProblem(c.Type, actual)
}

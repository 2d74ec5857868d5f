package playground

import (
	"slices"
	"strconv"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
)

// Limits of the rules.
const (
	maxRules  = 200
	maxChecks = 1000 // in all rules
)

// rule is a rule or a rollout of the explanation, or what the flag itself requires.
type rule struct {
	Name     string      // "Rule 1"
	Verdict  string      // "no", "yes" or "skip"
	Segments []part.Link // without an address if it no longer exists
	Joint    string      // between segments: "and", "or"
	Share    string      // of a threshold, instead of segments
	Note     string      // what came of it
	Would    []outcome
	Checks   []check
	Ruler    *ruler
}

// check is a segment compared with the entity.
type check struct {
	Head, Got   string
	Constraints []*guidonv1.ExplainedConstraint
	Omitted     bool // there are too many of them
}

// ruler are the buckets of a rule, with that of the entity.
type ruler struct {
	Bucket, Of int
	At         float64 // in percent
	Owner      string
	Ranges     []bucketRange
	Ticks      []tick
}

type bucketRange struct {
	outcome
	X, Width float64 // in percent
	Buckets  string
}

type tick struct {
	X      float64
	Anchor string
	Text   string
}

// label says the ruler in words.
func (r *ruler) label() string {
	return "Bucket " + strconv.Itoa(r.Bucket) + " of " + strconv.Itoa(r.Of) + " belongs to " + r.Owner
}

func (x *answer) rules() []rule {
	left := maxChecks
	explained := x.e.GetSteps()
	rules := lists.Map(x.e.GetRequirements(), requirementRule)
	for i, s := range explained[:min(len(explained), maxRules)] {
		rules = append(rules, x.rule(i, s, &left))
	}
	return rules
}

func (x *answer) rule(index int, s *guidonv1.ExplainedStep, left *int) rule {
	v := rule{Name: page.Capital(ruleName(s.GetNumber())), Verdict: "no", Joint: "or", Ruler: x.ruler(s)}
	if s.GetSegmentOperator() == flipt.SegmentOperator_AND_SEGMENT_OPERATOR {
		v.Joint = "and"
	}
	for _, g := range s.GetSegments() {
		v.Segments = append(v.Segments, x.segment(g.GetKey()))
	}
	if r := x.rollout(index); r.GetThreshold() != nil {
		t := r.GetThreshold()
		v.Share = analysis.PercentWords(convert.RampOf(t.GetRamp()).PercentageAt(x.e.GetAsOf().GetSeconds(), t.GetPercentage()))
	}
	switch s.GetOutcome() {
	case "matched", "no_variant":
		v.Verdict, v.Note = "yes", "decides"
	case "not_reached":
		v.Verdict, v.Note = "skip", "not reached"
		return v
	case "never_matches":
		v.Note = "never fits: " + strings.TrimPrefix(s.GetText(), "never matches: ")
	case "not_in_force":
		v.Note = s.GetText()
	default:
		v.Would = x.possibleOutcomes(index, s)
	}
	for _, g := range s.GetSegments() {
		if g.GetExists() {
			name, _ := x.m.info.SegmentName(g.GetKey())
			v.Checks = append(v.Checks, x.check(name, g, left))
		}
	}
	for _, g := range s.GetGroups() {
		v.Checks = append(v.Checks, x.check("And if", g, left))
	}
	for _, g := range s.GetExceptions() {
		if g.GetExists() {
			name, _ := x.m.info.SegmentName(g.GetKey())
			v.Checks = append(v.Checks, x.check("But not in "+name, g, left))
		}
	}
	for _, r := range s.GetRequirements() {
		v.Checks = append(v.Checks, check{Head: "Needs " + r.GetFlagKey(), Got: r.GetText()})
	}
	if p := s.GetPortion(); p != nil {
		v.Checks = append(v.Checks, check{Head: "Only " + analysis.PercentWords(p.GetRanges()[0].GetPercentage()) + " of them", Got: s.GetPortionText()})
	}
	return v
}

// requirementRule returns what the flag itself requires, as a rule.
func requirementRule(r *guidonv1.ExplainedRequirement) rule {
	v := rule{Name: "Needs " + r.GetFlagKey(), Verdict: "no", Note: r.GetText()}
	if r.GetMet() {
		v.Verdict = "yes"
	}
	return v
}

func (x *answer) segment(key string) part.Link {
	name, exists := x.m.info.SegmentName(key)
	if !exists {
		return part.Link{Text: name}
	}
	return part.Link{Text: name, Address: x.v.In("segments", key)}
}

// rollout returns the rollout of the flag with the index; nil for a variant flag.
func (x *answer) rollout(index int) *guidonv1.DocumentRollout {
	if rollouts := x.m.flag.GetRollouts(); index < len(rollouts) {
		return rollouts[index]
	}
	return nil
}

// possibleOutcomes returns the results of the rule for entities that match it.
func (x *answer) possibleOutcomes(index int, s *guidonv1.ExplainedStep) (outcomes []outcome) {
	if x.boolean {
		return []outcome{value(s.GetValue())}
	}
	if rules := x.m.flag.GetRules(); index < len(rules) {
		for _, d := range rules[index].GetDistributions() {
			if d.GetRollout() > 0 && len(outcomes) < 3 {
				outcomes = append(outcomes, x.variant(d.GetVariant()))
			}
		}
	}
	return outcomes
}

func (x *answer) check(name string, g *guidonv1.ExplainedSegment, left *int) check {
	constraints := g.GetConstraints()
	how, matched := "all of", 0
	if g.GetMatchType() == flipt.MatchType_ANY_MATCH_TYPE {
		how = "any of"
	}
	for _, c := range constraints {
		if c.GetMatched() {
			matched++
		}
	}
	v := check{
		Head: name + ": " + how, Got: strconv.Itoa(matched) + " of " + strconv.Itoa(len(constraints)),
		Omitted: g.GetConstraintsOmitted(),
	}
	switch {
	case v.Omitted:
		v.Got = "does not fit"
		if g.GetMatched() {
			v.Got = "fits"
		}
	case len(constraints) == 0:
		v.Head, v.Got = name+": everyone", "no constraints"
	case matched == 0:
		v.Got = "none of " + strconv.Itoa(len(constraints))
	}
	v.Constraints = constraints[:min(len(constraints), *left)]
	v.Omitted = v.Omitted || len(v.Constraints) < len(constraints)
	*left -= len(v.Constraints)
	return v
}

// shortValue limits how much of a value is shown, in bytes.
const shortValue = 120

// comparedWords returns the value that a constraint compared, in words.
func comparedWords(c *guidonv1.ExplainedConstraint) []span {
	switch {
	case !c.GetPresent():
		return []span{plain("is missing")}
	case c.GetActual() == "":
		return []span{plain("is empty")}
	}
	return []span{plain("is "), codeSpan(guidon.Shorten(c.GetActual(), shortValue))}
}

// constraintWords returns a constraint as a sentence.
func constraintWords(e *guidonv1.ExplainedConstraint) []span {
	c := guidon.Constraint{
		Type:     guidon.ComparisonType(e.GetType()), // #nosec G115 -- an enum
		Property: e.GetProperty(), Operator: e.GetOperator(), Value: e.GetExpected(),
	}
	subject, verb, operand := analysis.ComparisonWords(&c)
	words := []span{codeSpan(subject), plain(" %s", verb)}
	if c.Type == guidon.EntityIDComparison {
		words[0] = plain("entity id")
	}
	if operand != "" {
		words = append(words, plain(" "), codeSpan(operand))
	}
	if e.GetNegate() {
		words = slices.Concat([]span{plain("not (")}, words, []span{plain(")")})
	}
	return words
}

func (x *answer) ruler(s *guidonv1.ExplainedStep) *ruler {
	b := s.GetBucket()
	if b.GetOf() == 0 || b.GetAbsent() {
		return nil
	}
	of := float64(b.GetOf())
	r := &ruler{
		Bucket: int(b.GetNumber()), Of: int(b.GetOf()), At: (float64(b.GetNumber()) + 0.5) * 100 / of, Owner: "nobody",
		Ticks: []tick{{0, "start", "0"}},
	}
	if x.boolean {
		r.Owner = "those after this rule"
	}
	for i, e := range b.GetRanges() {
		if e.GetTo() == e.GetFrom() {
			continue
		}
		is := value(s.GetValue())
		if !x.boolean {
			is = x.variant(e.GetVariantKey())
		}
		if i+1 == int(b.GetChosen()) {
			r.Owner = is.Name
		}
		from, to := float64(e.GetFrom())*100/of, float64(e.GetTo())*100/of
		r.Ranges = append(r.Ranges, bucketRange{is, from, to - from, buckets(e)})
		if last := r.Ticks[len(r.Ticks)-1].X; to-last >= 6 && to <= 94 {
			r.Ticks = append(r.Ticks, tick{to, "middle", strconv.Itoa(int(e.GetTo()))})
		}
	}
	r.Ticks = append(r.Ticks, tick{100, "end", strconv.Itoa(r.Of)})
	return r
}

// anchor returns how the text over the mark is aligned, so that it stays inside.
func (r *ruler) anchor() string {
	switch {
	case r.At < 8:
		return "start"
	case r.At > 92:
		return "end"
	}
	return "middle"
}

// color returns the class of the range in the ruler.
func (b bucketRange) color() string {
	if b.Color == "c-none" {
		return "c-off"
	}
	return b.Color
}

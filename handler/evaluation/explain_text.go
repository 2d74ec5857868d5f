package evaluation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/change"
)

// stepText returns the outcome of a rule in words.
func (w *explanation) stepText(i int) string {
	s := &w.e.Steps[i]
	switch s.Outcome {
	case analysis.StepNotReached:
		switch unmet := w.e.Unmet(); {
		case unmet != "":
			return fmt.Sprintf("not reached: %s is not as required", unmet)
		case w.e.Decided < 0:
			return "not reached: the flag is disabled"
		}
		return "not reached: " + ruleName(w.e.Decided) + " decided"
	case analysis.StepNotInForce:
		return "not in force: " + s.Times
	case analysis.StepNeverMatches:
		return "never matches: " + neverText(s)
	case analysis.StepNoVariant:
		return fmt.Sprintf("matched, but bucket %d is in no range: the result is no match, and later rules are not tried", s.Bucket.Number)
	case analysis.StepMatched:
		return "matched: " + w.matchedText(s)
	}
	return "did not match" + mismatchText(s)
}

// rampText returns what the ramp of a rule that was reached does, in words, or "" without one.
func (w *explanation) rampText(i int) string {
	ramp, target := w.e.Flag.Ramp(i)
	switch w.e.Steps[i].Outcome {
	case analysis.StepMatched, analysis.StepNotMatched, analysis.StepNeverMatches:
		if ramp != nil && *ramp != nil && !w.at.IsZero() {
			return " (" + analysis.RampWords(*ramp, *target, w.at) + ")"
		}
	}
	return ""
}

// mismatchText returns why a rule did not match, unless it is because of its segments.
func mismatchText(s *analysis.ExplainedStep) string {
	for i, g := range s.Groups {
		if !g.Matched && inSegments(s) {
			return fmt.Sprintf(": its constraints do not hold (group %d)", i+1)
		}
	}
	for _, g := range s.Exceptions {
		if g.Matched && inSegments(s) {
			return fmt.Sprintf(": it is not for segment %q", g.Key)
		}
	}
	for _, r := range s.Requirements {
		if !r.Met && inSegments(s) {
			return ": " + r.String()
		}
	}
	switch p := s.Portion; {
	case s.Bucket != nil:
		return ": " + bucketText(s.Bucket, "not ")
	case p != nil && p.Chosen < 0 && inSegments(s):
		return ": " + portionText(p)
	case s.Rule != nil && s.Rule.Split != nil && s.Rule.Split.By != "" && inSegments(s):
		return ": " + short(s.Rule.Split.By) + " is missing"
	}
	return ""
}

// inSegments reports whether the entity is in the segments of the rule.
func inSegments(s *analysis.ExplainedStep) bool {
	in := 0
	for _, g := range s.Segments {
		if g.Matched {
			in++
		}
	}
	return in == len(s.Segments) || in > 0 && !s.All
}

// bucketText returns whether the bucket of a threshold is in its range, with "not " if it is not.
func bucketText(b *analysis.ExplainedBucket, not string) string {
	r := &b.Ranges[0]
	switch {
	case b.Absent:
		return short(b.By) + " is missing"
	case r.Start > 0:
		return fmt.Sprintf("bucket %d is %sin %s", b.Number, not, rangeText(r))
	}
	return fmt.Sprintf("bucket %d is %sbelow %d", b.Number, not, r.End)
}

// portionText returns whether the entity is in the portion, or "" without one.
func portionText(p *analysis.ExplainedBucket) string {
	switch {
	case p == nil:
		return ""
	case p.Chosen < 0:
		return "not in the portion: " + bucketText(p, "not ")
	}
	return "in the portion: " + bucketText(p, "")
}

// neverText returns why a rule never matches.
func neverText(s *analysis.ExplainedStep) string {
	for _, g := range s.Segments {
		if g.Segment == nil {
			return fmt.Sprintf("segment %q does not exist", g.Key)
		}
	}
	for _, g := range s.Exceptions {
		if g.Segment == nil {
			return fmt.Sprintf("segment %q, an exception, does not exist", g.Key)
		}
	}
	if s.EmptyPortion {
		return "its portion is empty"
	}
	return "it has no segments"
}

// matchedText returns the result of the rule that decided, in words.
func (w *explanation) matchedText(s *analysis.ExplainedStep) string {
	switch {
	case s.Rollout != nil && s.Bucket != nil:
		return bucketText(s.Bucket, "") + ", so the flag is " + change.OnOff(w.e.Boolean.Enabled)
	case s.Rollout != nil:
		return "the flag is " + change.OnOff(w.e.Boolean.Enabled)
	case s.Bucket != nil:
		r := &s.Bucket.Ranges[s.Bucket.Chosen]
		return fmt.Sprintf("bucket %d is in %s of %q", s.Bucket.Number, rangeText(r), r.Variant)
	case s.Rule.CodeDefault:
		return "the default in the code applies"
	case w.e.Variant.VariantKey == "":
		return "no variant has a share, so there is no variant"
	}
	return fmt.Sprintf("no variant has a share, so the variant is the default one, %q", w.e.Variant.VariantKey)
}

// rangeText returns the buckets of a range that is not empty.
func rangeText(r *analysis.Share) string {
	if r.End == r.Start+1 {
		return fmt.Sprintf("%d", r.Start)
	}
	return fmt.Sprintf("%d–%d", r.Start, r.End-1)
}

// ruleName returns the name of the rule with the index.
func ruleName(i int) string { return fmt.Sprintf("rule %d", i+1) }

// maxTextParts is how many changes and obstacles the text of a result has. The rest is only in
// the lists.
const maxTextParts = 5

// otherText returns the changes needed for a result, or the obstacles, in words.
func (w *explanation) otherText(o *analysis.OtherResult) string {
	var parts []string
	if o.Verdict != analysis.Reachable {
		for i := range o.Obstacles[:min(len(o.Obstacles), maxTextParts)] {
			parts = append(parts, w.obstacleText(&o.Obstacles[i]))
		}
		if len(o.Obstacles) > maxTextParts {
			parts = append(parts, "…")
		}
		return strings.Join(parts, "; ")
	}
	for i := range o.Changes[:min(len(o.Changes), maxTextParts)] {
		parts = append(parts, changeText(&o.Changes[i]))
	}
	if len(o.Changes) > maxTextParts {
		parts = append(parts, "…")
	}
	then := "then no rule matches"
	if o.Step >= 0 {
		then = "then " + ruleName(o.Step) + " decides"
	}
	return "if " + strings.Join(parts, ", and ") + "; " + then
}

// changeText returns a needed change of a property in words, such as "seats were at least 100,
// such as "120"".
func changeText(c *analysis.PropertyChange) string {
	property := short(c.Property)
	if c.Example == "" {
		return property + " were missing or empty"
	}
	equal := func(o analysis.OutcomeChange) bool {
		c := o.Constraint
		return o.Match != c.Negate && c.Operator == guidon.OpEQ && c.Type != guidon.PatternComparison
	}
	if slices.ContainsFunc(c.Outcomes, equal) {
		return fmt.Sprintf("%s were %q", property, short(c.Example))
	}
	var demands []string
	for _, o := range c.Outcomes[:min(len(c.Outcomes), maxTextParts)] {
		demands = append(demands, analysis.DemandWords(o.Constraint, o.Match))
	}
	if len(c.Outcomes) > maxTextParts {
		demands = append(demands, "…")
	}
	return fmt.Sprintf("%s %s, such as %q", property, strings.Join(demands, " and "), short(c.Example))
}

// obstacleText returns in words why a rule does not give a result.
func (w *explanation) obstacleText(o *analysis.Obstacle) string {
	switch o.Reason {
	case analysis.FlagDisabled:
		return "the flag is disabled"
	case analysis.NoRule:
		return "no rule gives it"
	case analysis.WorkLimit:
		return "the search ended at its limit"
	case analysis.RequirementUnmet:
		if o.Step < 0 {
			return fmt.Sprintf("%s is not as the flag requires", o.FlagKey)
		}
		return fmt.Sprintf("%s is not as %s requires", o.FlagKey, ruleName(o.Step))
	}
	if o.Step < 0 {
		return noneText(o)
	}
	rule := ruleName(o.Step)
	switch o.Reason {
	case analysis.NoSegments:
		return rule + " has no segments, so it never matches"
	case analysis.SegmentMissing:
		return fmt.Sprintf("%s has segment %q, which does not exist, so it never matches", rule, o.SegmentKey)
	case analysis.EmptyRange:
		return rule + " has no buckets for it"
	case analysis.OtherBucket:
		if o.Property != "" {
			return fmt.Sprintf("%s has it for buckets %s by %s, and the entity is in none of them", rule, rangeText(&o.Range), short(o.Property))
		}
		return fmt.Sprintf("%s has it for buckets %s, and the entity is in another one", rule, rangeText(&o.Range))
	case analysis.EarlierStep:
		return fmt.Sprintf("%s always matches before %s would", ruleName(o.By), rule)
	case analysis.EarlierSteps:
		return fmt.Sprintf("one of the rules up to %s always matches before %s would", ruleName(o.By), rule)
	case analysis.UnknownConstraint:
		return fmt.Sprintf("%s has a constraint of an unknown type, which fails the evaluation", ruleName(o.By))
	case analysis.NotInForce:
		return rule + " is not in force: " + w.e.Steps[o.Step].Times
	case analysis.OtherEntity:
		return rule + " requires another entity id"
	case analysis.Contradiction:
		return contradictionText(o, rule)
	}
	return fmt.Sprintf("no context was found for %s, although there may be one", rule)
}

func contradictionText(o *analysis.Obstacle, rule string) string {
	switch {
	case o.SegmentKey == "":
		return fmt.Sprintf("nothing satisfies the segments and constraints of %s together", rule)
	case o.Property == "":
		return fmt.Sprintf("nothing satisfies segment %q of %s", o.SegmentKey, rule)
	}
	return fmt.Sprintf("no value of %s satisfies segment %q of %s", short(o.Property), o.SegmentKey, rule)
}

// noneText returns why it cannot be that no rule matches.
func noneText(o *analysis.Obstacle) string {
	switch o.Reason {
	case analysis.EarlierStep:
		return ruleName(o.By) + " always matches"
	case analysis.EarlierSteps:
		return "one of the rules up to " + ruleName(o.By) + " always matches"
	case analysis.UnknownConstraint:
		return ruleName(o.By) + " has a constraint of an unknown type, which fails the evaluation"
	}
	return "no context was found with which no rule matches, although there may be one"
}

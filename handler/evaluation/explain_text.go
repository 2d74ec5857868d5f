package evaluation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/guidonhq/guidon"
)

// stepText returns the outcome of a rule in words.
func (w *explanation) stepText(i int) string {
	s := &w.e.Steps[i]
	switch s.Outcome {
	case guidon.StepNotReached:
		if w.e.Decided < 0 {
			return "not reached: the flag is disabled"
		}
		return "not reached: " + ruleName(w.e.Decided) + " decided"
	case guidon.StepNeverMatches:
		return "never matches: " + neverText(s)
	case guidon.StepNoVariant:
		return fmt.Sprintf("matched, but bucket %d is in no range: the result is no match, and later rules are not tried", s.Bucket.Number)
	case guidon.StepMatched:
		return "matched: " + w.matchedText(s)
	}
	if s.Bucket != nil {
		return fmt.Sprintf("did not match: bucket %d is not below %d", s.Bucket.Number, s.Bucket.Ranges[0].To)
	}
	return "did not match"
}

// neverText returns why a rule never matches.
func neverText(s *guidon.ExplainedStep) string {
	for _, g := range s.Segments {
		if g.Segment == nil {
			return fmt.Sprintf("segment %q does not exist", g.Key)
		}
	}
	return "it has no segments"
}

// matchedText returns the result of the rule that decided, in words.
func (w *explanation) matchedText(s *guidon.ExplainedStep) string {
	switch {
	case s.Rollout != nil && s.Bucket != nil:
		return fmt.Sprintf("bucket %d is below %d, so the flag is %t", s.Bucket.Number, s.Bucket.Ranges[0].To, w.e.Boolean.Enabled)
	case s.Rollout != nil:
		return fmt.Sprintf("the flag is %t", w.e.Boolean.Enabled)
	case s.Bucket != nil:
		r := &s.Bucket.Ranges[s.Bucket.Chosen]
		return fmt.Sprintf("bucket %d is in %s of %q", s.Bucket.Number, rangeText(r), r.VariantKey)
	case w.e.Variant.VariantKey == "":
		return "no variant has a share, so there is no variant"
	}
	return fmt.Sprintf("no variant has a share, so the variant is the default one, %q", w.e.Variant.VariantKey)
}

// rangeText returns the buckets of a range that is not empty.
func rangeText(r *guidon.ExplainedRange) string {
	if r.To == r.From+1 {
		return fmt.Sprintf("%d", r.From)
	}
	return fmt.Sprintf("%d–%d", r.From, r.To-1)
}

// ruleName returns the name of the rule with the index.
func ruleName(i int) string { return fmt.Sprintf("rule %d", i+1) }

// maxTextParts is how many changes and obstacles the text of a result has. The rest is only in
// the lists.
const maxTextParts = 5

// otherText returns the changes needed for a result, or the obstacles, in words.
func (w *explanation) otherText(o *guidon.OtherResult) string {
	var parts []string
	if o.Verdict != guidon.Reachable {
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
func changeText(c *guidon.PropertyChange) string {
	property := short(c.Property)
	if c.Example == "" {
		return property + " were missing or empty"
	}
	equal := func(o guidon.OutcomeChange) bool {
		return o.Match && o.Constraint.Operator == guidon.OpEQ
	}
	if slices.ContainsFunc(c.Outcomes, equal) {
		return fmt.Sprintf("%s were %q", property, short(c.Example))
	}
	var demands []string
	for _, o := range c.Outcomes[:min(len(c.Outcomes), maxTextParts)] {
		demands = append(demands, demandText(o))
	}
	if len(c.Outcomes) > maxTextParts {
		demands = append(demands, "…")
	}
	return fmt.Sprintf("%s %s, such as %q", property, strings.Join(demands, " and "), short(c.Example))
}

// demandWords are operators as demands: that the constraint holds, and that it does not.
var demandWords = map[string][2]string{
	guidon.OpEQ: {"were", "were anything but"}, guidon.OpNEQ: {"were anything but", "were"},
	guidon.OpIsOneOf: {"were one of", "were none of"}, guidon.OpIsNotOneOf: {"were none of", "were one of"},
	guidon.OpContains: {"contained", "did not contain"}, guidon.OpNotContains: {"did not contain", "contained"},
	guidon.OpPrefix: {"began with", "did not begin with"}, guidon.OpSuffix: {"ended with", "did not end with"},
	guidon.OpLT: {"were less than", "were not less than"}, guidon.OpLTE: {"were at most", "were not at most"},
	guidon.OpGT: {"were greater than", "were not greater than"}, guidon.OpGTE: {"were at least", "were not at least"},
	guidon.OpTrue: {"were true", "were not true"}, guidon.OpFalse: {"were false", "were not false"},
	guidon.OpEmpty: {"were empty", "were not empty"}, guidon.OpNotEmpty: {"were not empty", "were empty"},
	guidon.OpPresent: {"were set", "were missing"}, guidon.OpNotPresent: {"were missing", "were set"},
}

// demandText returns the outcome that a constraint must have in words.
func demandText(o guidon.OutcomeChange) string {
	_, operator, operand := o.Constraint.Words()
	words, known := demandWords[o.Constraint.Operator]
	if !known {
		words = [2]string{"matched " + operator, "did not match " + operator}
	}
	text := words[1]
	if o.Match {
		text = words[0]
	}
	if operand != "" {
		text += " " + operand
	}
	return text
}

// obstacleText returns in words why a rule does not give a result.
func (w *explanation) obstacleText(o *guidon.Obstacle) string {
	switch o.Reason {
	case guidon.FlagDisabled:
		return "the flag is disabled"
	case guidon.NoRule:
		return "no rule gives it"
	case guidon.WorkLimit:
		return "the search ended at its limit"
	}
	if o.Step < 0 {
		return noneText(o)
	}
	rule := ruleName(o.Step)
	switch o.Reason {
	case guidon.NoSegments:
		return rule + " has no segments, so it never matches"
	case guidon.SegmentMissing:
		return fmt.Sprintf("%s has segment %q, which does not exist, so it never matches", rule, o.SegmentKey)
	case guidon.EmptyRange:
		return rule + " has no buckets for it"
	case guidon.OtherBucket:
		return fmt.Sprintf("%s has it for buckets %s, and the entity is in another one", rule, rangeText(&o.Range))
	case guidon.EarlierStep:
		return fmt.Sprintf("%s always matches before %s would", ruleName(o.By), rule)
	case guidon.EarlierSteps:
		return fmt.Sprintf("one of the rules up to %s always matches before %s would", ruleName(o.By), rule)
	case guidon.UnknownConstraint:
		return fmt.Sprintf("%s has a constraint of an unknown type, which fails the evaluation", ruleName(o.By))
	case guidon.OtherEntity:
		return rule + " requires another entity id"
	case guidon.Contradiction:
		return contradictionText(o, rule)
	}
	return fmt.Sprintf("no context was found for %s, although there may be one", rule)
}

func contradictionText(o *guidon.Obstacle, rule string) string {
	switch {
	case o.SegmentKey == "":
		return fmt.Sprintf("nothing satisfies the segments of %s together", rule)
	case o.Property == "":
		return fmt.Sprintf("nothing satisfies segment %q of %s", o.SegmentKey, rule)
	}
	return fmt.Sprintf("no value of %s satisfies segment %q of %s", short(o.Property), o.SegmentKey, rule)
}

// noneText returns why it cannot be that no rule matches.
func noneText(o *guidon.Obstacle) string {
	switch o.Reason {
	case guidon.EarlierStep:
		return ruleName(o.By) + " always matches"
	case guidon.EarlierSteps:
		return "one of the rules up to " + ruleName(o.By) + " always matches"
	case guidon.UnknownConstraint:
		return ruleName(o.By) + " has a constraint of an unknown type, which fails the evaluation"
	}
	return "no context was found with which no rule matches, although there may be one"
}

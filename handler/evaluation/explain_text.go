package evaluation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
)

// stepText returns the outcome of a step in words.
func (w *explanation) stepText(i int) string {
	s := &w.e.Steps[i]
	switch s.Outcome {
	case analysis.StepNotReached:
		if w.e.Decided < 0 {
			return "not reached: the flag is disabled"
		}
		return "not reached: " + w.name(w.e.Decided) + " decided"
	case analysis.StepNeverMatches:
		return "never matches: " + neverText(s)
	case analysis.StepNoVariant:
		return fmt.Sprintf("matched, but bucket %d is in no range: the result is no match, and later rules are not tried", s.Bucket.Number)
	case analysis.StepMatched:
		return "matched: " + w.matchedText(s)
	}
	if s.Bucket != nil {
		return fmt.Sprintf("did not match: bucket %d is not below %d", s.Bucket.Number, s.Bucket.Ranges[0].End)
	}
	return "did not match"
}

// neverText returns why a step never matches.
func neverText(s *analysis.ExplainedStep) string {
	for _, g := range s.Segments {
		if g.Segment == nil {
			return fmt.Sprintf("segment %q does not exist", g.Key)
		}
	}
	return "it has no segments"
}

// matchedText returns the result of the step that decided, in words.
func (w *explanation) matchedText(s *analysis.ExplainedStep) string {
	switch {
	case s.Rollout != nil && s.Bucket != nil:
		return fmt.Sprintf("bucket %d is below %d, so the flag is %t", s.Bucket.Number, s.Bucket.Ranges[0].End, w.e.Boolean.Enabled)
	case s.Rollout != nil:
		return fmt.Sprintf("the flag is %t", w.e.Boolean.Enabled)
	case s.Bucket != nil:
		r := &s.Bucket.Ranges[s.Bucket.Chosen]
		return fmt.Sprintf("bucket %d is in %s of %q", s.Bucket.Number, rangeText(r), r.Variant)
	case w.e.Variant.VariantKey == "":
		return "no distribution has a share, so there is no variant"
	}
	return fmt.Sprintf("no distribution has a share, so the variant is the default one, %q", w.e.Variant.VariantKey)
}

// rangeText returns the buckets of a range that is not empty.
func rangeText(r *analysis.Share) string {
	if r.End == r.Start+1 {
		return fmt.Sprintf("%d", r.Start)
	}
	return fmt.Sprintf("%d–%d", r.Start, r.End-1)
}

// name returns the name of a step.
func (w *explanation) name(i int) string {
	if w.e.Boolean != nil {
		return fmt.Sprintf("rollout %d", i+1)
	}
	return fmt.Sprintf("rule %d", i+1)
}

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
	switch {
	case o.Step >= 0:
		then = "then " + w.name(o.Step) + " decides"
	case w.e.Boolean != nil:
		then = "then no rollout matches"
	}
	return strings.Join(parts, ", and ") + "; " + then
}

// changeText returns a needed change of a property in words.
func changeText(c *analysis.PropertyChange) string {
	property := short(c.Property)
	if c.Example == "" {
		return property + " would have to be missing or empty"
	}
	equal := func(o analysis.OutcomeChange) bool {
		return o.Match && o.Constraint.Operator == guidon.OpEQ
	}
	if slices.ContainsFunc(c.Outcomes, equal) {
		return fmt.Sprintf("%s would have to be %q", property, short(c.Example))
	}
	var demands []string
	for _, o := range c.Outcomes[:min(len(c.Outcomes), maxTextParts)] {
		demands = append(demands, demandText(o))
	}
	if len(c.Outcomes) > maxTextParts {
		demands = append(demands, "…")
	}
	return fmt.Sprintf("%s would have to %s, such as %q", property, strings.Join(demands, " and "), short(c.Example))
}

// demandText returns the outcome that a constraint must have in words.
func demandText(o analysis.OutcomeChange) string {
	text := "match "
	if !o.Match {
		text = "not match "
	}
	text += o.Constraint.Operator
	if o.Constraint.Value != "" {
		text += " " + short(o.Constraint.Value)
	}
	return text
}

// obstacleText returns in words why a step does not give a result.
func (w *explanation) obstacleText(o *analysis.Obstacle) string {
	switch o.Reason {
	case analysis.FlagDisabled:
		return "the flag is disabled"
	case analysis.NoRule:
		if w.e.Boolean != nil {
			return "no rollout has this value"
		}
		return "no rule has this variant"
	case analysis.WorkLimit:
		return "the search ended at its limit"
	}
	if o.Step < 0 {
		return w.noneText(o)
	}
	step := w.name(o.Step)
	switch o.Reason {
	case analysis.NoSegments:
		return step + " has no segments, so it never matches"
	case analysis.SegmentMissing:
		return fmt.Sprintf("%s has segment %q, which does not exist, so it never matches", step, o.SegmentKey)
	case analysis.EmptyRange:
		return step + " has no buckets for it"
	case analysis.OtherBucket:
		return fmt.Sprintf("%s has it for buckets %s, and the entity is in another one", step, rangeText(&o.Range))
	case analysis.EarlierStep:
		return fmt.Sprintf("%s always matches before %s would", w.name(o.By), step)
	case analysis.EarlierSteps:
		return fmt.Sprintf("one of the steps up to %s always matches before %s would", w.name(o.By), step)
	case analysis.UnknownConstraint:
		return fmt.Sprintf("%s has a constraint of an unknown type, which fails the evaluation", w.name(o.By))
	case analysis.OtherEntity:
		return step + " requires another entity id"
	case analysis.Contradiction:
		return contradictionText(o, step)
	}
	return fmt.Sprintf("no context was found for %s, although there may be one", step)
}

func contradictionText(o *analysis.Obstacle, step string) string {
	switch {
	case o.SegmentKey == "":
		return fmt.Sprintf("nothing satisfies the segments of %s together", step)
	case o.Property == "":
		return fmt.Sprintf("nothing satisfies segment %q of %s", o.SegmentKey, step)
	}
	return fmt.Sprintf("no value of %s satisfies segment %q of %s", short(o.Property), o.SegmentKey, step)
}

// noneText returns why it cannot be that no step matches.
func (w *explanation) noneText(o *analysis.Obstacle) string {
	switch o.Reason {
	case analysis.EarlierStep:
		return w.name(o.By) + " always matches"
	case analysis.EarlierSteps:
		return "one of the steps up to " + w.name(o.By) + " always matches"
	case analysis.UnknownConstraint:
		return w.name(o.By) + " has a constraint of an unknown type, which fails the evaluation"
	}
	return "no context was found with which no step matches, although there may be one"
}

package object

import (
	"strings"
	"time"

	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
)

// variantLine returns a variant in words, such as "one-page (default): {"columns":1}".
func variantLine(v *guidonv1.DocumentVariant) string {
	line := cli.Printable(v.GetKey())
	if v.GetDefault() {
		line += " (default)"
	}
	if v.GetAttachment() != "" {
		line += ": " + cli.Printable(v.GetAttachment())
	}
	return line
}

// ruleLines returns the rules of a flag in words, with what their ramps do at an instant.
func ruleLines(f *guidonv1.DocumentFlag, at time.Time) []string {
	line := variantRuleLine
	if isBoolean(f) {
		line = booleanRuleLine
	}
	return lists.Map(rulesOf(f), func(r *rule) string { return line(r) + rampText(r.GetPortion(), at) })
}

// rampText returns what the ramp of a portion does at an instant, such as " (12% now, paused)".
func rampText(p *flipt.Portion, at time.Time) string {
	if p.GetRamp() == nil {
		return ""
	}
	return " (" + analysis.RampWords(convert.RampOf(p.GetRamp()), p.GetPercentage(), at) + ")"
}

// variantRuleLine returns a rule in words, such as "any of germany, nordics: 50% a, 50% b".
func variantRuleLine(r *rule) string {
	shares := lists.Map(r.GetDistributions(), func(d *guidonv1.DocumentDistribution) string {
		return cli.Percent(d.GetRollout()) + " " + cli.Printable(d.GetVariant())
	})
	switch {
	case r.GetCodeDefault():
		shares = []string{"the default in the code"}
	case len(shares) == 0:
		shares = []string{"no variant"}
	}
	if s := convert.SplitOf(r.GetSplit()); s != nil {
		shares = append(shares, "divided "+change.SplitWords(*s))
	}
	return targetText(r.DocumentRule) + ": " + strings.Join(shares, ", ")
}

// booleanRuleLine returns a rule of a boolean flag in words, such as "50%: on".
func booleanRuleLine(r *rule) string {
	whom := targetText(r.DocumentRule)
	if !hasTarget(r.DocumentRule) {
		c := *convert.ConditionsOf(r).Stated()
		share := change.PortionWords(c.Portion, "")
		c.Portion = nil
		whom = change.TargetWords(share, &c, maxLine)
	}
	line := whom + ": " + change.OnOff(r.value)
	if r.description != "" {
		line += " (" + cli.Printable(r.description) + ")"
	}
	return line
}

// targetText returns whom the rule is for in words.
func targetText(r *guidonv1.DocumentRule) string {
	c := convert.ConditionsOf(r)
	return change.TargetWords(segmentsText(r.GetSegmentKeys(), r.GetSegmentOperator()), c.Stated(), maxLine)
}

func segmentsText(keys []string, operator flipt.SegmentOperator) string {
	text := cli.Printable(strings.Join(keys, ", "))
	switch {
	case len(keys) < 2:
		return text
	case operator == flipt.SegmentOperator_AND_SEGMENT_OPERATOR:
		return "all of " + text
	}
	return "any of " + text
}

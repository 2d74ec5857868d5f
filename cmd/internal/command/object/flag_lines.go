package object

import (
	"strings"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
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

// ruleLines returns the rules of a flag in words.
func ruleLines(f *guidonv1.DocumentFlag) []string {
	var lines []string
	for _, r := range f.GetRules() {
		lines = append(lines, ruleLine(r))
	}
	for _, r := range f.GetRollouts() {
		lines = append(lines, rolloutLine(r))
	}
	return lines
}

// ruleLine returns a rule in words, such as "any of germany, nordics: 50% a, 50% b".
func ruleLine(r *guidonv1.DocumentRule) string {
	var shares []string
	for _, d := range r.GetDistributions() {
		shares = append(shares, cli.Percent(d.GetRollout())+" "+cli.Printable(d.GetVariant()))
	}
	if len(shares) == 0 {
		shares = []string{"no variant"}
	}
	return segmentsText(r.GetSegmentKeys(), r.GetSegmentOperator()) + ": " + strings.Join(shares, ", ")
}

// rolloutLine returns a rule of a boolean flag in words, such as "50%: on".
func rolloutLine(r *guidonv1.DocumentRollout) string {
	whom := cli.Percent(r.GetThreshold().GetPercentage())
	if s := r.GetSegment(); s != nil {
		whom = segmentsText(s.GetSegmentKeys(), s.GetSegmentOperator())
	}
	line := whom + ": " + change.OnOff(rolloutValue(r))
	if r.GetDescription() != "" {
		line += " (" + cli.Printable(r.GetDescription()) + ")"
	}
	return line
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

package evaluate

import (
	"cmp"
	"fmt"
	"io"
	"strconv"

	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
)

// explanation returns an explanation as a tree.
func explanation(r *guidonv1.ExplainResponse) string {
	text := fmt.Sprintf("%s is %s for %s%s\n", cli.Printable(r.GetNamespaceKey()+"/"+r.GetFlagKey()), resultText(r),
		cli.Printable(cmp.Or(r.GetEntityId(), "an entity without id")), asOf(r))
	text += cli.Tree(append(lists.Map(r.GetRequirements(), requirement), lists.Map(r.GetSteps(), step)...))
	if len(r.GetOthers()) == 0 {
		return text
	}
	others := lists.Map(r.GetOthers(), func(o *guidonv1.OtherResult) cli.Node { return cli.Leaf(otherText(r, o)) })
	if r.GetLimited() {
		others = append(others, cli.Leaf("… (the search ended at its limit)"))
	}
	return text + "It would be\n" + cli.Tree(others)
}

// asOf returns when the result holds in words, or "" if it does at all times.
func asOf(r *guidonv1.ExplainResponse) string {
	if r.GetAsOf() == nil {
		return ""
	}
	return " on " + analysis.InstantWords(r.GetAsOf().AsTime())
}

// resultText returns the result in words.
func resultText(r *guidonv1.ExplainResponse) string {
	if b := r.GetResult().GetBooleanResponse(); b != nil {
		return fmt.Sprintf("%s (%s)", change.OnOff(b.GetEnabled()), decidedText(r, "the default value"))
	}
	v := r.GetResult().GetVariantResponse()
	reason := "no rule matched"
	if !r.GetEnabled() {
		reason = "its state is off"
	}
	return fmt.Sprintf("%s (%s)", variantText(v.GetMatch(), v.GetVariantKey()), decidedText(r, reason))
}

// decidedText names the rule, or the unmet flag, that decided, or returns none if nothing did.
func decidedText(r *guidonv1.ExplainResponse, none string) string {
	if n := r.GetDecidedBy(); n > 0 {
		return fmt.Sprintf("rule %d", n)
	}
	if r.GetUnmet() != "" {
		return cli.Printable(r.GetUnmet()) + " is not as required"
	}
	return none
}

// variantText returns the result of a variant flag. Without a match the variant is the
// default one.
func variantText(match bool, variant string) string {
	switch {
	case match && variant == "":
		return "a match without variant"
	case match:
		return cli.Printable(variant)
	case variant == "":
		return "no match"
	}
	return cli.Printable(variant) + " by default"
}

func step(s *guidonv1.ExplainedStep) cli.Node {
	line := fmt.Sprintf("%s rule %d %s", stepMark(s.GetOutcome()), s.GetNumber(), cli.Printable(s.GetText()))
	if s.GetDescription() != "" {
		line += " (" + cli.Printable(s.GetDescription()) + ")"
	}
	if s.GetOutcome() == "not_reached" {
		return cli.Leaf(line)
	}
	return cli.Node{Line: line, Below: partsOf(s)}
}

// partsOf returns the segments and conditions of a rule, in order.
func partsOf(s *guidonv1.ExplainedStep) (parts []cli.Node) {
	of := ""
	switch {
	case len(s.GetSegments()) < 2:
	case s.GetSegmentOperator() == flipt.SegmentOperator_AND_SEGMENT_OPERATOR:
		of = " (all segments must match)"
	default:
		of = " (one segment must match)"
	}
	for _, g := range s.GetSegments() {
		parts = append(parts, segment(cli.Mark(g.GetMatched())+" segment "+cli.Printable(g.GetKey()), g, of))
		of = ""
	}
	for _, g := range s.GetGroups() {
		parts = append(parts, segment(cli.Mark(g.GetMatched())+" if", g, ""))
	}
	for _, g := range s.GetExceptions() {
		parts = append(parts, segment(cli.Mark(!g.GetMatched())+" except segment "+cli.Printable(g.GetKey()), g, ""))
	}
	parts = append(parts, lists.Map(s.GetRequirements(), requirement)...)
	if p := s.GetPortion(); p != nil {
		parts = append(parts, cli.Leaf(cli.Mark(p.GetChosen() > 0)+" "+cli.Printable(s.GetPortionText())))
	}
	return parts
}

func requirement(r *guidonv1.ExplainedRequirement) cli.Node {
	return cli.Leaf(cli.Mark(r.GetMet()) + " needs: " + cli.Printable(r.GetText()))
}

// stepMark is the mark of a rule that matched, or not, or was not reached.
func stepMark(outcome string) string {
	switch outcome {
	case "matched", "no_variant":
		return "✓"
	case "not_reached":
		return "·"
	}
	return "✗"
}

func segment(line string, g *guidonv1.ExplainedSegment, of string) cli.Node {
	constraints := g.GetConstraints()
	switch {
	case !g.GetExists():
		line += " does not exist"
	case g.GetConstraintsOmitted():
		line += " …"
	case len(constraints) == 0:
		line += " has no constraints"
	case len(constraints) > 1 && g.GetMatchType() == flipt.MatchType_ANY_MATCH_TYPE:
		line += ": any of"
	case len(constraints) > 1:
		line += ": all of"
	}
	return cli.Node{Line: line + of, Below: lists.Map(constraints, constraint)}
}

func constraint(c *guidonv1.ExplainedConstraint) cli.Node {
	text := cli.Printable(c.GetProperty()) + " " + c.GetOperator()
	if c.GetExpected() != "" {
		text += " " + cli.Printable(c.GetExpected())
	}
	if c.GetNegate() {
		text = "not (" + text + ")"
	}
	text = cli.Mark(c.GetMatched()) + " " + text
	if c.GetActual() == "" {
		text += ": missing"
	} else {
		text += ": " + strconv.Quote(c.GetActual())
	}
	if c.GetProblem() != "" && c.GetActual() != "" {
		text += ", " + c.GetProblem()
	}
	return cli.Leaf(text)
}

// otherText returns another result in words, with the changes needed for it.
func otherText(r *guidonv1.ExplainResponse, o *guidonv1.OtherResult) string {
	result := variantText(o.GetMatch(), o.GetVariantKey())
	if r.GetFlagType() == flipt.FlagType_BOOLEAN_FLAG_TYPE {
		result = change.OnOff(o.GetEnabled())
	}
	switch o.GetVerdict() {
	case "reachable":
		return fmt.Sprintf("✓ %s: %s", result, cli.Printable(o.GetText()))
	case "impossible":
		return fmt.Sprintf("✗ %s: not for this entity, because %s", result, cli.Printable(o.GetText()))
	}
	return fmt.Sprintf("? %s: %s", result, cli.Printable(o.GetText()))
}

// countTable returns the table of how many entities have each result.
func countTable(r *guidonv1.ExplainBatchResponse) func(out io.Writer) error {
	return cli.Rows("RESULT\tENTITIES\tSHARE", r.GetCounts(), func(c *guidonv1.ResultCount) []any {
		result := variantText(c.GetMatch(), c.GetVariantKey())
		if r.GetFlagType() == flipt.FlagType_BOOLEAN_FLAG_TYPE {
			result = change.OnOff(c.GetEnabled())
		}
		return []any{result, c.GetCount(), fmt.Sprintf("%.1f%%", 100*float64(c.GetCount())/float64(len(r.GetResults())))}
	})
}

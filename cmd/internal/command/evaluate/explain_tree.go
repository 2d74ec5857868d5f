package evaluate

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strconv"

	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// printExplanation prints an explanation as a tree. Write errors are those of out.
func printExplanation(out io.Writer, r *guidonv1.ExplainResponse) error {
	t := &cli.Tree{Out: bufio.NewWriter(out)}
	fmt.Fprintf(t.Out, "%s is %s for %s%s\n", cli.Printable(r.GetNamespaceKey()+"/"+r.GetFlagKey()), resultText(r),
		cli.Printable(cmp.Or(r.GetEntityId(), "an entity without id")), asOf(r))
	for i, one := range r.GetRequirements() {
		t.Branch(i == len(r.GetRequirements())-1 && len(r.GetSteps()) == 0, requirementText(one), nil)
	}
	for i, s := range r.GetSteps() {
		step(t, i == len(r.GetSteps())-1, s)
	}
	if len(r.GetOthers()) == 0 {
		return t.Out.Flush()
	}
	fmt.Fprintln(t.Out, "It would be")
	for i, o := range r.GetOthers() {
		t.Branch(i == len(r.GetOthers())-1 && !r.GetLimited(), otherText(r, o), nil)
	}
	if r.GetLimited() {
		t.Branch(true, "… (the search ended at its limit)", nil)
	}
	return t.Out.Flush()
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

func step(t *cli.Tree, last bool, s *guidonv1.ExplainedStep) {
	line := fmt.Sprintf("%s rule %d %s", stepMark(s.GetOutcome()), s.GetNumber(), cli.Printable(s.GetText()))
	if s.GetDescription() != "" {
		line += " (" + cli.Printable(s.GetDescription()) + ")"
	}
	if s.GetOutcome() == "not_reached" {
		t.Branch(last, line, nil)
		return
	}
	t.Branch(last, line, func(t *cli.Tree) {
		parts := partsOf(s)
		for i, part := range parts {
			part(t, i == len(parts)-1)
		}
	})
}

// partsOf returns what prints the segments and conditions of a rule, in order.
func partsOf(s *guidonv1.ExplainedStep) (parts []func(t *cli.Tree, last bool)) {
	add := func(name string, g *guidonv1.ExplainedSegment, of string) {
		parts = append(parts, func(t *cli.Tree, last bool) { segment(t, last, name, g, of) })
	}
	of := ""
	switch {
	case len(s.GetSegments()) < 2:
	case s.GetSegmentOperator() == flipt.SegmentOperator_AND_SEGMENT_OPERATOR:
		of = " (all segments must match)"
	default:
		of = " (one segment must match)"
	}
	for _, g := range s.GetSegments() {
		add("segment "+cli.Printable(g.GetKey()), g, of)
		of = ""
	}
	for _, g := range s.GetGroups() {
		add("if", g, "")
	}
	for _, g := range s.GetExceptions() {
		g.Matched = new(!g.GetMatched())
		add("except segment "+cli.Printable(g.GetKey()), g, "")
	}
	for _, r := range s.GetRequirements() {
		parts = append(parts, func(t *cli.Tree, last bool) { t.Branch(last, requirementText(r), nil) })
	}
	if p := s.GetPortion(); p != nil {
		parts = append(parts, func(t *cli.Tree, last bool) {
			t.Branch(last, cli.Mark(p.GetChosen() > 0)+" "+cli.Printable(s.GetPortionText()), nil)
		})
	}
	return parts
}

func requirementText(r *guidonv1.ExplainedRequirement) string {
	return cli.Mark(r.GetMet()) + " needs: " + cli.Printable(r.GetText())
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

func segment(t *cli.Tree, last bool, name string, g *guidonv1.ExplainedSegment, of string) {
	line := cli.Mark(g.GetMatched()) + " " + name
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
	t.Branch(last, line+of, func(t *cli.Tree) {
		for i, c := range constraints {
			t.Branch(i == len(constraints)-1, constraintText(c), nil)
		}
	})
}

func constraintText(c *guidonv1.ExplainedConstraint) string {
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
	return text
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

// printCounts prints how many entities have each result.
func printCounts(out io.Writer, r *guidonv1.ExplainBatchResponse) error {
	return cli.PrintTable(out, "RESULT\tENTITIES\tSHARE", r.GetCounts(), func(c *guidonv1.ResultCount) []any {
		result := variantText(c.GetMatch(), c.GetVariantKey())
		if r.GetFlagType() == flipt.FlagType_BOOLEAN_FLAG_TYPE {
			result = change.OnOff(c.GetEnabled())
		}
		return []any{result, c.GetCount(), fmt.Sprintf("%.1f%%", 100*float64(c.GetCount())/float64(len(r.GetResults())))}
	})
}

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

// decidedText names the rule that decided, or returns none if no rule did.
func decidedText(r *guidonv1.ExplainResponse, none string) string {
	if n := r.GetDecidedBy(); n > 0 {
		return fmt.Sprintf("rule %d", n)
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
		segments := s.GetSegments()
		for i, g := range segments {
			of := ""
			if len(segments) > 1 && s.GetSegmentOperator() == flipt.SegmentOperator_AND_SEGMENT_OPERATOR {
				of = " (all segments must match)"
			} else if len(segments) > 1 {
				of = " (one segment must match)"
			}
			if i > 0 {
				of = ""
			}
			segment(t, i == len(segments)-1 && !conditional(s), "segment "+cli.Printable(g.GetKey()), g, of)
		}
		conditions(t, s)
	})
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

// conditional reports whether the rule has conditions besides segments.
func conditional(s *guidonv1.ExplainedStep) bool {
	return len(s.GetGroups()) > 0 || len(s.GetExceptions()) > 0 || s.GetPortion() != nil
}

func conditions(t *cli.Tree, s *guidonv1.ExplainedStep) {
	for i, g := range s.GetGroups() {
		last := i == len(s.GetGroups())-1 && len(s.GetExceptions()) == 0 && s.GetPortion() == nil
		segment(t, last, "if", g, "")
	}
	for i, g := range s.GetExceptions() {
		g.Matched = new(!g.GetMatched())
		segment(t, i == len(s.GetExceptions())-1 && s.GetPortion() == nil, "except segment "+cli.Printable(g.GetKey()), g, "")
	}
	if p := s.GetPortion(); p != nil {
		t.Branch(true, cli.Mark(p.GetChosen() > 0)+" "+cli.Printable(s.GetPortionText()), nil)
	}
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

package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// tree prints lines with branches in front.
type tree struct {
	out    *bufio.Writer
	indent string
}

// branch prints a line, and lets below print those that belong to it.
func (t *tree) branch(last bool, line string, below func(t *tree)) {
	mark, indent := "├─ ", "│  "
	if last {
		mark, indent = "└─ ", "   "
	}
	fmt.Fprintf(t.out, "%s%s%s\n", t.indent, mark, line)
	if below != nil {
		below(&tree{t.out, t.indent + indent})
	}
}

// printExplanation prints an explanation as a tree. Write errors are those of out.
func printExplanation(out io.Writer, r *guidonv1.ExplainResponse) error {
	t := &tree{out: bufio.NewWriter(out)}
	fmt.Fprintf(t.out, "%s is %s for %s\n",
		printable(r.GetNamespaceKey()+"/"+r.GetFlagKey()), resultText(r), printable(cmp.Or(r.GetEntityId(), "an entity without id")))
	for i, s := range r.GetSteps() {
		t.step(i == len(r.GetSteps())-1, s)
	}
	if len(r.GetOthers()) == 0 {
		return t.out.Flush()
	}
	fmt.Fprintln(t.out, "It would be")
	for i, o := range r.GetOthers() {
		t.branch(i == len(r.GetOthers())-1 && !r.GetLimited(), otherText(r, o), nil)
	}
	if r.GetLimited() {
		t.branch(true, "… (the search ended at its limit)", nil)
	}
	return t.out.Flush()
}

// resultText returns the result in words.
func resultText(r *guidonv1.ExplainResponse) string {
	if b := r.GetResult().GetBooleanResponse(); b != nil {
		return fmt.Sprintf("%t (%s)", b.GetEnabled(), decidedText(r, "the value of the flag"))
	}
	v := r.GetResult().GetVariantResponse()
	reason := "no rule matched"
	if !r.GetEnabled() {
		reason = "the flag is disabled"
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
		return printable(variant)
	case variant == "":
		return "no match"
	}
	return printable(variant) + " by default"
}

func (t *tree) step(last bool, s *guidonv1.ExplainedStep) {
	line := fmt.Sprintf("%s rule %d %s", stepMark(s.GetOutcome()), s.GetNumber(), printable(s.GetText()))
	if s.GetDescription() != "" {
		line += " (" + printable(s.GetDescription()) + ")"
	}
	if s.GetOutcome() == "not_reached" {
		t.branch(last, line, nil)
		return
	}
	t.branch(last, line, func(t *tree) {
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
			t.segment(i == len(segments)-1, g, of)
		}
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

func mark(matched bool) string {
	if matched {
		return "✓"
	}
	return "✗"
}

func (t *tree) segment(last bool, g *guidonv1.ExplainedSegment, of string) {
	line := fmt.Sprintf("%s segment %s", mark(g.GetMatched()), printable(g.GetKey()))
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
	t.branch(last, line+of, func(t *tree) {
		for i, c := range constraints {
			t.branch(i == len(constraints)-1, constraintText(c), nil)
		}
	})
}

func constraintText(c *guidonv1.ExplainedConstraint) string {
	text := fmt.Sprintf("%s %s %s", mark(c.GetMatched()), printable(c.GetProperty()), c.GetOperator())
	if c.GetExpected() != "" {
		text += " " + printable(c.GetExpected())
	}
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
		result = strconv.FormatBool(o.GetEnabled())
	}
	switch o.GetVerdict() {
	case "reachable":
		return fmt.Sprintf("✓ %s: %s", result, printable(o.GetText()))
	case "impossible":
		return fmt.Sprintf("✗ %s: never for this entity, because %s", result, printable(o.GetText()))
	}
	return fmt.Sprintf("? %s: %s", result, printable(o.GetText()))
}

// printCounts prints how many entities have each result.
func printCounts(out io.Writer, r *guidonv1.ExplainBatchResponse) error {
	table := newTable(out, "RESULT\tENTITIES\tSHARE")
	for _, c := range r.GetCounts() {
		result := variantText(c.GetMatch(), c.GetVariantKey())
		if r.GetFlagType() == flipt.FlagType_BOOLEAN_FLAG_TYPE {
			result = strconv.FormatBool(c.GetEnabled())
		}
		fmt.Fprintf(table, "%s\t%d\t%.1f%%\n", result, c.GetCount(), 100*float64(c.GetCount())/float64(len(r.GetResults())))
	}
	return table.Flush()
}

// printable returns a text from the service for a terminal. One that could control it is quoted.
func printable(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(text)
	}
	return text
}

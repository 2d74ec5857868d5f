package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// effectFlag adds the flag --effect.
func effectFlag(command *cobra.Command, effect *bool) {
	command.Flags().BoolVar(effect, "effect", false, "also print what changes for users of each flag")
}

// printOtherEffects prints the effects of the plan that are among these, by flag: those on
// flags that the plan itself does not update.
func printOtherEffects(out io.Writer, plan *guidonv1.PlanResponse, others map[string]*guidonv1.FlagEffect) {
	for _, e := range plan.GetEffects() {
		if others[e.GetFlagKey()] != nil {
			fmt.Fprintf(out, "  flag %s (uses a changed segment)\n", printable(e.GetFlagKey()))
			printEffect(out, e.GetEffect())
		}
	}
	if plan.GetEffectsTruncated() {
		fmt.Fprintln(out, "  there may be effects on more flags than these")
	}
}

// printEffect prints an effect, which may be nil, below the line of its flag.
func printEffect(out io.Writer, e *guidonv1.FlagEffect) {
	for _, line := range effectLines(e) {
		fmt.Fprintf(out, "    effect: %s\n", line)
	}
}

// effectLines returns an effect in words, one line for each move.
func effectLines(e *guidonv1.FlagEffect) []string {
	var lines []string
	if e.GetTypeChanged() {
		is, was := flagKind(e.GetType()), flagKind(flipt.FlagType_BOOLEAN_FLAG_TYPE)
		if is == was {
			was = flagKind(flipt.FlagType_VARIANT_FLAG_TYPE)
		}
		lines = append(lines, fmt.Sprintf("it becomes a %s flag; evaluations as a %s flag fail", is, was))
	}
	for _, g := range e.GetGroups() {
		for _, m := range g.GetMoves() {
			lines = append(lines, printable(m.GetSummary()))
		}
	}
	if e.GetTruncated() {
		lines = append(lines, "there may be more; the flag has too many rules to compare all of them")
	}
	return lines
}

// flagKind returns the word for flags of the type.
func flagKind(t flipt.FlagType) string {
	if t == flipt.FlagType_BOOLEAN_FLAG_TYPE {
		return "boolean"
	}
	return "variant"
}

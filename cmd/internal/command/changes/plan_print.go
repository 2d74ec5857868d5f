package changes

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// shownPlans returns the output for plans.
func shownPlans(plans []*guidonv1.PlanResponse) cli.Output {
	var names []string
	for _, plan := range plans {
		for _, c := range plan.GetChanges() {
			names = append(names, plan.GetNamespaceKey()+"/"+c.GetKind()+"/"+c.GetKey())
		}
	}
	return cli.Output{Data: cli.DataOfAll(plans), Names: names, Table: func(out io.Writer) error {
		for _, plan := range plans {
			PrintPlan(out, plan)
		}
		return nil
	}}
}

// PrintPlan prints a plan in words.
func PrintPlan(out io.Writer, plan *guidonv1.PlanResponse) {
	counts := make(map[string]int)
	for _, c := range plan.GetChanges() {
		counts[c.GetAction()]++
	}
	fmt.Fprintf(out, "%s: %d to create, %d to update, %d to delete, %d unchanged", plan.GetNamespaceKey(),
		counts[string(change.ActionCreate)], counts[string(change.ActionUpdate)], counts[string(change.ActionDelete)], plan.GetUnchanged())
	if plan.GetSourceNamespaceKey() != "" {
		fmt.Fprintf(out, "; from %s at revision %d", plan.GetSourceNamespaceKey(), plan.GetSourceRevision())
	}
	fmt.Fprintln(out)
	effects := make(map[string]*guidonv1.FlagEffect)
	for _, e := range plan.GetEffects() {
		effects[e.GetFlagKey()] = e.GetEffect()
	}
	for _, c := range plan.GetChanges() {
		printPlanned(out, c)
		if c.GetKind() == string(change.KindFlag) {
			fmt.Fprint(out, EffectText(effects[c.GetKey()]))
			delete(effects, c.GetKey())
		}
	}
	printOtherEffects(out, plan, effects)
	for _, c := range plan.GetConflicts() {
		printConflict(out, c)
	}
	for _, w := range plan.GetWarnings() {
		fmt.Fprintf(out, "  warning: %s\n", w.GetText())
	}
}

func printPlanned(out io.Writer, c *guidonv1.PlannedChange) {
	required := ""
	if c.GetRequired() {
		required = " (required)"
	}
	fmt.Fprintf(out, "  %s %s %s%s\n", cli.Action(c.GetAction()).For(out), c.GetKind(), c.GetKey(), required)
	if c.GetAction() != string(change.ActionUpdate) {
		return
	}
	for _, d := range c.GetDifferences() {
		fmt.Fprintf(out, "    %s\n", d.GetSummary())
	}
	if len(c.GetDifferences()) == 0 { // of an abridged plan
		fmt.Fprintf(out, "    %s\n", c.GetSummary())
	}
}

// effectFlag adds the flag --effect.
func effectFlag(command *cobra.Command, effect *bool) {
	command.Flags().BoolVar(effect, "effect", false, "also print what changes for users of each flag")
}

// printOtherEffects prints the effects of the plan that are among these, by flag: those on
// flags that the plan itself does not update.
func printOtherEffects(out io.Writer, plan *guidonv1.PlanResponse, others map[string]*guidonv1.FlagEffect) {
	for _, e := range plan.GetEffects() {
		if others[e.GetFlagKey()] != nil {
			fmt.Fprintf(out, "  flag %s (uses a changed segment)\n%s", cli.Printable(e.GetFlagKey()), EffectText(e.GetEffect()))
		}
	}
	if plan.GetEffectsTruncated() {
		fmt.Fprintln(out, "  there may be effects on more flags than these")
	}
}

// EffectText returns an effect, which may be nil, below the line of its flag.
func EffectText(e *guidonv1.FlagEffect) (text string) {
	for _, line := range EffectLines(e) {
		text += "    effect: " + line + "\n"
	}
	return text
}

// EffectLines returns an effect in words, one line for each move.
func EffectLines(e *guidonv1.FlagEffect) []string {
	lines := linesAtOnce(e)
	for _, l := range e.GetLater() {
		from := "from " + analysis.InstantWords(l.GetAt().AsTime()) + ": "
		later := EffectLines(l.GetEffect())
		if len(later) == 0 {
			later = []string{"nothing changes for anybody"}
		}
		for _, line := range later {
			lines = append(lines, from+line)
		}
	}
	for _, d := range e.GetDependents() {
		for _, line := range EffectLines(d.GetEffect()) {
			lines = append(lines, fmt.Sprintf("flag %s, which depends on it: %s", cli.Printable(d.GetFlagKey()), line))
		}
	}
	return lines
}

func linesAtOnce(e *guidonv1.FlagEffect) []string {
	var lines []string
	if e.GetTypeChanged() {
		is, was := cli.FlagKind(e.GetType()), cli.FlagKind(flipt.FlagType_BOOLEAN_FLAG_TYPE)
		if is == was {
			was = cli.FlagKind(flipt.FlagType_VARIANT_FLAG_TYPE)
		}
		lines = append(lines, fmt.Sprintf("it becomes a %s flag; evaluations as a %s flag fail", is, was))
	}
	if all := e.GetEveryone(); all != "" {
		return append(lines, cli.Printable(all))
	}
	for _, g := range e.GetGroups() {
		for _, m := range g.GetMoves() {
			if m.GetSummary() != "" { // otherwise an earlier one says it
				lines = append(lines, cli.Printable(m.GetSummary()))
			}
		}
	}
	if e.GetTruncated() {
		lines = append(lines, "there may be more: rules that were not compared, or flags that depend on this one")
	}
	return lines
}

package changes

import (
	"fmt"
	"io"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
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
			PrintEffect(out, effects[c.GetKey()])
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

package changes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/internal/lists"
)

const applyHelp = `Make namespaces equal to files, as "guidon plan" shows. It prints the plan first, and asks
for confirmation.

With --plan, it applies a saved plan without asking. If that would now be different, for
example because somebody has changed a flag since, nothing is changed.

Namespaces are applied one after the other, in the order of the files, each of them
completely or not at all. If one fails, the following ones are not applied, and the output
says what was applied and what was not. It can be run again: what is already as in the
files stays as it is.
`

const applyExample = `  guidon apply flags/
  guidon apply flags/ --plan plan.json -m "release 42" --address https://flags.example
  guidon apply shop.yaml --drop --yes`

// ApplyCommand returns the command "apply".
func ApplyCommand(p *cli.Program) *cobra.Command {
	c := &planCommand{Task: cli.Task{Program: p, Scope: cli.OnMachine}}
	return c.Command(cli.Verb{
		Use: "apply <directory>|<file>...", Short: "Make namespaces equal to files", Long: applyHelp, Example: applyExample,
		Names: changedNames, Args: cobra.ArbitraryArgs, Run: c.runApply,
		Check: func(command *cobra.Command) error { return cli.NotEmpty(command, "plan") },
		Options: func(command *cobra.Command) {
			c.Connection.WriteFlags(command)
			c.fileFlags(command)
			command.Flags().StringVar(&c.saved, "plan", "", "apply the plan that is saved in this `file`")
		},
	})
}

func (c *planCommand) runApply(ctx context.Context, paths []string) error {
	if c.effect && (c.saved != "" || c.Output.ForPrograms()) {
		return cli.UsageError(`--effect cannot be combined with --plan or --output, which print no plan; use "guidon plan --effect"`)
	}
	documents, err := c.read(paths)
	if err != nil {
		return err
	}
	var plans []savedPlan
	if c.saved != "" {
		if plans, err = c.load(documents); err != nil {
			return err
		}
	}
	return c.With(ctx, cli.Writing, func(service client.Client) error {
		if c.saved == "" {
			if plans, err = c.confirmed(ctx, service, documents); err != nil || plans == nil {
				return err
			}
		}
		return c.applyAll(ctx, service, documents, plans)
	})
}

// confirmed plans the documents, and returns the plans if the user confirms them. It returns
// nil if there is nothing to do.
func (c *planCommand) confirmed(ctx context.Context, service client.Client, documents []cli.FileDocument) ([]savedPlan, error) {
	responses, err := c.planAll(ctx, service, documents)
	if err != nil {
		return nil, fmt.Errorf("nothing was applied: %w", err)
	}
	if !c.Output.ForPrograms() {
		for _, plan := range responses {
			PrintPlan(c.Out, plan)
		}
	}
	plans := lists.Map(responses, savedPlanOf)
	if n := changesOf(responses); n > 0 {
		return plans, c.Confirm(WillApply(n, c.Connection.Place(namespaceList(plans))))
	}
	if c.Output.ForPrograms() {
		return plans, nil // so that the output states the outcome for each namespace
	}
	fmt.Fprintln(c.Out, "nothing to do")
	return nil, nil
}

func namespaceList(plans []savedPlan) string {
	return strings.Join(lists.Map(plans, func(plan savedPlan) string { return plan.Namespace }), ", ")
}

// outcome is the outcome for one namespace, in JSON.
type outcome struct {
	Namespace string `json:"namespaceKey"`
	Status    string `json:"status"` // applied, unchanged, failed or "not applied"
	Changes   int    `json:"changes"`
	Revision  int64  `json:"revision,omitempty"`
	Error     string `json:"error,omitempty"`
}

// applyAll applies the plans in order, up to the first that fails.
func (c *planCommand) applyAll(ctx context.Context, service client.Client, documents []cli.FileDocument, plans []savedPlan) error {
	if !c.Output.ForPrograms() && len(plans) > 1 {
		fmt.Fprintf(c.Out, "applying in this order: %s\n", namespaceList(plans))
	}
	outcomes := make([]outcome, len(plans))
	var failed error
	for i, plan := range plans {
		outcomes[i] = outcome{Namespace: plan.Namespace, Status: "not applied", Changes: len(plan.Changes)}
		if failed != nil {
			continue
		}
		done, err := apply(ctx, service, c.request(documents[i]), plan)
		switch {
		case err != nil:
			failed = fmt.Errorf("%s, namespace %s: %w", cli.StreamName(documents[i].Path), guidon.Quote(plan.Namespace), err)
			outcomes[i].Status, outcomes[i].Error = "failed", err.Error()
			continue
		case len(plan.Changes) == 0:
			outcomes[i].Status = "unchanged"
		default:
			outcomes[i].Status = "applied"
		}
		if outcomes[i].Revision = done.GetRevision(); !c.Output.ForPrograms() {
			fmt.Fprintln(c.Out, outcomes[i].text())
		}
	}
	if c.Output.ForPrograms() {
		if err := c.Show(c.Output, shownOutcomes(outcomes)); err != nil {
			return errors.Join(failed, err)
		}
	}
	return withOutcomes(failed, outcomes)
}

// shownOutcomes returns the output for outcomes. Their names are those of the namespaces that
// changed.
func shownOutcomes(outcomes []outcome) cli.Output {
	var names []string
	for _, o := range outcomes {
		if o.Status == "applied" {
			names = append(names, o.Namespace)
		}
	}
	return cli.Output{Data: cli.DataOfValue(outcomes), Names: names}
}

func (o outcome) text() string {
	if o.Status == "unchanged" {
		return fmt.Sprintf("%s: nothing to do", o.Namespace)
	}
	return fmt.Sprintf("%s: %s applied; revision %d", o.Namespace, cli.Count(o.Changes, "change"), o.Revision)
}

// WillApply returns the text that asks for confirmation before changes are applied.
func WillApply(changes int, namespaces string) string {
	return fmt.Sprintf("%s will be applied to %s.\n", cli.Count(changes, "change"), namespaces)
}

// withOutcomes adds to the error, if there is one, the namespaces by their outcomes.
func withOutcomes(err error, outcomes []outcome) error {
	if err == nil {
		return nil
	}
	if cli.HasChanged(err) {
		err = fmt.Errorf("%w; plan again to see what has changed since", err)
	}
	with := func(statuses ...string) string {
		var keys []string
		for _, o := range outcomes {
			if slices.Contains(statuses, o.Status) {
				keys = append(keys, o.Namespace)
			}
		}
		if keys == nil {
			return "none"
		}
		return strings.Join(keys, ", ")
	}
	return fmt.Errorf("%w\napplied: %s\nnot applied: %s", err, with("applied", "unchanged"), with("failed", "not applied"))
}

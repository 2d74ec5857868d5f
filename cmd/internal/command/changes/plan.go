package changes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/document"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

const planHelp = `Show what applying files would change, and change nothing. A file contains one or more
namespaces. A directory stands for the .yaml, .yml and .json files in it, but not for
those in its subdirectories. Each namespace may occur once.

Flags and segments become equal to the files. Others are kept, unless --drop is given:
then everything is deleted from the namespaces of the files that is not in them.

With --effect, it also prints what changes for users of each flag that the plan updates or
whose segments it changes, such as "20% of those who match rule 3 go from classic to
one-page".

With --out, the plan is saved. "guidon apply --plan" applies exactly that, or nothing.
`

const planExample = `  guidon plan flags/ --address https://flags.example
  guidon plan flags/ --out plan.json
  guidon plan flags/ --effect
  guidon plan shop.yaml till.yaml --drop -o json`

// planCommand is one run of "plan" or "apply".
type planCommand struct {
	cli.Task
	format cli.InputFormat
	drop   bool
	effect bool
	saveTo string // --out
	saved  string // --plan

	differences cli.Differences
}

// changedNames is what --output=name prints of changes.
const changedNames = "what changes, such as shop/flag/new-checkout"

// PlanCommand returns the command "plan".
func PlanCommand(p *cli.Program) *cobra.Command {
	c := &planCommand{Task: cli.Task{Program: p, Scope: cli.OnMachine}}
	return c.Command(cli.Verb{
		Use: "plan <directory>|<file>...", Short: "Show what applying files would change", Long: planHelp, Example: planExample,
		Names: changedNames, Args: cobra.ArbitraryArgs, Run: c.run,
		Options: func(command *cobra.Command) {
			c.differences.Flag(command, "changes")
			c.Connection.Flags(command)
			c.fileFlags(command)
			command.Flags().StringVar(&c.saveTo, "out", "", "save the plan to this `file`")
		},
	})
}

// fileFlags adds the flags of a command that reads files.
func (c *planCommand) fileFlags(command *cobra.Command) {
	flags := command.Flags()
	c.format.Flag(command)
	flags.BoolVar(&c.drop, "drop", false, "also delete what is not in the files from their namespaces")
	effectFlag(command, &c.effect)
}

func (c *planCommand) run(ctx context.Context, paths []string) error {
	documents, err := c.read(paths)
	if err != nil {
		return err
	}
	return c.With(ctx, cli.Reading, func(service client.Client) error {
		plans, err := c.planAll(ctx, service, documents)
		if err != nil {
			return err
		}
		if err := c.Show(c.Output, shownPlans(plans)); err != nil {
			return err
		}
		if c.saveTo != "" {
			if err := c.save(plans); err != nil {
				return err
			}
		}
		return c.differences.Result(changesOf(plans) > 0)
	})
}

// read returns the documents of the files and directories, each of another namespace.
func (c *planCommand) read(paths []string) ([]cli.FileDocument, error) {
	if err := cli.CheckFiles(paths); err != nil {
		return nil, err
	}
	files, err := c.filesIn(paths)
	if err != nil {
		return nil, err
	}
	cli.LimitMemory()
	documents, err := c.ReadDocuments(files, &c.format)
	if err != nil {
		return nil, err
	}
	if len(documents) == 0 {
		return nil, fmt.Errorf("%s: contains no document", cli.StreamName(paths[0]))
	}
	seen := make(map[string]string)
	for _, d := range documents {
		if other, twice := seen[d.Key()]; twice {
			return nil, fmt.Errorf("namespace %s is in %s and in %s; it may occur only once",
				guidon.Quote(d.Key()), cli.StreamName(other), cli.StreamName(d.Path))
		}
		seen[d.Key()] = d.Path
	}
	return documents, nil
}

// filesIn returns the paths with the files in a directory, sorted by name, instead of it.
func (c *planCommand) filesIn(paths []string) ([]string, error) {
	var files []string
	for _, path := range paths {
		if path == cli.StandardStream {
			files = append(files, path)
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, cli.PlainReason(err))
		}
		if !info.IsDir() {
			files = append(files, path)
			continue
		}
		entries, err := os.ReadDir(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, cli.PlainReason(err))
		}
		before := len(files)
		for _, entry := range entries {
			if _, err := document.FormatOf(entry.Name()); err == nil && !entry.IsDir() {
				files = append(files, filepath.Join(path, entry.Name()))
			}
		}
		if len(files) == before {
			return nil, fmt.Errorf("%s: contains no .yaml, .yml or .json file", path)
		}
	}
	return slices.Compact(files), nil
}

// planAll returns the plan of each document. It plans all of them before it returns the
// errors.
func (c *planCommand) planAll(ctx context.Context, service client.Client, documents []cli.FileDocument) ([]*guidonv1.PlanResponse, error) {
	progress := c.StartProgress("planning", "objects", cli.CountObjects(documents))
	defer progress.Stop()
	plans := make([]*guidonv1.PlanResponse, len(documents))
	var failed []error
	for i, d := range documents {
		plans[i] = new(guidonv1.PlanResponse)
		if err := service.Invoke(ctx, "/guidon.v1.PlanService/Plan", c.request(d), plans[i]); err != nil {
			failed = append(failed, fmt.Errorf("%s, namespace %s: %w", cli.StreamName(d.Path), guidon.Quote(d.Key()), err))
		}
		progress.Add(d.Objects())
	}
	return plans, errors.Join(failed...)
}

func (c *planCommand) request(d cli.FileDocument) *guidonv1.PlanRequest {
	mode := guidonv1.PlanMode_UPDATE_PLAN_MODE
	if c.drop {
		mode = guidonv1.PlanMode_REPLACE_PLAN_MODE
	}
	return &guidonv1.PlanRequest{
		NamespaceKey: d.Key(), Document: d.Wire, Mode: mode, WithEffects: c.effect, IgnoreUnknown: c.format.IgnoreUnknown,
	}
}

// changesOf returns the number of changes in the plans.
func changesOf(plans []*guidonv1.PlanResponse) int {
	n := 0
	for _, plan := range plans {
		n += len(plan.GetChanges())
	}
	return n
}

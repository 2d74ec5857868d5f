package changes

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

const restoreHelp = `Make flags, segments or a whole namespace what they were in an earlier state, in one
revision. The state is that of a revision, such as shop@412, or what was current at a
time, such as shop@2026-11-20T14:00:00Z; see "guidon log". It prints the changes first, and
asks for confirmation.

Without --flag and --segment, it restores the namespace with all of them, also after it was
deleted. What was created since is deleted, unless --keep-new is given.

Segments that restored flags refer to are restored if they no longer exist. Others stay as
they are, because other flags may use them.

If the changes would be different by the time they are confirmed, nothing is changed.`

const restoreExample = `  guidon restore shop@412 --flag new-checkout
  guidon restore shop@2026-11-20T14:00:00Z --flag new-checkout --keep enabled --dry-run
  guidon restore shop@412 --yes -m "back to last week"`

// RestoreCommand returns the command "restore".
func RestoreCommand(p *cli.Program) *cobra.Command {
	c := newChange(p)
	var keepNew bool
	return c.Command(cli.Verb{
		Use: "restore <state>", Short: "Make flags what they were in an earlier state", Long: restoreHelp, Example: restoreExample,
		Names: changedNames, Args: cobra.ArbitraryArgs, Complete: cli.InOrder(p.CompleteStates),
		Options: func(command *cobra.Command) {
			c.flags(command)
			c.keepFlag(command)
			command.Flags().BoolVar(&keepNew, "keep-new", false, "keep flags and segments that were created since")
		},
		Check: checkSelection,
		Run: func(ctx context.Context, args []string) error {
			if len(args) != 1 {
				return cli.UsageError("specify the state, such as: guidon restore shop@412 --flag new-checkout")
			}
			namespace, past := service.ReferenceKey(args[0])
			whole := len(c.request.GetFlagKeys()) == 0 && len(c.request.GetSegmentKeys()) == 0
			switch {
			case !past:
				return cli.UsageError(`specify a revision or a time of namespace %q, such as %s@412; "guidon log -n %s" lists them`,
					args[0], args[0], args[0])
			case keepNew && !whole:
				return cli.UsageError("--keep-new is for a whole namespace, not for some flags or segments: nothing else is deleted then")
			case whole && !keepNew:
				c.request.Mode = guidonv1.PlanMode_REPLACE_PLAN_MODE
			}
			c.request.SourceNamespaceKey, c.request.NamespaceKey = args[0], namespace
			return c.run(ctx)
		},
	})
}

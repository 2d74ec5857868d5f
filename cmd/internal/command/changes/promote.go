package changes

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

const promoteHelp = `Bring flags and segments of one namespace into another one, in one revision. It prints the
changes first, and asks for confirmation. The source may also be an earlier state, such as
staging@412 or staging@2026-11-20T14:00:00Z.

Without --flag and --segment, it brings all of them; others of the target are kept, unless
--drop is given. The segments that the flags refer to come along. Existing flags of the
target can keep their own switch (enabled), percentages or rules.

If the changes would be different by the time they are confirmed, nothing is changed.`

const promoteExample = `  guidon promote staging production --flag new-checkout --with-segments
  guidon promote staging production --flag new-checkout --keep enabled,percentages --dry-run
  guidon promote staging production --drop --yes -m "release 42"`

// PromoteCommand returns the command "promote".
func PromoteCommand(p *cli.Program) *cobra.Command {
	c := newChange(p)
	var withSegments, drop bool
	return c.Command(cli.Verb{
		Use: "promote <source> <target>", Short: "Bring flags of one namespace into another", Long: promoteHelp, Example: promoteExample,
		Names: changedNames, Args: cobra.ArbitraryArgs, Complete: p.CompleteStates,
		Options: func(command *cobra.Command) {
			c.flags(command)
			c.keepFlag(command)
			flags := command.Flags()
			flags.BoolVar(&withSegments, "with-segments", true, "bring the segments that the flags refer to; =false leaves them out")
			flags.BoolVar(&drop, "drop", false, "also delete what the source does not have from the target")
		},
		Check: checkSelection,
		Run: func(ctx context.Context, args []string) error {
			if len(args) != 2 {
				return cli.UsageError("specify the source and the target, such as: guidon promote staging production")
			}
			c.request.SourceNamespaceKey, c.request.NamespaceKey = args[0], args[1]
			c.request.WithoutSegments = !withSegments
			if drop {
				c.request.Mode = guidonv1.PlanMode_REPLACE_PLAN_MODE
			}
			return c.run(ctx)
		},
	})
}

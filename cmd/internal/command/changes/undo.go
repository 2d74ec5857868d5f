package changes

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

const undoHelp = `Undo the changes of one revision, or of a range of revisions, in one new revision; see
"guidon log". Without a revision, undo the newest one. It prints what will change first,
and asks for confirmation.

What has not changed since becomes what it was before. Later changes of other parts are
kept. If a part has changed again since, nothing is undone until you decide what counts:
  --resolve flag/<key>:<path>=current   keep its value
  --resolve flag/<key>:<path>=earlier   go back to the value before the undone change
  --resolve current, --resolve earlier  the same for all others

Undoing an undo gives the original.`

const undoExample = `  guidon undo
  guidon undo 412 -n shop --flag new-checkout
  guidon undo 410..412 -n shop --dry-run
  guidon undo 412 -n shop --resolve flag/new-checkout:enabled=earlier --resolve current`

// undoCommand is one run of "undo".
type undoCommand struct {
	changeCommand
	resolve []string
}

// UndoCommand returns the command "undo".
func UndoCommand(p *cli.Program) *cobra.Command {
	u := &undoCommand{changeCommand: changeCommand{Task: cli.Task{Program: p}}}
	command := &cobra.Command{
		Use:     "undo [<revision>|<first>..<last>]",
		Short:   "Undo changes",
		Long:    undoHelp,
		Example: undoExample,
		RunE:    p.Action(u.run),
	}
	u.flags(command)
	flags := command.Flags()
	cli.NamespaceFlag(command, &u.request.NamespaceKey)
	flags.StringArrayVar(&u.resolve, "resolve", nil, "`choice` for parts that have changed again since; may be repeated")
	return command
}

func (u *undoCommand) run(ctx context.Context, args []string) error {
	undo := new(guidonv1.UndoneChanges)
	if len(args) > 1 {
		return cli.UsageError("specify one revision, or a range such as 410..412")
	}
	if len(args) == 1 {
		var err error
		if undo.FirstRevision, undo.LastRevision, err = parseRevisions(args[0]); err != nil {
			return err
		}
	}
	choices, all, err := parseChoices(u.resolve)
	if err != nil {
		return err
	}
	undo.Choices, u.request.Undo = choices, undo
	u.prepare = func(ctx context.Context, service client.Client) error {
		if undo.GetFirstRevision() == 0 {
			newest, err := cli.NewestChange(ctx, service, u.request.GetNamespaceKey())
			if err != nil {
				return err
			}
			if newest == nil {
				return guidon.Errorf(guidon.NotFound, "namespace %q has no changes to undo", u.request.GetNamespaceKey())
			}
			undo.FirstRevision = newest.GetRevision()
		}
		if all == "" {
			return nil
		}
		return resolveAll(ctx, service, &u.request, all)
	}
	return u.changeCommand.run(ctx)
}

// parseRevisions parses "412" or "410..412".
func parseRevisions(text string) (first, last int64, err error) {
	from, to, ranged := strings.Cut(text, "..")
	if !ranged {
		to = from
	}
	first, err1 := strconv.ParseInt(from, 10, 64)
	last, err2 := strconv.ParseInt(to, 10, 64)
	if err1 != nil || err2 != nil || first <= 0 || last < first {
		return 0, 0, cli.UsageError("invalid revision %q: must be a number such as 412, or a range such as 410..412", text)
	}
	return first, last, nil
}

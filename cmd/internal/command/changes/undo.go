package changes

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
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

Undoing an undo gives the original. Without a revision that is rarely meant, so the command
then asks even with --yes; --redo says that it is meant.`

const undoExample = `  guidon undo
  guidon undo 412 -n shop --flag new-checkout
  guidon undo 410..412 -n shop --dry-run
  guidon undo --redo
  guidon undo 412 -n shop --resolve flag/new-checkout:enabled=earlier --resolve current`

// undoCommand is one run of "undo".
type undoCommand struct {
	changeCommand
	resolve []string
	redo    bool
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

		ValidArgsFunction: p.CompleteRevisions,
	}
	u.flags(command)
	flags := command.Flags()
	cli.NamespaceFlag(command, &u.request.NamespaceKey)
	flags.BoolVar(&u.redo, "redo", false, "undo the newest revision, which is itself an undo")
	flags.StringArrayVar(&u.resolve, "resolve", nil, "`choice` for parts that have changed again since; may be repeated")
	return command
}

func (u *undoCommand) run(ctx context.Context, args []string) error {
	undo := new(guidonv1.UndoneChanges)
	if len(args) > 1 {
		return cli.UsageError("specify one revision, or a range such as 410..412")
	}
	if len(args) == 1 && u.redo {
		return cli.UsageError("--redo is about the newest revision: it cannot be combined with a revision")
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
			var err error
			if undo.FirstRevision, err = u.newest(ctx, service); err != nil {
				return err
			}
		}
		if all == "" {
			return nil
		}
		return resolveAll(ctx, service, &u.request, all)
	}
	return u.changeCommand.run(ctx)
}

// newest returns the newest revision. If that is an undo, it must be meant.
func (u *undoCommand) newest(ctx context.Context, service client.Client) (int64, error) {
	newest, err := cli.NewestChange(ctx, service, u.request.GetNamespaceKey())
	if err != nil {
		return 0, err
	}
	if newest == nil {
		return 0, guidon.Errorf(guidon.NotFound, "namespace %q has no changes to undo", u.request.GetNamespaceKey())
	}
	undid, revision := newest.GetReason().GetKind() == string(change.ReasonUndo), newest.GetRevision()
	switch {
	case u.redo && !undid:
		return 0, fmt.Errorf("nothing was changed: the newest revision, %d, is not an undo", revision)
	case undid && !u.redo && !u.dryRun:
		fmt.Fprintf(u.Err, "The newest revision, %d, is itself an %s. Undoing it makes the undone changes again.\n",
			revision, newest.GetReason().GetText())
		return revision, u.Ask("--redo")
	}
	return revision, nil
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

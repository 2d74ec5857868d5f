package changes

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/codec"
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
	u := &undoCommand{changeCommand: newChange(p)}
	return u.Command(cli.Verb{
		Use: "undo [<revision>|<first>..<last>]", Short: "Undo changes", Long: undoHelp, Example: undoExample,
		Names: changedNames, Args: cobra.ArbitraryArgs, Complete: cli.InOrder(p.CompleteRevisions), Check: checkSelection, Run: u.run,
		Options: func(command *cobra.Command) {
			u.flags(command)
			flags := command.Flags()
			cli.NamespaceFlag(command, &u.request.NamespaceKey)
			flags.BoolVar(&u.redo, "redo", false, "undo the newest revision, which is itself an undo")
			flags.StringArrayVar(&u.resolve, "resolve", nil, "`choice` for parts that have changed again since; may be repeated")
		},
	})
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

// conflictSides are the values that --resolve chooses from.
var conflictSides = []string{"current", "earlier"}

// parseChoices parses the values of --resolve. all is the side for all other conflicts, or
// "" if it is not given.
func parseChoices(texts []string) (choices []*guidonv1.ConflictChoice, all string, err error) {
	for _, text := range texts {
		if slices.Contains(conflictSides, text) {
			if all != "" && all != text {
				return nil, "", cli.UsageError("--resolve has both current and earlier for all")
			}
			all = text
			continue
		}
		object, rest, _ := strings.Cut(text, ":")
		kind, key, _ := strings.Cut(object, "/")
		equals := strings.LastIndex(rest, "=") // paths may contain it
		if kind == "" || key == "" || equals <= 0 || !slices.Contains(conflictSides, rest[equals+1:]) {
			return nil, "", cli.UsageError("invalid --resolve %q: must be current, earlier, or such as flag/new-checkout:enabled=current", text)
		}
		choices = append(choices, &guidonv1.ConflictChoice{Kind: kind, Key: key, Path: rest[:equals], Side: rest[equals+1:]})
	}
	return choices, all, nil
}

// resolveAll adds choices of the side for all conflicts that the plan of the request still
// has. There may be further ones, as a plan lists a limited number.
func resolveAll(ctx context.Context, service client.Client, request *guidonv1.PlanRequest, side string) error {
	for {
		plan, err := cli.Call[guidonv1.PlanResponse](ctx, service, "/guidon.v1.PlanService/Plan", request)
		if err != nil {
			return err
		}
		if len(plan.GetConflicts()) == 0 {
			return nil
		}
		for _, c := range plan.GetConflicts() {
			request.Undo.Choices = append(request.Undo.Choices,
				&guidonv1.ConflictChoice{Kind: c.GetKind(), Key: c.GetKey(), Path: c.GetPath(), Side: side})
		}
	}
}

func mustResolve(conflicts int) error {
	what := "1 part has"
	if conflicts > 1 {
		what = fmt.Sprintf("%d parts have", conflicts)
	}
	return fmt.Errorf("nothing was changed: %s changed again since; decide what counts with --resolve", what)
}

// printConflict prints the conflict to resolve, and how to resolve it.
func printConflict(out io.Writer, c *guidonv1.PlanConflict) {
	fmt.Fprintf(out, "  conflict in %s %s: %s\n", c.GetKind(), c.GetKey(), c.GetName())
	for _, value := range []struct {
		name string
		of   *structpb.Value
	}{{"earlier", c.GetEarlier()}, {"changed to", c.GetChanged()}, {"current", c.GetCurrent()}} {
		fmt.Fprintf(out, "    %-11s %s\n", value.name+":", valueText(value.of))
	}
	choice := fmt.Sprintf("%s/%s:%s=", c.GetKind(), c.GetKey(), c.GetPath())
	fmt.Fprintf(out, "    resolve with --resolve %s or --resolve %s\n", shellQuote(choice+"current"), shellQuote(choice+"earlier"))
}

// valueText returns the JSON form of a value, shortened if it is long.
func valueText(value *structpb.Value) string {
	if value == nil {
		return "(none)"
	}
	text, err := codec.Marshal(value)
	if err != nil {
		return "(not printable)"
	}
	const limit = 200
	return guidon.Shorten(string(text), limit)
}

// shellQuote quotes a word for a POSIX shell if that is necessary.
func shellQuote(word string) string {
	if strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=@") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

package changes

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/codec"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

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

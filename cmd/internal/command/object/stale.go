package object

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
)

const staleHelp = `List the flags that may no longer be needed, the longest unchanged first, with a verdict
from how they were evaluated:

  unused       evaluated once, but not for --after
  never-used   never evaluated
  steady       evaluated, and unchanged for --after, when everybody got the same
  cannot-tell  not evaluated by itself, but clients evaluated all flags at once, or
               downloaded them: they may use it
  new          the flag, or counting, is younger than --after
  active       none of these; it is listed because of its rules or its review date

Flags whose metadata has "guidon.permanent": true, or a review date to come, are left out.`

const staleExample = `  guidon stale
  guidon stale -n shop --after 90d
  guidon stale --exit-code
  guidon stale -o json | jq -r '.flags[] | select(.usage.verdict == "NEVER_USED_FLAG_VERDICT") | .flag.key'`

// staleCommand is one run of "stale".
type staleCommand struct {
	cli.Task
	after time.Duration
	found cli.Differences
}

// StaleCommand returns the command "stale".
func StaleCommand(p *cli.Program) *cobra.Command {
	s := &staleCommand{Task: cli.Task{Program: p}}
	return s.Command(cli.Verb{
		Use: "stale", Short: "List the flags that may no longer be needed", Long: staleHelp, Example: staleExample,
		Names: "the keys of the flags",
		Options: func(command *cobra.Command) {
			s.found.Flag(command, "flags that are unused, never-used or steady")
			command.Flags().DurationVar(&s.after, "after", 30*day, "after what `duration` without an evaluation a flag is unused, in whole days")
		},
		Check: func(*cobra.Command) error {
			if s.after < day || s.after%day != 0 || s.after > 366*day {
				return cli.UsageError("--after must be from 1d to 366d, in whole days")
			}
			return nil
		},
		Read: func(ctx context.Context, service client.Client, _ []string) (cli.Output, error) {
			all, err := s.flags(ctx, service)
			if err == nil && len(all.GetFlags()) == 0 {
				err = mustExist(ctx, service, s.Namespace)
			}
			return cli.Output{
				Data: cli.DataOf(all), Names: lists.Map(all.GetFlags(), func(f *guidonv1.UnusedFlag) string { return f.GetFlag().GetKey() }),
				Table:  cli.Rows("FLAG\tVERDICT\tLAST EVALUATED\tEVALUATIONS\tWHY", all.GetFlags(), staleRow),
				Result: s.found.Result(slices.ContainsFunc(all.GetFlags(), isDeletable)),
			}, err
		},
	})
}

const day = 24 * time.Hour

// flags returns the flags of all pages and for every reason.
func (s *staleCommand) flags(ctx context.Context, service client.Client) (*guidonv1.UnusedFlagList, error) {
	all, request := new(guidonv1.UnusedFlagList), &guidonv1.ListUnusedFlagsRequest{
		NamespaceKey: s.Namespace, AfterDays: int32(s.after / day), // #nosec G115 -- run limits it
	}
	for kind := range guidonv1.UnusedReasonKind_name {
		request.Reasons = append(request.Reasons, guidonv1.UnusedReasonKind(kind))
	}
	found, err := cli.PagesUpTo(0, func(offset, most int32) ([]*guidonv1.UnusedFlag, *int32, error) {
		request.Offset, request.Limit = offset, most
		page, err := cli.Call[guidonv1.UnusedFlagList](ctx, service, "/guidon.v1.CatalogService/ListUnusedFlags", request)
		all.TotalCount, all.SnoozedCount = page.GetTotalCount(), page.GetSnoozedCount()
		return page.GetFlags(), page.NextOffset, err
	})
	all.Flags = found
	return all, err
}

// isDeletable reports whether the verdict says that the flag can go.
func isDeletable(f *guidonv1.UnusedFlag) bool {
	v := f.GetUsage().GetVerdict()
	return v == guidonv1.FlagVerdict_UNUSED_FLAG_VERDICT || v == guidonv1.FlagVerdict_NEVER_USED_FLAG_VERDICT || v == guidonv1.FlagVerdict_STEADY_FLAG_VERDICT
}

// verdictWord returns the verdict as the help names it.
func verdictWord(v guidonv1.FlagVerdict) string {
	word := strings.TrimSuffix(v.String(), "_FLAG_VERDICT")
	return strings.ReplaceAll(strings.ToLower(word), "_", "-")
}

func staleRow(f *guidonv1.UnusedFlag) []any {
	row := []any{f.GetFlag().GetKey(), "-", "-", "-", whyStale(f)}
	if u := f.GetUsage(); u != nil {
		row[1], row[2], row[3] = verdictWord(u.GetVerdict()), cli.When(u.GetLastEvaluatedAt()), int64(u.GetEvaluations())
	}
	return row
}

// whyStale returns the reasons in words.
func whyStale(f *guidonv1.UnusedFlag) string {
	return strings.Join(lists.Map(f.GetReasons(), (*guidonv1.UnusedReason).GetText), "; ")
}

package object

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/changes"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
)

const segmentUsageHelp = `Print the flags that refer to a segment, with their rules, and what would change for
their users if these no longer matched.` + orEarlier

const segmentUsageExample = `  guidon segment usage beta-users
  guidon segment usage beta-users -n shop@412
  guidon segment usage beta-users -o json | jq '.uses[].flagKey'`

func segmentUsage(k *keyed) cli.Verb {
	return cli.Verb{
		Use: "usage <segment>", Short: "List what uses a segment, and what would change without it",
		Long: segmentUsageHelp, Example: segmentUsageExample,
		Names: "the keys of the flags", Complete: cli.InOrder(k.complete),
		Read: func(ctx context.Context, service client.Client, args []string) (cli.Output, error) {
			all := new(guidonv1.SegmentUsage)
			err := cli.Pages(func(token string) (string, error) {
				page, err := cli.Call[guidonv1.SegmentUsage](ctx, service, "/guidon.v1.AnalysisService/GetSegmentUsage",
					&guidonv1.GetSegmentUsageRequest{NamespaceKey: k.Namespace, Key: args[0], PageToken: token})
				all.Uses, all.TotalCount = append(all.Uses, page.GetUses()...), page.GetTotalCount()
				return page.GetNextPageToken(), err
			})
			return cli.Output{
				Data: cli.DataOf(all), Names: lists.Map(all.GetUses(), (*guidonv1.SegmentUse).GetFlagKey),
				Table: cli.Text("%s is used by %s\n%s", cli.Printable(k.Namespace+"/"+args[0]), countFlags(all.GetTotalCount()),
					cli.Tree(lists.Map(all.GetUses(), segmentUse))),
			}, err
		},
	}
}

func countFlags(n int32) string {
	if n == 0 {
		return "no flag"
	}
	return cli.Count(n, "flag")
}

func segmentUse(u *guidonv1.SegmentUse) cli.Node {
	var references []string
	for _, r := range slices.Concat(u.GetRules(), u.GetRollouts()) {
		text := fmt.Sprintf("rule %d", r.GetIndex()+1)
		if !r.GetOnlySegment() {
			text += " (with other segments)"
		}
		references = append(references, text)
	}
	lines := changes.EffectLines(u.GetEffect())
	if len(lines) == 0 {
		lines = []string{"nothing changes for users"}
	}
	return cli.Node{
		Line:  usingFlag(u.GetFlagKey(), u.GetFlagName()) + ": " + strings.Join(references, ", "),
		Below: lists.Map(lines, func(line string) cli.Node { return cli.Leaf("without it: " + line) }),
	}
}

package object

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/changes"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

const segmentUsageHelp = `Print the flags that refer to a segment, with their rules, and what would change for
their users if these no longer matched.

The namespace may be an earlier state, such as shop@412 or shop@2026-11-20T14:03:00Z.`

const segmentUsageExample = `  guidon segment usage beta-users
  guidon segment usage beta-users -n shop@412
  guidon segment usage beta-users -o json | jq '.uses[].flagKey'`

// segmentUsage is the command "segment usage".
type segmentUsage struct{ *keyed }

func (u segmentUsage) verb() verb {
	return verb{
		use: "usage <segment>", short: "List what uses a segment, and what would change without it",
		long: segmentUsageHelp, example: segmentUsageExample,
		names: "the keys of the flags", complete: cli.FirstArgument(u.complete),
		read: func(ctx context.Context, service client.Client, args []string) (cli.Output, error) {
			if !u.Output.ForPrograms() { // page by page
				return cli.Output{Table: func(out io.Writer) error { return u.printTree(ctx, service, out, args[0]) }}, nil
			}
			all := new(guidonv1.SegmentUsage)
			var names []string
			err := u.each(ctx, service, args[0], func(page *guidonv1.SegmentUsage) {
				all.Uses, all.TotalCount = append(all.Uses, page.GetUses()...), page.GetTotalCount()
				for _, use := range page.GetUses() {
					names = append(names, use.GetFlagKey())
				}
			})
			return cli.Output{Data: cli.DataOf(all), Names: names}, err
		},
	}
}

// each calls fn for each page.
func (u segmentUsage) each(
	ctx context.Context, service client.Client, key string, fn func(*guidonv1.SegmentUsage),
) error {
	return cli.Pages(func(token string) (string, error) {
		page, err := cli.Call[guidonv1.SegmentUsage](ctx, service, "/guidon.v1.AnalysisService/GetSegmentUsage",
			&guidonv1.GetSegmentUsageRequest{NamespaceKey: u.Namespace, Key: key, PageToken: token})
		if err == nil {
			fn(page)
		}
		return page.GetNextPageToken(), err
	})
}

// printTree prints the flags as a tree, page by page.
func (u segmentUsage) printTree(ctx context.Context, service client.Client, out io.Writer, key string) error {
	t := &cli.Tree{Out: bufio.NewWriter(out)}
	begun := false
	err := u.each(ctx, service, key, func(page *guidonv1.SegmentUsage) {
		if !begun {
			fmt.Fprintf(t.Out, "%s is used by %s\n", cli.Printable(u.Namespace+"/"+key), countFlags(page.GetTotalCount()))
			begun = true
		}
		for i, use := range page.GetUses() {
			segmentUse(t, i == len(page.GetUses())-1 && page.GetNextPageToken() == "", use)
		}
	})
	if err != nil {
		return err
	}
	return t.Out.Flush()
}

func countFlags(n int32) string {
	if n == 0 {
		return "no flag"
	}
	return cli.Count(n, "flag")
}

func segmentUse(t *cli.Tree, last bool, u *guidonv1.SegmentUse) {
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
	flag := fmt.Sprintf("%s (%s)", cli.Printable(u.GetFlagKey()), cli.Printable(u.GetFlagName()))
	t.Branch(last, flag+": "+strings.Join(references, ", "),
		func(t *cli.Tree) {
			for i, line := range lines {
				t.Branch(i == len(lines)-1, "without it: "+line, nil)
			}
		})
}

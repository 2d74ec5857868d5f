package object

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/changes"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

const segmentUsageHelp = `Print the flags that refer to a segment, with their rules and rollouts, and what would
change for their users if these no longer matched.

The namespace may be an earlier state, such as shop@412 or shop@2026-11-20T14:03:00Z.`

const segmentUsageExample = `  guidon segment usage beta-users
  guidon segment usage beta-users -n shop@412
  guidon segment usage beta-users -o json | jq '.uses[].flagKey'`

// segmentUsage is one run of "segment usage".
type segmentUsage struct {
	*cli.Program
	connection cli.Connection
	namespace  string
	segment    string
	format     cli.Format
}

func segmentUsageCommand(p *cli.Program) *cobra.Command {
	u := &segmentUsage{Program: p}
	command := &cobra.Command{
		Use:     "usage <segment>",
		Short:   "List what uses a segment, and what would change without it",
		Long:    segmentUsageHelp,
		Example: segmentUsageExample,
		Args:    cli.OneArgument("segment"),
		RunE:    p.Action(u.run),

		ValidArgsFunction: cli.FirstArgument(p.CompleteSegments),
	}
	u.connection.Flags(command)
	cli.NamespaceFlag(command, &u.namespace)
	u.format.Flag(command, "the keys of the flags")
	return command
}

func (u *segmentUsage) run(ctx context.Context, args []string) error {
	u.segment = args[0]
	return u.WithClient(ctx, &u.connection, cli.Reading, func(service client.Client) error {
		if !u.format.Data() {
			return u.printTree(ctx, service) // page by page
		}
		all, err := u.all(ctx, service)
		if err != nil {
			return err
		}
		var names []string
		for _, use := range all.GetUses() {
			names = append(names, use.GetFlagKey())
		}
		return u.Show(u.format, cli.Output{Data: cli.DataOf(all), Names: names})
	})
}

// each calls fn for each page.
func (u *segmentUsage) each(ctx context.Context, service client.Client, fn func(*guidonv1.SegmentUsage)) error {
	token := ""
	for {
		page := new(guidonv1.SegmentUsage)
		err := service.Invoke(ctx, "/guidon.v1.AnalysisService/GetSegmentUsage", &guidonv1.GetSegmentUsageRequest{
			NamespaceKey: u.namespace, Key: u.segment, PageToken: token,
		}, page)
		if err != nil {
			return err
		}
		fn(page)
		if token = page.GetNextPageToken(); token == "" {
			return nil
		}
	}
}

// all returns the response with the flags of all pages.
func (u *segmentUsage) all(ctx context.Context, service client.Client) (*guidonv1.SegmentUsage, error) {
	all := new(guidonv1.SegmentUsage)
	err := u.each(ctx, service, func(page *guidonv1.SegmentUsage) {
		all.Uses, all.TotalCount = append(all.Uses, page.GetUses()...), page.GetTotalCount()
	})
	return all, err
}

// printTree prints the flags as a tree, page by page.
func (u *segmentUsage) printTree(ctx context.Context, service client.Client) error {
	t := &cli.Tree{Out: bufio.NewWriter(u.Out)}
	begun := false
	err := u.each(ctx, service, func(page *guidonv1.SegmentUsage) {
		if !begun {
			fmt.Fprintf(t.Out, "%s is used by %s\n", cli.Printable(u.namespace+"/"+u.segment), countFlags(page.GetTotalCount()))
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
	switch n {
	case 0:
		return "no flag"
	case 1:
		return "1 flag"
	}
	return fmt.Sprintf("%d flags", n)
}

func segmentUse(t *cli.Tree, last bool, u *guidonv1.SegmentUse) {
	var references []string
	add := func(kind string, all []*guidonv1.SegmentReference) {
		for _, r := range all {
			text := fmt.Sprintf("%s %d", kind, r.GetIndex()+1)
			if !r.GetOnlySegment() {
				text += " (with other segments)"
			}
			references = append(references, text)
		}
	}
	add("rule", u.GetRules())
	add("rollout", u.GetRollouts())
	lines := changes.EffectLines(u.GetEffect())
	if len(lines) == 0 {
		lines = []string{"nothing changes for users"}
	}
	t.Branch(last, fmt.Sprintf("%s (%s): %s", cli.Printable(u.GetFlagKey()), cli.Printable(u.GetFlagName()), strings.Join(references, ", ")),
		func(t *cli.Tree) {
			for i, line := range lines {
				t.Branch(i == len(lines)-1, "without it: "+line, nil)
			}
		})
}

package object

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
)

const flagUsageHelp = `Print the flags that require a flag, as a whole or in rules. While they do, it cannot be
deleted.

The namespace may be an earlier state, such as shop@412 or shop@2026-11-20T14:03:00Z.`

const flagUsageExample = `  guidon flag usage new-api
  guidon flag usage new-api -n shop@412
  guidon flag usage new-api -o json | jq '.uses[].flagKey'`

func flagUsage(o *object, complete cobra.CompletionFunc) verb {
	return verb{
		use: "usage <flag>", short: "List the flags that require a flag", long: flagUsageHelp, example: flagUsageExample,
		names: "the keys of the flags", complete: cli.FirstArgument(complete),
		read: func(ctx context.Context, service client.Client, args []string) (cli.Output, error) {
			found, err := o.flagUses(ctx, service, args[0])
			names := lists.Map(found.GetUses(), (*guidonv1.FlagUse).GetFlagKey)
			return cli.Output{
				Data: cli.DataOf(found), Names: names,
				Table: func(out io.Writer) error { return printFlagUses(out, o.Namespace+"/"+args[0], found) },
			}, err
		},
	}
}

// flagUses returns the flags of all pages.
func (o *object) flagUses(ctx context.Context, service client.Client, key string) (*guidonv1.FlagUseList, error) {
	all := new(guidonv1.FlagUseList)
	err := cli.Pages(func(token string) (string, error) {
		page, err := cli.Call[guidonv1.FlagUseList](ctx, service, "/guidon.v1.AnalysisService/ListFlagUses",
			&guidonv1.ListFlagUsesRequest{NamespaceKey: o.Namespace, Key: key, PageToken: token})
		all.Uses, all.TotalCount = append(all.Uses, page.GetUses()...), page.GetTotalCount()
		return page.GetNextPageToken(), err
	})
	return all, err
}

// printFlagUses prints the flags that require one as a tree.
func printFlagUses(out io.Writer, flag string, found *guidonv1.FlagUseList) error {
	t := &cli.Tree{Out: bufio.NewWriter(out)}
	fmt.Fprintf(t.Out, "%s is required by %s\n", cli.Printable(flag), countFlags(found.GetTotalCount()))
	for i, use := range found.GetUses() {
		var parts []string
		if use.GetWhole() {
			parts = append(parts, "the flag itself")
		}
		for _, index := range use.GetRules() {
			parts = append(parts, fmt.Sprintf("rule %d", index+1))
		}
		line := fmt.Sprintf("%s (%s): %s", cli.Printable(use.GetFlagKey()), cli.Printable(use.GetFlagName()), strings.Join(parts, ", "))
		t.Branch(i == len(found.GetUses())-1, line, nil)
	}
	return t.Out.Flush()
}

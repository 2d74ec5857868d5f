package object

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/flipt"
)

const namespaceHelp = `Work with namespaces. Each has its own flags and segments, and a revision that each write
increases.`

func NamespaceCommand(p *cli.Program) *cobra.Command {
	command := cli.Group("namespace", "List, create, change and delete namespaces", namespaceHelp,
		namespaceListCommand(p), namespaceGetCommand(p), namespaceCreateCommand(p), namespaceUpdateCommand(p), namespaceDeleteCommand(p))
	command.Aliases = []string{"namespaces", "ns"}
	return command
}

// namespaces is one run of a command about namespaces.
type namespaces struct {
	*cli.Program
	connection cli.Connection
	output     cli.Format
}

func namespaceListCommand(p *cli.Program) *cobra.Command {
	n := &namespaces{Program: p}
	command := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List namespaces",
		Long:    "List all namespaces, in creation order.",
		Example: `  guidon namespace list
  guidon namespace list -o name`,
		Args: cobra.NoArgs,
		RunE: p.Action(func(ctx context.Context, _ []string) error {
			return p.WithClient(ctx, &n.connection, cli.Reading, func(service client.Client) error {
				all, err := cli.AllNamespaces(ctx, service)
				if err != nil {
					return err
				}
				return p.Show(n.output, shownNamespaces(all))
			})
		}),
	}
	n.connection.Flags(command)
	n.output.Flag(command, "keys")
	return command
}

func shownNamespaces(all []*flipt.Namespace) cli.Output {
	return cli.ListOutput(all, (*flipt.Namespace).GetKey, func(out io.Writer) error {
		table := cli.NewTable(out, "KEY\tNAME\tPROTECTED\tCHANGED\tDESCRIPTION")
		for _, n := range all {
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", n.GetKey(), cli.Printable(n.GetName()), yesOrDash(n.GetProtected()),
				cli.TimeOr(cli.Instant(n.GetUpdatedAt()), "-"), cli.OrDash(cli.Printable(n.GetDescription())))
		}
		return table.Flush()
	})
}

func yesOrDash(value bool) string {
	if value {
		return "yes"
	}
	return "-"
}

func namespaceGetCommand(p *cli.Program) *cobra.Command {
	n := &namespaces{Program: p}
	command := &cobra.Command{
		Use:               "get <namespace>",
		Short:             "Show a namespace",
		Long:              "Show a namespace.",
		Example:           `  guidon namespace get shop -o yaml`,
		Args:              cli.OneArgument("namespace"),
		ValidArgsFunction: cli.FirstArgument(p.CompleteNamespaces),
		RunE: p.Action(func(ctx context.Context, args []string) error {
			return p.WithClient(ctx, &n.connection, cli.Reading, func(service client.Client) error {
				found, err := getNamespace(ctx, service, args[0])
				if err != nil {
					return err
				}
				return p.Show(n.output, shownNamespace(found))
			})
		}),
	}
	n.connection.Flags(command)
	n.output.Flag(command, "the key")
	return command
}

func getNamespace(ctx context.Context, service client.Client, key string) (*flipt.Namespace, error) {
	found := new(flipt.Namespace)
	err := service.Invoke(ctx, "/flipt.Flipt/GetNamespace", &flipt.GetNamespaceRequest{Key: key}, found)
	return found, err
}

// warnOfMissing warns of each namespace that does not exist, of those in which a role holds.
// A pattern is for namespaces that are still to be created, too.
func warnOfMissing(p *cli.Program, ctx context.Context, service client.Client, keys []string) {
	for _, key := range keys {
		if key == "" || strings.HasSuffix(key, "*") {
			continue
		}
		if _, err := getNamespace(ctx, service, key); errors.Is(err, guidon.NotFound) {
			fmt.Fprintf(p.Err, "warning: namespace %q does not exist\n", key)
		}
	}
}

func shownNamespace(n *flipt.Namespace) cli.Output {
	return cli.Output{
		Data: cli.DataOf(n), Names: []string{n.GetKey()},
		Table: func(out io.Writer) error {
			table := cli.NewFieldTable(out)
			table.Row("KEY", n.GetKey())
			table.Row("NAME", cli.Printable(n.GetName()))
			table.Row("DESCRIPTION", cli.OrDash(cli.Printable(n.GetDescription())))
			table.Row("PROTECTED", yesOrDash(n.GetProtected()))
			table.Row("COLOR", cli.OrDash(n.GetColor()))
			table.Row("CONFIRM CHANGES", yesOrDash(n.GetConfirmChanges()))
			table.Row("CREATED", cli.TimeOr(cli.Instant(n.GetCreatedAt()), "-"))
			table.Row("CHANGED", cli.TimeOr(cli.Instant(n.GetUpdatedAt()), "-"))
			return table.Flush()
		},
	}
}

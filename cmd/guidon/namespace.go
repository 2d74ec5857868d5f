package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/handler/wire/flipt"
)

const namespaceHelp = `Work with namespaces. Each has its own flags and segments, and a revision that each write
increases.`

func (p *program) namespaceCommand() *cobra.Command {
	command := group("namespace", "List, create, change and delete namespaces", namespaceHelp,
		p.namespaceListCommand(), p.namespaceGetCommand(), p.namespaceCreateCommand(), p.namespaceUpdateCommand(), p.namespaceDeleteCommand())
	command.Aliases = []string{"namespaces", "ns"}
	return command
}

// namespaces is one run of a command about namespaces.
type namespaces struct {
	*program
	connection connection
	output     outputFormat
}

func (p *program) namespaceListCommand() *cobra.Command {
	n := &namespaces{program: p}
	command := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List namespaces",
		Long:    "List all namespaces, in creation order.",
		Example: `  guidon namespace list
  guidon namespace list -o name`,
		Args: cobra.NoArgs,
		RunE: p.action(func(ctx context.Context, _ []string) error {
			return p.withClient(ctx, &n.connection, reading, func(service client.Client) error {
				all, err := allNamespaces(ctx, service)
				if err != nil {
					return err
				}
				return p.show(n.output, shownNamespaces(all))
			})
		}),
	}
	n.connection.flags(command)
	n.output.flag(command, "keys")
	return command
}

// allNamespaces returns the namespaces of all pages.
func allNamespaces(ctx context.Context, service client.Client) ([]*flipt.Namespace, error) {
	var all []*flipt.Namespace
	request := new(flipt.ListNamespaceRequest) // without a limit: as few pages as possible
	for {
		page := new(flipt.NamespaceList)
		if err := service.Invoke(ctx, "/flipt.Flipt/ListNamespaces", request, page); err != nil {
			return nil, err
		}
		all = append(all, page.GetNamespaces()...)
		if request.PageToken = page.GetNextPageToken(); request.GetPageToken() == "" {
			return all, nil
		}
	}
}

func shownNamespaces(all []*flipt.Namespace) shown {
	return shownList(all, (*flipt.Namespace).GetKey, func(out io.Writer) error {
		table := newTable(out, "KEY\tNAME\tPROTECTED\tCHANGED\tDESCRIPTION")
		for _, n := range all {
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", n.GetKey(), printable(n.GetName()), yesOrDash(n.GetProtected()),
				timeOr(instant(n.GetUpdatedAt()), "-"), orDash(printable(n.GetDescription())))
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

func (p *program) namespaceGetCommand() *cobra.Command {
	n := &namespaces{program: p}
	command := &cobra.Command{
		Use:               "get <namespace>",
		Short:             "Show a namespace",
		Long:              "Show a namespace.",
		Example:           `  guidon namespace get shop -o yaml`,
		Args:              oneArgument("namespace"),
		ValidArgsFunction: firstArgument(p.completeNamespaces),
		RunE: p.action(func(ctx context.Context, args []string) error {
			return p.withClient(ctx, &n.connection, reading, func(service client.Client) error {
				found, err := getNamespace(ctx, service, args[0])
				if err != nil {
					return err
				}
				return p.show(n.output, shownNamespace(found))
			})
		}),
	}
	n.connection.flags(command)
	n.output.flag(command, "the key")
	return command
}

func getNamespace(ctx context.Context, service client.Client, key string) (*flipt.Namespace, error) {
	found := new(flipt.Namespace)
	err := service.Invoke(ctx, "/flipt.Flipt/GetNamespace", &flipt.GetNamespaceRequest{Key: key}, found)
	return found, err
}

// warnOfMissing warns of each namespace that does not exist, of those in which a role holds.
// A pattern is for namespaces that are still to be created, too.
func (p *program) warnOfMissing(ctx context.Context, service client.Client, keys []string) {
	for _, key := range keys {
		if key == "" || strings.HasSuffix(key, "*") {
			continue
		}
		if _, err := getNamespace(ctx, service, key); errors.Is(err, guidon.NotFound) {
			fmt.Fprintf(p.err, "warning: namespace %q does not exist\n", key)
		}
	}
}

func shownNamespace(n *flipt.Namespace) shown {
	return shown{
		data: dataOf(n), names: []string{n.GetKey()},
		table: func(out io.Writer) error {
			table := newFieldTable(out)
			table.row("KEY", n.GetKey())
			table.row("NAME", printable(n.GetName()))
			table.row("DESCRIPTION", orDash(printable(n.GetDescription())))
			table.row("PROTECTED", yesOrDash(n.GetProtected()))
			table.row("COLOR", orDash(n.GetColor()))
			table.row("CONFIRM CHANGES", yesOrDash(n.GetConfirmChanges()))
			table.row("CREATED", timeOr(instant(n.GetCreatedAt()), "-"))
			table.row("CHANGED", timeOr(instant(n.GetUpdatedAt()), "-"))
			return table.Flush()
		},
	}
}

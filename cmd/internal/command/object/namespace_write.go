package object

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// namespaceFields are the fields of a namespace that the command line sets.
type namespaceFields struct {
	name, description, color string
	confirmChanges           bool
}

func (f *namespaceFields) flags(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&f.name, "name", "", "the name for people (default: the key)")
	flags.StringVar(&f.description, "description", "", "what the namespace is for")
	flags.StringVar(&f.color, "color", "", "a color by which pages distinguish it: blue, amber, teal, pink, violet, green, red or slate")
	_ = command.RegisterFlagCompletionFunc("color", cli.CompleteWords("blue", "amber", "teal", "pink", "violet", "green", "red", "slate")) // the flag exists
	flags.BoolVar(&f.confirmChanges, "confirm-changes", false, "pages ask for the key before changes that affect all users at once")
}

func namespaceCreateCommand(p *cli.Program) *cobra.Command {
	n := &namespaces{Program: p}
	var fields namespaceFields
	command := &cobra.Command{
		Use:     "create <namespace>",
		Short:   "Create a namespace",
		Long:    "Create a namespace, without flags and segments.",
		Example: `  guidon namespace create production --color red --confirm-changes`,
		Args:    cli.OneArgument("namespace"),
		RunE: p.Action(func(ctx context.Context, args []string) error {
			request := &flipt.CreateNamespaceRequest{
				Key: args[0], Name: fields.name, Description: fields.description, Color: fields.color, ConfirmChanges: fields.confirmChanges,
			}
			if request.GetName() == "" {
				request.Name = request.GetKey()
			}
			return p.WithClient(ctx, &n.connection, cli.Writing, func(service client.Client) error {
				created := new(flipt.Namespace)
				if err := service.Invoke(ctx, "/flipt.Flipt/CreateNamespace", request, created); err != nil {
					return err
				}
				return n.showWritten(created, "created")
			})
		}),
	}
	n.connection.WriteFlags(command)
	n.output.Flag(command, "the key")
	fields.flags(command)
	return command
}

func namespaceUpdateCommand(p *cli.Program) *cobra.Command {
	n := &namespaces{Program: p}
	var fields namespaceFields
	command := &cobra.Command{
		Use:               "update <namespace>",
		Short:             "Change fields of a namespace",
		Long:              "Change fields of a namespace. What is not given stays as it is.",
		Example:           `  guidon namespace update production --description "what customers see"`,
		Args:              cli.OneArgument("namespace"),
		ValidArgsFunction: cli.FirstArgument(p.CompleteNamespaces),
	}
	command.RunE = p.Action(func(ctx context.Context, args []string) error {
		given := givenFlags(command, "name", "description", "color", "confirm-changes")
		if len(given) == 0 {
			return cli.UsageError("nothing to change: give --name, --description, --color or --confirm-changes")
		}
		return p.WithClient(ctx, &n.connection, cli.Writing,
			func(service client.Client) error { return n.update(ctx, service, args[0], fields, given) })
	})
	n.connection.WriteFlags(command)
	n.output.Flag(command, "the key")
	fields.flags(command)
	return command
}

// update sets the given fields of the namespace.
func (n *namespaces) update(ctx context.Context, service client.Client, key string, fields namespaceFields, given []string) error {
	newest, err := cli.NewestChange(ctx, service, key)
	if err != nil {
		return err
	}
	is, err := getNamespace(ctx, service, key)
	if err != nil {
		return err
	}
	request := &flipt.UpdateNamespaceRequest{Key: key, Name: is.GetName(), Description: is.GetDescription()}
	for _, name := range given {
		switch name {
		case "name":
			request.Name = fields.name
		case "description":
			request.Description = fields.description
		case "color":
			request.Color = &fields.color
		case "confirm-changes":
			request.ConfirmChanges = &fields.confirmChanges
		}
	}
	if newest != nil {
		ctx = client.WithIfMatch(ctx, newest.GetRevision())
	}
	updated := new(flipt.Namespace)
	if err := service.Invoke(ctx, "/flipt.Flipt/UpdateNamespace", request, updated); err != nil {
		return changedMeanwhile(err)
	}
	return n.showWritten(updated, "updated")
}

// showWritten prints the action on the namespace or, for programs, the namespace.
func (n *namespaces) showWritten(written *flipt.Namespace, done string) error {
	s := shownNamespace(written)
	s.Table = func(out io.Writer) error {
		_, err := fmt.Fprintf(out, "%s namespace %s%s\n", done, written.GetKey(), n.at())
		return err
	}
	return n.Show(n.output, s)
}

// at returns the server, for messages, or "".
func (n *namespaces) at() string {
	if n.connection.Remote() {
		return " at " + n.connection.Address
	}
	return ""
}

const namespaceDeleteHelp = `Delete a namespace. It asks for confirmation. A namespace that has flags or segments is
deleted only with --force, together with them. The default namespace cannot be deleted.`

func namespaceDeleteCommand(p *cli.Program) *cobra.Command {
	n := &namespaces{Program: p}
	var force, yes bool
	command := &cobra.Command{
		Use:     "delete <namespace>",
		Aliases: []string{"rm"},
		Short:   "Delete a namespace",
		Long:    namespaceDeleteHelp,
		Example: `  guidon namespace delete trial
  guidon namespace delete trial --force --yes`,
		Args:              cli.OneArgument("namespace"),
		ValidArgsFunction: cli.FirstArgument(p.CompleteNamespaces),
		RunE: p.Action(func(ctx context.Context, args []string) error {
			return p.WithClient(ctx, &n.connection, cli.Writing, func(service client.Client) error {
				return n.delete(ctx, service, &flipt.DeleteNamespaceRequest{Key: args[0], Force: force}, yes)
			})
		}),
	}
	n.connection.WriteFlags(command)
	n.output.Flag(command, "the key")
	command.Flags().BoolVar(&force, "force", false, "also delete the flags and segments of the namespace")
	command.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask for confirmation")
	return command
}

func (n *namespaces) delete(ctx context.Context, service client.Client, request *flipt.DeleteNamespaceRequest, yes bool) error {
	deleted, err := getNamespace(ctx, service, request.GetKey())
	if err != nil {
		return err
	}
	counts := new(guidonv1.CatalogCounts)
	if err := service.Invoke(ctx, "/guidon.v1.CatalogService/GetCatalogCounts", &guidonv1.GetCatalogCountsRequest{NamespaceKey: request.GetKey()}, counts); err != nil {
		return err
	}
	what := fmt.Sprintf("This deletes namespace %s%s, with %d flags and %d segments.\n",
		request.GetKey(), n.at(), counts.GetFlags(), counts.GetSegments())
	if request.GetForce() || counts.GetFlags()+counts.GetSegments() == 0 { // else the service refuses, and says why
		if err := n.Confirm(what, yes); err != nil {
			return err
		}
	}
	if err := service.Invoke(ctx, "/flipt.Flipt/DeleteNamespace", request, new(emptypb.Empty)); err != nil {
		return err
	}
	return n.showWritten(deleted, "deleted")
}

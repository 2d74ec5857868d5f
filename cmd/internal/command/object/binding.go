package object

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

const bindingHelp = `Create, list and delete bindings, which give roles to people and workloads that sign
in. Static tokens have roles of their own (see "guidon token create").`

func BindingCommand(p *cli.Program) *cobra.Command {
	return cli.Group("binding", "Create, list and delete bindings of roles", bindingHelp,
		bindingCreateCommand(p), bindingListCommand(p), bindingDeleteCommand(p))
}

const bindingCreateHelp = `Give a role to everybody whom the subject names, and print the binding. If there is
one already, that is printed.

Subjects:
  oidc:<provider>:{sub|email|domain|group}:<value>
  codehost:{id|email|domain|org|team}:<value>
  kubernetes:namespace:<namespace>, kubernetes:serviceaccount:<namespace>/<name>
  jwt:{sub|group}:<value>, jwt:claim:<name>=<value>
  oidc:<provider>:*, codehost:*, kubernetes:* and jwt:* for everybody`

const bindingCreateExample = `  guidon binding create admin oidc:google:email:ada@example.com
  guidon binding create editor oidc:google:group:payments --on checkout,pay-*
  guidon binding create client kubernetes:namespace:shop --address https://flags.example`

// binding is one run of "binding create".
type binding struct {
	*cli.Program
	connection cli.Connection
	on         []string
	format     cli.Format
}

func bindingCreateCommand(p *cli.Program) *cobra.Command {
	b := &binding{Program: p}
	command := &cobra.Command{
		Use:               "create <role> <subject>",
		Short:             "Give a role to people or workloads",
		Long:              bindingCreateHelp,
		Example:           bindingCreateExample,
		Args:              roleAndSubject,
		ValidArgsFunction: cli.CompleteFirstRole,
		RunE:              p.Action(b.create),
	}
	b.connection.WriteFlags(command)
	flags := command.Flags()
	flags.StringSliceVar(&b.on, "on", nil, "the `namespaces` in which the role holds, such as shop,pay-* (default all)")
	b.format.Flag(command, "the id")
	return command
}

// roleAndSubject is a check for the arguments of "binding create".
func roleAndSubject(command *cobra.Command, args []string) error {
	if len(args) > 2 {
		return cli.UsageError("unexpected argument %q: quote a subject that contains spaces", args[2])
	}
	for i, name := range []string{"role", "subject"} {
		if len(args) <= i || args[i] == "" {
			return cli.UsageError("missing argument <%s>: %s", name, command.UseLine())
		}
	}
	return nil
}

func (b *binding) create(ctx context.Context, args []string) error {
	return b.WithClient(ctx, &b.connection, cli.Writing, func(service client.Client) error {
		created := new(guidonv1.Binding)
		request := &guidonv1.CreateBindingRequest{Role: args[0], Subject: args[1], NamespaceKeys: b.on}
		if err := service.Invoke(ctx, "/guidon.v1.AccessService/CreateBinding", request, created); err != nil {
			return err
		}
		warnOfMissing(b.Program, ctx, service, request.GetNamespaceKeys())
		s := shownBindings([]*guidonv1.Binding{created})
		s.Data = cli.DataOf(created)
		return b.Show(b.format, s)
	})
}

func bindingListCommand(p *cli.Program) *cobra.Command {
	var c cli.Connection
	var format cli.Format
	command := &cobra.Command{
		Use:   "list",
		Short: "List the bindings",
		Long: `List the bindings: those of the configuration (authorization.bindings), and then
those that were created, in creation order.`,
		Example: `  guidon binding list
  guidon binding list -o json`,
		Args: cobra.NoArgs,
		RunE: p.Action(func(ctx context.Context, _ []string) error {
			return p.WithClient(ctx, &c, cli.Reading, func(service client.Client) error {
				bindings, err := listBindings(ctx, service)
				if err != nil {
					return err
				}
				return p.Show(format, shownBindings(bindings))
			})
		}),
	}
	c.Flags(command)
	format.Flag(command, "ids")
	return command
}

func listBindings(ctx context.Context, service client.Client) ([]*guidonv1.Binding, error) {
	list := new(guidonv1.ListBindingsResponse)
	err := service.Invoke(ctx, "/guidon.v1.AccessService/ListBindings", new(emptypb.Empty), list)
	return list.GetBindings(), err
}

func shownBindings(bindings []*guidonv1.Binding) cli.Output {
	return cli.ListOutput(bindings, (*guidonv1.Binding).GetId, func(out io.Writer) error { return printBindings(out, bindings) })
}

func printBindings(out io.Writer, bindings []*guidonv1.Binding) error {
	table := cli.NewTable(out, "ID\tROLE\tNAMESPACES\tSUBJECT\tSOURCE\tCREATED\tCREATED BY")
	for _, b := range bindings {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", b.GetId(), b.GetRole(), cli.NamespacesOf(b.GetNamespaceKeys()), b.GetSubject(),
			b.GetSource(), cli.TimeOr(cli.Instant(b.GetCreatedAt()), "-"), cli.OrDash(b.GetCreatedBy()))
	}
	return table.Flush()
}

func bindingDeleteCommand(p *cli.Program) *cobra.Command {
	var c cli.Connection
	command := &cobra.Command{
		Use:   "delete <id>...",
		Short: "Delete bindings",
		Long: `Delete the bindings with the given ids, which "guidon binding list" shows. Those of the
configuration can only be removed there.`,
		Example: `  guidon binding delete 8a6e0804-2bd0-4672-b79d-d97027f9071a
  guidon binding delete 8a6e0804-2bd0-4672-b79d-d97027f9071a --address https://flags.example`,
		Args: cobra.MinimumNArgs(1),
		RunE: p.Action(func(ctx context.Context, ids []string) error {
			return p.WithClient(ctx, &c, cli.Writing, func(service client.Client) error { return deleteBindings(p, ctx, service, ids) })
		}),
	}
	c.WriteFlags(command)
	return command
}

// deleteBindings deletes the bindings. The service treats an unknown id as already
// deleted; on the command line it is more likely a typing error.
func deleteBindings(p *cli.Program, ctx context.Context, service client.Client, ids []string) error {
	bindings, err := listBindings(ctx, service)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if !slices.ContainsFunc(bindings, func(b *guidonv1.Binding) bool { return b.GetId() == id }) {
			return guidon.Errorf(guidon.NotFound, "binding %q not found; \"guidon binding list\" shows the ids", id)
		}
	}
	for _, id := range ids {
		if err := service.Invoke(ctx, "/guidon.v1.AccessService/DeleteBinding", &guidonv1.DeleteBindingRequest{Id: id}, new(emptypb.Empty)); err != nil {
			return err
		}
		fmt.Fprintf(p.Out, "deleted binding %s\n", id)
	}
	return nil
}

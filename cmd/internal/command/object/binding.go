package object

import (
	"context"
	"slices"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

const bindingHelp = `Create, list and delete bindings, which give roles to people and workloads that sign
in. Static tokens have roles of their own (see "guidon token create").`

const bindingCreateHelp = `Give a role to everybody whom the subject names, and print the binding. If there is
one already, that is printed.

Subjects:
  oidc:<provider>:{sub|email|domain|group}:<value>
  codehost:{id|email|domain|org|team}:<value>
  kubernetes:namespace:<namespace>, kubernetes:serviceaccount:<namespace>/<name>
  jwt:{sub|group}:<value>, jwt:claim:<name>=<value>
  oidc:<provider>:*, codehost:*, kubernetes:* and jwt:* for everybody`

// bindingCommands are the commands about bindings.
type bindingCommands struct {
	*object
	on []string
}

func bindings(p *cli.Program) *object {
	o := &object{Task: &cli.Task{Program: p}, kind: "binding", group: "access"}
	o.short, o.long, o.Scope = "Create, list and delete bindings of roles", bindingHelp, cli.InService
	b := &bindingCommands{object: o}
	o.verbs = []cli.Verb{
		{
			Use: "create <role> <subject>", Short: "Give a role to people or workloads", Names: "the id",
			Long: bindingCreateHelp,
			Example: `  guidon binding create admin oidc:google:email:ada@example.com
  guidon binding create editor oidc:google:group:payments --on checkout,pay-*
  guidon binding create client kubernetes:namespace:shop --address https://flags.example`,
			Args: roleAndSubject, Complete: cli.InOrder(cli.CompleteWords(service.RoleNames()...)),
			Options: func(command *cobra.Command) {
				command.Flags().StringSliceVar(&b.on, "on", nil,
					"the `namespaces` in which the role holds, such as shop,pay-* (default all)")
			},
			Check: func(command *cobra.Command) error { return cli.NotEmpty(command, "on") },
			Write: b.create,
		},
		{
			Use: "list", Short: "List the bindings", Names: "ids",
			Long: `List the bindings: those of the configuration (authorization.bindings), and then
those that were created, in creation order.`,
			Example: `  guidon binding list
  guidon binding list -o json`,
			Read: func(ctx context.Context, c client.Client, _ []string) (cli.Output, error) {
				all, err := listBindings(ctx, c)
				return listedBindings(all), err
			},
		},
		{
			Use: "delete <id>...", Short: "Delete bindings",
			Long: `Delete the bindings with the given ids, which "guidon binding list" shows. Those of the
configuration can only be removed there.`,
			Example: `  guidon binding delete 8a6e0804-2bd0-4672-b79d-d97027f9071a
  guidon binding delete 8a6e0804-2bd0-4672-b79d-d97027f9071a --address https://flags.example`,
			Write: b.delete,
		},
	}
	return o
}

// roleAndSubject is a check for the arguments of "binding create".
func roleAndSubject(command *cobra.Command, args []string) error {
	if len(args) > 2 {
		return cli.UsageError("unexpected argument %q: quote a subject that contains spaces", args[2])
	}
	return cli.Arguments(command, args)
}

func (b *bindingCommands) create(ctx context.Context, c client.Client, args []string) (cli.Output, error) {
	request := &guidonv1.CreateBindingRequest{Role: args[0], Subject: args[1], NamespaceKeys: b.on}
	created, err := cli.Call[guidonv1.Binding](ctx, c, "/guidon.v1.AccessService/CreateBinding", request)
	if err != nil {
		return cli.Output{}, err
	}
	b.warnOfMissing(ctx, c, request.GetNamespaceKeys())
	output := listedBindings([]*guidonv1.Binding{created})
	output.Data = cli.DataOf(created)
	return output, nil
}

func listBindings(ctx context.Context, c client.Client) ([]*guidonv1.Binding, error) {
	list, err := cli.Call[guidonv1.ListBindingsResponse](ctx, c,
		"/guidon.v1.AccessService/ListBindings", new(emptypb.Empty))
	return list.GetBindings(), err
}

func listedBindings(all []*guidonv1.Binding) cli.Output {
	const header = "ID\tROLE\tNAMESPACES\tSUBJECT\tSOURCE\tCREATED\tCREATED BY"
	return cli.List(all, (*guidonv1.Binding).GetId, header, func(b *guidonv1.Binding) []any {
		return []any{b.GetId(), b.GetRole(), cli.NamespacesOf(b.GetNamespaceKeys()), b.GetSubject(), b.GetSource(),
			cli.When(b.GetCreatedAt()), cli.OrDash(b.GetCreatedBy())}
	})
}

// delete deletes bindings. The service treats an unknown id as already deleted; on the command
// line it is more likely a typing error.
func (b *bindingCommands) delete(ctx context.Context, c client.Client, ids []string) (cli.Output, error) {
	all, err := listBindings(ctx, c)
	if err != nil {
		return cli.Output{}, err
	}
	for _, id := range ids {
		if !slices.ContainsFunc(all, func(b *guidonv1.Binding) bool { return b.GetId() == id }) {
			return cli.Output{}, b.unknown(id, guidon.Errorf(guidon.NotFound, "no such binding"))
		}
	}
	return cli.Output{}, b.each(ids, "deleted", func(id string) error {
		_, err := cli.Call[emptypb.Empty](ctx, c, "/guidon.v1.AccessService/DeleteBinding",
			&guidonv1.DeleteBindingRequest{Id: id})
		return err
	})
}

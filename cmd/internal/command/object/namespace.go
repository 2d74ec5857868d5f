package object

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

const namespaceHelp = `Work with namespaces. Each has its own flags and segments, and a revision that each write
increases.`

const namespaceDeleteHelp = `Delete a namespace. It asks for confirmation. A namespace that has flags or segments is
deleted only with --force, together with them. The default namespace cannot be deleted.`

// namespaceCommands are the commands about namespaces.
type namespaceCommands struct {
	*object
	force bool
}

func namespaces(p *cli.Program) *object {
	o := &object{Task: &cli.Task{Program: p}, kind: "namespace", group: "flags"}
	o.short, o.long, o.Scope = "List, create, change and delete namespaces", namespaceHelp, cli.InService
	o.aliases = []string{"namespaces", "ns"}
	n := &namespaceCommands{object: o}
	one := cli.InOrder(p.CompleteNamespaces)
	o.verbs = []cli.Verb{
		{
			Use: "list", Short: "List namespaces", Long: "List all namespaces, in creation order.", Names: "keys",
			Example: `  guidon namespace list
  guidon namespace list -o name`,
			Read: func(ctx context.Context, c client.Client, _ []string) (cli.Output, error) {
				all, err := cli.AllNamespaces(ctx, c)
				return listedNamespaces(all), err
			},
		},
		{
			Use: "get <namespace>", Short: "Show a namespace", Long: "Show a namespace.", Names: "the key", Complete: one,
			Example: `  guidon namespace get shop -o yaml`,
			Read: func(ctx context.Context, c client.Client, args []string) (cli.Output, error) {
				found, err := getNamespace(ctx, c, args[0])
				return namespaceOutput(found), err
			},
		},
		n.create(), n.update(one),
		{
			Use: "delete <namespace>", Short: "Delete a namespace", Long: namespaceDeleteHelp, Names: "the key", Complete: one,
			Example: `  guidon namespace delete trial
  guidon namespace delete trial --force --yes`,
			Options: func(command *cobra.Command) {
				command.Flags().BoolVar(&n.force, "force", false, "also delete the flags and segments of the namespace")
			},
			Write: n.delete,
		},
	}
	return o
}

func listedNamespaces(all []*flipt.Namespace) cli.Output {
	const header = "KEY\tNAME\tPROTECTED\tCHANGED\tDESCRIPTION"
	return cli.List(all, (*flipt.Namespace).GetKey, header, func(n *flipt.Namespace) []any {
		return []any{n.GetKey(), n.GetName(), cli.YesOrDash(n.GetProtected()), cli.When(n.GetUpdatedAt()), cli.OrDash(n.GetDescription())}
	})
}

func getNamespace(ctx context.Context, c client.Client, key string) (*flipt.Namespace, error) {
	return cli.Call[flipt.Namespace](ctx, c, "/flipt.Flipt/GetNamespace", &flipt.GetNamespaceRequest{Key: key})
}

// mustExist returns NotFound if the namespace, or that of the state, does not exist. A list of what is in one is
// just empty.
func mustExist(ctx context.Context, c client.Client, namespace string) error {
	key, _ := service.ReferenceKey(namespace)
	_, err := getNamespace(ctx, c, key)
	return err
}

// warnOfMissing warns of each namespace that does not exist, of those in which a role holds.
// A pattern is for namespaces that are still to be created, too.
func (o *object) warnOfMissing(ctx context.Context, c client.Client, keys []string) {
	for _, key := range keys {
		if key == "" || strings.HasSuffix(key, "*") {
			continue
		}
		if _, err := getNamespace(ctx, c, key); errors.Is(err, guidon.NotFound) {
			fmt.Fprintf(o.Err, "warning: namespace %q does not exist\n", key)
		}
	}
}

func namespaceOutput(n *flipt.Namespace) cli.Output {
	return cli.Output{
		Data: cli.DataOf(n), Names: []string{n.GetKey()},
		Table: cli.Fields(func(field cli.Field) {
			field("KEY", n.GetKey())
			field("NAME", n.GetName())
			field("DESCRIPTION", cli.OrDash(n.GetDescription()))
			field("PROTECTED", cli.YesOrDash(n.GetProtected()))
			field("COLOR", cli.OrDash(n.GetColor()))
			field("CONFIRM CHANGES", cli.YesOrDash(n.GetConfirmChanges()))
			field("CREATED", cli.When(n.GetCreatedAt()))
			field("CHANGED", cli.When(n.GetUpdatedAt()))
		}),
	}
}

// namespaceFields are the fields of a namespace that the command line sets.
func namespaceFields() fields[*flipt.UpdateNamespaceRequest] {
	type namespace = *flipt.UpdateNamespaceRequest
	return fields[namespace]{
		textField("name", "the name for people (default: the key)", func(n namespace, name string) { n.Name = name }),
		textField("description", "what the namespace is for", func(n namespace, text string) { n.Description = text }),
		textField("color", "a color by which pages distinguish it: blue, amber, teal, pink, violet, green, red or slate",
			func(n namespace, color string) { n.Color = &color },
		).among("blue", "amber", "teal", "pink", "violet", "green", "red", "slate"),
		boolField("confirm-changes", "pages ask for the key before changes that affect all users at once",
			func(n namespace, confirm bool) { n.ConfirmChanges = &confirm }),
	}
}

func (n *namespaceCommands) create() cli.Verb {
	fields := namespaceFields()
	return cli.Verb{
		Use: "create <namespace>", Short: "Create a namespace", Names: "the key",
		Long:    "Create a namespace, without flags and segments.",
		Example: `  guidon namespace create production --color red --confirm-changes`,
		Options: fields.flags,
		Write: func(ctx context.Context, c client.Client, args []string) (cli.Output, error) {
			given := new(flipt.UpdateNamespaceRequest)
			if err := fields.set(given); err != nil {
				return cli.Output{}, err
			}
			created, err := cli.Call[flipt.Namespace](ctx, c, "/flipt.Flipt/CreateNamespace", &flipt.CreateNamespaceRequest{
				Key: args[0], Name: cmp.Or(given.GetName(), args[0]), Description: given.GetDescription(),
				Color: given.GetColor(), ConfirmChanges: given.GetConfirmChanges(),
			})
			return n.written(created, "created"), err
		},
	}
}

func (n *namespaceCommands) update(complete cobra.CompletionFunc) cli.Verb {
	all := namespaceFields()
	var given fields[*flipt.UpdateNamespaceRequest]
	return cli.Verb{
		Use: "update <namespace>", Short: "Change fields of a namespace", Names: "the key", Complete: complete,
		Long:    "Change fields of a namespace. What is not given stays as it is.",
		Example: `  guidon namespace update production --description "what customers see"`,
		Options: all.flags,
		Check: func(command *cobra.Command) (err error) {
			given, err = all.given(command.Flags())
			return err
		},
		Write: func(ctx context.Context, c client.Client, args []string) (cli.Output, error) {
			newest, err := cli.NewestChange(ctx, c, args[0])
			if err != nil {
				return cli.Output{}, err
			}
			is, err := getNamespace(ctx, c, args[0])
			if err != nil {
				return cli.Output{}, err
			}
			request := &flipt.UpdateNamespaceRequest{Key: args[0], Name: is.GetName(), Description: is.GetDescription()}
			if err := given.set(request); err != nil {
				return cli.Output{}, err
			}
			if newest != nil {
				ctx = client.WithIfMatch(ctx, newest.GetRevision())
			}
			updated, err := cli.Call[flipt.Namespace](ctx, c, "/flipt.Flipt/UpdateNamespace", request)
			return n.written(updated, "updated"), changedMeanwhile(err)
		},
	}
}

// written returns the output of a command that has changed a namespace.
func (n *namespaceCommands) written(namespace *flipt.Namespace, done string) cli.Output {
	output := namespaceOutput(namespace)
	output.Table = cli.Line("%s namespace %s%s", done, namespace.GetKey(), n.Connection.Place(""))
	return output
}

func (n *namespaceCommands) delete(ctx context.Context, c client.Client, args []string) (cli.Output, error) {
	deleted, err := getNamespace(ctx, c, args[0])
	if err != nil {
		return cli.Output{}, err
	}
	counts, err := cli.Call[guidonv1.CatalogCounts](ctx, c, "/guidon.v1.CatalogService/GetCatalogCounts",
		&guidonv1.GetCatalogCountsRequest{NamespaceKey: args[0]})
	if err != nil {
		return cli.Output{}, err
	}
	what := fmt.Sprintf("This deletes namespace %s%s, with %d flags and %d segments.\n",
		args[0], n.Connection.Place(""), counts.GetFlags(), counts.GetSegments())
	if n.force || counts.GetFlags()+counts.GetSegments() == 0 { // else the service refuses, and says why
		if err := n.Confirm(what); err != nil {
			return cli.Output{}, err
		}
	}
	_, err = cli.Call[emptypb.Empty](ctx, c, "/flipt.Flipt/DeleteNamespace",
		&flipt.DeleteNamespaceRequest{Key: args[0], Force: n.force})
	return n.written(deleted, "deleted"), err
}

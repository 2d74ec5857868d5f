package access

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/cmd/internal/machine"
	"github.com/guidonhq/guidon/internal/lists"
)

const contextHelp = `Name the servers that you work with, and choose the one that commands use by default. A
context has the address of a server, and may have a namespace, a file with certificates of
authorities, and protection: every change there is confirmed first, at a terminal even with
--yes. "guidon login" creates contexts, too.

A command works on, in this order:

  1. the server of --context or --address, which is a URL or the name of a context; or the
     database of --db, or the configured one with --local
  2. the server of GUIDON_ADDRESS
  3. the configured database, if --config or GUIDON_DB_URL names one
  4. the server of the context in use
  5. the configured database

and in the namespace of --namespace, of GUIDON_NAMESPACE or of the context, or in "default".

Contexts are kept in guidon/contexts.yml in the user's configuration directory. Tokens are
kept elsewhere, and belong to addresses.`

// ContextCommand returns the command "context".
func ContextCommand(p *cli.Program) *cobra.Command {
	t := &cli.Task{Program: p, Scope: cli.OnMachine}
	command := cli.Group("context", "Name servers, and choose the one to use", contextHelp, t.Commands([]cli.Verb{
		{
			Use: "list", Short: "List the contexts", Long: "List the contexts, by name.", Names: "names",
			Example: `  guidon context list`,
			Read: func(context.Context, client.Client, []string) (cli.Output, error) {
				all, err := p.ReadContexts()
				if err != nil {
					return cli.Output{}, err
				}
				list := lists.Map(all.Names(), func(name string) namedContext { return newNamedContext(all, name) })
				return shownContexts(list, list), nil
			},
		},
		{
			Use: "get [context]", Short: "Show a context, or the one in use", Long: "Show a context, or the one in use.", Names: "the name",
			Example: `  guidon context get
  guidon context get staging -o json`,
			Args: cobra.MaximumNArgs(1), Complete: cli.InOrder(p.CompleteContexts),
			Read: func(_ context.Context, _ client.Client, args []string) (cli.Output, error) {
				return getContext(p, args)
			},
		},
		setContextVerb(p), useContextVerb(p),
		{
			Use: "delete <context>", Short: "Delete a context", Complete: cli.InOrder(p.CompleteContexts),
			Long:    `Delete a context. You stay signed in to its server; "guidon logout" signs out.`,
			Example: `  guidon context delete staging`,
			Read: func(ctx context.Context, _ client.Client, args []string) (cli.Output, error) {
				return cli.Output{Table: cli.Line("deleted context %s", args[0])}, p.UpdateContexts(ctx, func(all *machine.Contexts) error {
					_, err := all.Get(args[0])
					delete(all.Named, args[0])
					if all.Current == args[0] {
						all.Current = ""
					}
					return err
				})
			},
		},
	})...)
	command.Aliases = []string{"contexts"}
	return command
}

// namedContext is a context as it is printed.
type namedContext struct {
	Name string `json:"name"`
	machine.Context
	Current bool `json:"current"`
}

func newNamedContext(all *machine.Contexts, name string) namedContext {
	return namedContext{name, all.Named[name], name == all.Current}
}

// shownContexts returns the output for the contexts, with their data.
func shownContexts(list []namedContext, data any) cli.Output {
	const header = "CURRENT\tNAME\tADDRESS\tNAMESPACE\tPROTECTED\tCA FILE"
	return cli.Output{
		Data: cli.DataOfValue(data), Names: lists.Map(list, func(c namedContext) string { return c.Name }),
		Table: cli.Rows(header, list, func(c namedContext) []any {
			mark := ""
			if c.Current {
				mark = "*"
			}
			return []any{mark, c.Name, c.Address, cli.OrDash(c.Namespace), cli.YesOrDash(c.Protected), cli.OrDash(c.CAFile)}
		}),
	}
}

// getContext returns the output for the context of the argument, or for the one in use.
func getContext(p *cli.Program, args []string) (cli.Output, error) {
	all, err := p.ReadContexts()
	if err != nil {
		return cli.Output{}, err
	}
	name := all.Current
	if len(args) > 0 {
		name = args[0]
	} else if name == "" {
		return cli.Output{}, fmt.Errorf("no context is in use; \"guidon context use\" chooses one")
	}
	_, err = all.Get(name)
	found := newNamedContext(all, name)
	return shownContexts([]namedContext{found}, found), err
}

const contextSetHelp = `Create a context, or change one: what is not given stays as it is. The first context is
in use at once.`

func setContextVerb(p *cli.Program) cli.Verb {
	var given machine.Context
	var changed func(option string) bool
	return cli.Verb{
		Use: "set <context>", Short: "Create or change a context", Long: contextSetHelp, Complete: cli.InOrder(p.CompleteContexts),
		Example: `  guidon context set local --address http://127.0.0.1:8080
  guidon context set staging --address https://flags.staging.example --namespace shop
  guidon context set staging --namespace ""
  guidon context set production --protected`,
		Options: func(command *cobra.Command) {
			flags := command.Flags()
			changed = flags.Changed
			flags.StringVarP(&given.Address, "address", "a", "", "`URL` of the server")
			flags.StringVarP(&given.Namespace, "namespace", "n", "", "`key` of the namespace to use by default; empty for none")
			flags.BoolVar(&given.Protected, "protected", false, "ask before every change there, at a terminal even with --yes; =false for not")
			flags.StringVar(&given.CAFile, "ca-file", "",
				"`file` with certificates of the authorities that the server's certificate may be from, in PEM; empty for those of the system")
		},
		Read: func(ctx context.Context, _ client.Client, args []string) (cli.Output, error) {
			return setContext(ctx, p, args[0], func(c *machine.Context) error {
				if changed("address") {
					c.Address = given.Address
				}
				if changed("namespace") {
					c.Namespace = given.Namespace
				}
				if changed("ca-file") {
					c.CAFile = given.CAFile
				}
				if changed("protected") {
					c.Protected = given.Protected
				}
				return completeContext(c)
			})
		},
	}
}

// completeContext checks a context, and makes its path absolute.
func completeContext(c *machine.Context) error {
	if c.Address == "" {
		return cli.UsageError("a new context needs --address")
	}
	if _, err := client.Normalize(c.Address); err != nil {
		return cli.UsageError("%w", err)
	}
	if c.CAFile == "" {
		return nil
	}
	var err error
	c.CAFile, err = filepath.Abs(c.CAFile)
	return err
}

// setContext changes the context with fn, and creates it if it does not exist.
func setContext(ctx context.Context, p *cli.Program, name string, fn func(*machine.Context) error) (cli.Output, error) {
	if !machine.IsContextName(name) {
		return cli.Output{}, cli.UsageError("invalid context %q: must have at most 64 letters, digits, dots, hyphens and underscores", name)
	}
	used := ""
	err := p.UpdateContexts(ctx, func(all *machine.Contexts) error {
		c := all.Named[name]
		if err := fn(&c); err != nil {
			return err
		}
		all.Named[name], all.Current = c, cmp.Or(all.Current, name)
		if all.Current == name {
			used = ", which is in use"
		}
		return nil
	})
	return cli.Output{Table: cli.Line("set context %s%s", name, used)}, err
}

func useContextVerb(p *cli.Program) cli.Verb {
	var none bool
	return cli.Verb{
		Use: "use <context> | --none", Short: "Choose the context to use", Args: cobra.MaximumNArgs(1), Complete: cli.InOrder(p.CompleteContexts),
		Long: "Choose the context that commands use by default. With --none, they use the configured database.",
		Example: `  guidon context use staging
  guidon context use --none`,
		Options: func(command *cobra.Command) { command.Flags().BoolVar(&none, "none", false, "use no context") },
		Read: func(ctx context.Context, _ client.Client, args []string) (cli.Output, error) {
			if none == (len(args) > 0) {
				return cli.Output{}, cli.UsageError("give either the name of a context or --none")
			}
			text := "no context is in use: commands work on the configured database"
			err := p.UpdateContexts(ctx, func(all *machine.Contexts) error {
				all.Current = ""
				if none {
					return nil
				}
				all.Current = args[0]
				used, err := all.Get(args[0])
				text = fmt.Sprintf("context %s is in use: %s", args[0], used.Address)
				return err
			})
			return cli.Output{Table: cli.Line("%s", text)}, err
		},
	}
}

package access

import (
	"context"
	"fmt"
	"io"
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
	command := cli.Group("context", "Name servers, and choose the one to use", contextHelp,
		contextListCommand(p), contextGetCommand(p), contextSetCommand(p), contextUseCommand(p), contextDeleteCommand(p))
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

func contextListCommand(p *cli.Program) *cobra.Command {
	var format cli.Format
	command := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the contexts",
		Long:    "List the contexts, by name.",
		Example: `  guidon context list`,
		Args:    cobra.NoArgs,
		RunE: p.Action(func(context.Context, []string) error {
			all, err := p.ReadContexts()
			if err != nil {
				return err
			}
			list := lists.Map(all.Names(), func(name string) namedContext { return newNamedContext(all, name) })
			return p.Show(format, cli.Output{
				Data: cli.DataOfValue(list), Names: all.Names(),
				Table: func(out io.Writer) error { return printContexts(out, list) },
			})
		}),
	}
	format.Flag(command, "names")
	return command
}

func printContexts(out io.Writer, list []namedContext) error {
	return cli.PrintTable(out, "CURRENT\tNAME\tADDRESS\tNAMESPACE\tPROTECTED\tCA FILE", list, func(c namedContext) []any {
		mark := ""
		if c.Current {
			mark = "*"
		}
		return []any{mark, c.Name, c.Address, cli.OrDash(c.Namespace), cli.YesOrDash(c.Protected), cli.OrDash(c.CAFile)}
	})
}

func contextGetCommand(p *cli.Program) *cobra.Command {
	var format cli.Format
	command := &cobra.Command{
		Use:   "get [context]",
		Short: "Show a context, or the one in use",
		Long:  "Show a context, or the one in use.",
		Example: `  guidon context get
  guidon context get staging -o json`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: p.CompleteContexts,
		RunE: p.Action(func(_ context.Context, args []string) error {
			all, err := p.ReadContexts()
			if err != nil {
				return err
			}
			name := all.Current
			if len(args) > 0 {
				name = args[0]
			} else if name == "" {
				return fmt.Errorf("no context is in use; \"guidon context use\" chooses one")
			}
			if _, err := all.Get(name); err != nil {
				return err
			}
			found := newNamedContext(all, name)
			return p.Show(format, cli.Output{
				Data: cli.DataOfValue(found), Names: []string{name},
				Table: func(out io.Writer) error { return printContexts(out, []namedContext{found}) },
			})
		}),
	}
	format.Flag(command, "the name")
	return command
}

const contextSetHelp = `Create a context, or change one: what is not given stays as it is. The first context is
in use at once.`

func contextSetCommand(p *cli.Program) *cobra.Command {
	var address, namespace, caFile string
	var protected bool
	command := &cobra.Command{
		Use:   "set <context>",
		Short: "Create or change a context",
		Long:  contextSetHelp,
		Example: `  guidon context set local --address http://127.0.0.1:8080
  guidon context set staging --address https://flags.staging.example --namespace shop
  guidon context set staging --namespace ""
  guidon context set production --protected`,
		Args:              cli.OneArgument("context"),
		ValidArgsFunction: p.CompleteContexts,
	}
	command.RunE = p.Action(func(ctx context.Context, args []string) error {
		changed := command.Flags().Changed
		return setContext(ctx, p, args[0], func(c *machine.Context) error {
			if changed("address") {
				c.Address = address
			}
			if changed("namespace") {
				c.Namespace = namespace
			}
			if changed("ca-file") {
				c.CAFile = caFile
			}
			if changed("protected") {
				c.Protected = protected
			}
			return completeContext(c)
		})
	})
	flags := command.Flags()
	flags.StringVarP(&address, "address", "a", "", "`URL` of the server")
	flags.StringVarP(&namespace, "namespace", "n", "", "`key` of the namespace to use by default; empty for none")
	flags.BoolVar(&protected, "protected", false, "ask before every change there, at a terminal even with --yes; =false for not")
	flags.StringVar(&caFile, "ca-file", "",
		"`file` with certificates of the authorities that the server's certificate may be from, in PEM; empty for those of the system")
	return command
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
func setContext(ctx context.Context, p *cli.Program, name string, fn func(*machine.Context) error) error {
	if !machine.IsContextName(name) {
		return cli.UsageError("invalid context %q: must have at most 64 letters, digits, dots, hyphens and underscores", name)
	}
	var used bool
	err := p.UpdateContexts(ctx, func(all *machine.Contexts) error {
		c := all.Named[name]
		if err := fn(&c); err != nil {
			return err
		}
		if all.Named[name] = c; all.Current == "" {
			all.Current = name
		}
		used = all.Current == name
		return nil
	})
	if err != nil {
		return err
	}
	text := "set context " + name
	if used {
		text += ", which is in use"
	}
	_, err = fmt.Fprintln(p.Out, text)
	return err
}

func contextUseCommand(p *cli.Program) *cobra.Command {
	var none bool
	command := &cobra.Command{
		Use:   "use <context> | --none",
		Short: "Choose the context to use",
		Long:  "Choose the context that commands use by default. With --none, they use the configured database.",
		Example: `  guidon context use staging
  guidon context use --none`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: p.CompleteContexts,
		RunE: p.Action(func(ctx context.Context, args []string) error {
			if none == (len(args) > 0) {
				return cli.UsageError("give either the name of a context or --none")
			}
			return useContext(ctx, p, args)
		}),
	}
	command.Flags().BoolVar(&none, "none", false, "use no context")
	return command
}

func useContext(ctx context.Context, p *cli.Program, names []string) error {
	var used machine.Context
	err := p.UpdateContexts(ctx, func(all *machine.Contexts) (err error) {
		all.Current = ""
		if len(names) > 0 {
			all.Current = names[0]
			used, err = all.Get(names[0])
		}
		return err
	})
	if err != nil {
		return err
	}
	text := "no context is in use: commands work on the configured database"
	if len(names) > 0 {
		text = fmt.Sprintf("context %s is in use: %s", names[0], used.Address)
	}
	_, err = fmt.Fprintln(p.Out, text)
	return err
}

func contextDeleteCommand(p *cli.Program) *cobra.Command {
	return &cobra.Command{
		Use:               "delete <context>",
		Aliases:           []string{"rm"},
		Short:             "Delete a context",
		Long:              `Delete a context. You stay signed in to its server; "guidon logout" signs out.`,
		Example:           `  guidon context delete staging`,
		Args:              cli.OneArgument("context"),
		ValidArgsFunction: p.CompleteContexts,
		RunE: p.Action(func(ctx context.Context, args []string) error {
			err := p.UpdateContexts(ctx, func(all *machine.Contexts) error {
				if _, err := all.Get(args[0]); err != nil {
					return err
				}
				delete(all.Named, args[0])
				if all.Current == args[0] {
					all.Current = ""
				}
				return nil
			})
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(p.Out, "deleted context %s\n", args[0])
			return err
		}),
	}
}

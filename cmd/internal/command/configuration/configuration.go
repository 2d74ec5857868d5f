// Package configuration has the commands that check, edit and write the configuration.
package configuration

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/cmd/internal/instance"
)

const configHelp = `Check or edit the configuration, or write a configuration file to start from, such as
one translated from that of Flipt v1.
docs/configuration.md explains every key.`

// ConfigCommand returns the command "config".
func ConfigCommand(p *cli.Program) *cobra.Command {
	return cli.Group("config", "Check, edit or write the configuration", configHelp,
		configCheckCommand(p), configEditCommand(p), configInitCommand(p), configImportCommand(p))
}

func configCheckCommand(p *cli.Program) *cobra.Command {
	var show, online bool
	return p.Command(cli.Verb{
		Use: "check", Short: "Report errors in the configuration",
		Long: `Read the configuration file and the environment as the server would, and print
every error found. Settings that have no effect or are dangerous are printed as
warnings. Nothing is started.

With --online, the providers of signing in are asked for what they publish and
whether they accept the credentials of this service, and the URLs that the server
must be able to reach are printed.`,
		Example: `  guidon config check
  guidon config check --config guidon.yml --show
  guidon config check --online`,
		Options: func(command *cobra.Command) {
			cli.Finds(command, "there are errors or, with --online, a provider cannot be used")
			command.Flags().BoolVar(&show, "show", false, "print the resulting configuration, without secrets, as /meta/config does")
			command.Flags().BoolVar(&online, "online", false, "also ask the providers of signing in")
		},
		Run: func(ctx context.Context, _ []string) error { return configCheck(ctx, p, show, online) },
	})
}

func configCheck(ctx context.Context, p *cli.Program, show, online bool) error {
	c, err := config.Load(ctx, p.ConfigFile, p.Environ, &p.AWS)
	if problems, ok := errors.AsType[*config.Error](err); ok {
		for _, problem := range problems.Problems {
			fmt.Fprintln(p.Out, problem)
		}
		return cli.ErrFindings
	}
	if err != nil {
		return err
	}
	if err := checkConnections(ctx, p, *c); err != nil {
		fmt.Fprintln(p.Out, err)
		return cli.ErrFindings
	}
	for _, warning := range c.Warnings {
		fmt.Fprintln(p.Err, "warning: "+warning)
	}
	if show {
		return p.Show(cli.FormatJSON, cli.Output{Data: cli.DataOfValue(c.JSON())})
	}
	fmt.Fprintln(p.Out, "the configuration is valid")
	if online {
		return checkProviders(ctx, p, c)
	}
	return nil
}

// checkConnections returns the error with which no server would open its database server and Redis, such as
// one about a parameter of a URL. It connects to nothing.
func checkConnections(ctx context.Context, p *cli.Program, c config.Config) error {
	if !c.DB.Shared() {
		return nil // opening the file would create it
	}
	c.Cache.Redis.MinIdleConn = 0 // these would be made at once
	db, err := p.OpenDatabase(ctx, &c, cli.Serving)
	if err != nil {
		return err
	}
	return db.Close()
}

// checkProviders asks the providers of signing in whether they can be used.
func checkProviders(ctx context.Context, p *cli.Program, c *config.Config) error {
	checked, err := instance.CheckProviders(ctx, c)
	if err != nil {
		return err
	}
	if len(checked) == 0 {
		fmt.Fprintln(p.Out, "there are no providers to ask")
	}
	var result error
	for _, one := range checked {
		state := "ok"
		if one.Err != nil {
			state, result = one.Err.Error(), cli.ErrFindings
		}
		fmt.Fprintf(p.Out, "%s: %s\n", one.Name, state)
		for _, url := range one.URLs {
			fmt.Fprintf(p.Out, "  %s\n", url)
		}
	}
	return result
}

func configInitCommand(p *cli.Program) *cobra.Command {
	var force bool
	return p.Command(cli.Verb{
		Use: "init [file | -]", Short: "Write a configuration file to start from", Args: cobra.MaximumNArgs(1),
		Long: `Write a configuration file that lists every key with its default value and an
explanation. The file is the argument, else that of --config, else
guidon/config.yml in the user's configuration directory, where the server finds
it. "-" is the standard output.`,
		Example: `  guidon config init
  guidon config init guidon.yml
  guidon config init - | less`,
		Options: func(command *cobra.Command) {
			command.Flags().BoolVarP(&force, "force", "f", false, "overwrite an existing file")
		},
		Run: func(_ context.Context, args []string) error { return configInit(p, args, force) },
	})
}

func configInit(p *cli.Program, args []string, force bool) error {
	path := p.ConfigFile
	if len(args) > 0 {
		path = args[0]
	}
	path = cmp.Or(path, config.UserFile(p.Environ))
	switch path {
	case "":
		return cli.UsageError("cannot determine the user's configuration directory; specify a file")
	case cli.StandardStream:
		_, err := fmt.Fprint(p.Out, config.Template())
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := writeConfig(path, []byte(config.Template()), force); err != nil {
		return err
	}
	fmt.Fprintf(p.Out, "wrote %s\n", path)
	return nil
}

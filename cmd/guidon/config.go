package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/cmd/internal/instance"
)

const configHelp = `Check or edit the configuration, or write a configuration file to start from, such as
one translated from that of Flipt v1.
docs/configuration.md explains every key.`

func (p *program) configCommand() *cobra.Command {
	return group("config", "Check, edit or write the configuration", configHelp,
		p.configCheckCommand(), p.configEditCommand(), p.configInitCommand(), p.configImportCommand())
}

func (p *program) configCheckCommand() *cobra.Command {
	var show, online bool
	command := &cobra.Command{
		Use:   "check",
		Short: "Report errors in the configuration",
		Long: `Read the configuration file and the environment as the server would, and print
every error found. The exit code is 3 if there are any. Settings that have no effect
or are dangerous are printed as warnings. Nothing is started.

With --online, the providers of signing in are asked for what they publish and
whether they accept the credentials of this service, and the URLs that the server
must be able to reach are printed. The exit code is 3 if one of the providers cannot
be used.`,
		Example: `  guidon config check
  guidon config check --config guidon.yml --show
  guidon config check --online`,
		Args: cobra.NoArgs,
		RunE: p.action(func(ctx context.Context, _ []string) error { return p.configCheck(ctx, show, online) }),
	}
	command.Flags().BoolVar(&show, "show", false, "print the resulting configuration, without secrets, as /meta/config does")
	command.Flags().BoolVar(&online, "online", false, "also ask the providers of signing in")
	return command
}

func (p *program) configCheck(ctx context.Context, show, online bool) error {
	c, err := config.Load(ctx, p.config, p.environ, &p.aws)
	if problems, ok := errors.AsType[*config.Error](err); ok {
		for _, problem := range problems.Problems {
			fmt.Fprintln(p.out, problem)
		}
		return findings
	}
	if err != nil {
		return err
	}
	for _, warning := range c.Warnings {
		fmt.Fprintln(p.err, "warning: "+warning)
	}
	if show {
		return p.show(formatJSON, shown{data: dataOfValue(c.JSON())})
	}
	fmt.Fprintln(p.out, "the configuration is valid")
	if online {
		return p.checkProviders(ctx, c)
	}
	return nil
}

// checkProviders asks the providers of signing in whether they can be used.
func (p *program) checkProviders(ctx context.Context, c *config.Config) error {
	checked, err := instance.CheckProviders(ctx, c)
	if err != nil {
		return err
	}
	if len(checked) == 0 {
		fmt.Fprintln(p.out, "there are no providers to ask")
	}
	var result error
	for _, one := range checked {
		state := "ok"
		if one.Err != nil {
			state, result = one.Err.Error(), findings
		}
		fmt.Fprintf(p.out, "%s: %s\n", one.Name, state)
		for _, url := range one.URLs {
			fmt.Fprintf(p.out, "  %s\n", url)
		}
	}
	return result
}

func (p *program) configInitCommand() *cobra.Command {
	var force bool
	command := &cobra.Command{
		Use:   "init [file | -]",
		Short: "Write a configuration file to start from",
		Long: `Write a configuration file that lists every key with its default value and an
explanation. The file is the argument, else that of --config, else
guidon/config.yml in the user's configuration directory, where the server finds
it. "-" is the standard output.`,
		Example: `  guidon config init
  guidon config init guidon.yml
  guidon config init - | less`,
		Args: cobra.MaximumNArgs(1),
		RunE: p.action(func(_ context.Context, args []string) error { return p.configInit(args, force) }),
	}
	command.Flags().BoolVarP(&force, "force", "f", false, "overwrite an existing file")
	return command
}

func (p *program) configInit(args []string, force bool) error {
	path := p.config
	if len(args) > 0 {
		path = args[0]
	}
	if path == "" {
		path = config.UserFile(p.environ)
	}
	switch path {
	case "":
		return usageError("cannot determine the user's configuration directory; specify a file")
	case standardStream:
		_, err := fmt.Fprint(p.out, config.Template())
		return err
	}
	if err := writeTemplate(path, force); err != nil {
		return err
	}
	fmt.Fprintf(p.out, "wrote %s\n", path)
	return nil
}

func writeTemplate(path string, force bool) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return writeConfig(path, []byte(config.Template()), force)
}

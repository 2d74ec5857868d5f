package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

const rootHelp = `Guidon is a feature-flag service: it keeps flags and segments, and answers what a
flag is for an entity, over HTTP and gRPC.

The commands that work on flags, segments and tokens open the database of the
configuration. With --address they talk to a running server instead, which is
what to do while a server holds the database.`

const rootExample = `  # Start the service on http://127.0.0.1:8080 and gRPC on port 9000
  guidon server

  # Load flags into the local database, or into a running server
  guidon import shop.yaml
  guidon import shop.yaml --address http://127.0.0.1:8080

  # Ask what a flag is for somebody
  guidon evaluate new-checkout -e user-42 -c country=PT`

const exitCodeHelp = `
Exit codes:
  0    done
  1    failed
  2    the command was not written correctly
  3    "validate" and "config check" found problems; "import --dry-run
       --exit-code" found differences
  130  interrupted (a second SIGTERM: 143)
`

// root returns the tree of commands.
func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "guidon",
		Short:         "Feature flags: the service and its tools",
		Long:          rootHelp,
		Example:       rootExample,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	root.SetUsageTemplate(root.UsageTemplate() + exitCodeHelp)
	root.PersistentFlags().StringVar(&p.config, "config", "", "configuration `file` (default: guidon/config.yml in the user's configuration folder, then /etc/guidon/config/default.yml)")
	_ = root.MarkPersistentFlagFilename("config", "yml", "yaml") // the flag exists
	root.AddGroup(
		&cobra.Group{ID: "service", Title: "Running the service:"},
		&cobra.Group{ID: "flags", Title: "Working with flags:"},
		&cobra.Group{ID: "setup", Title: "Setting up:"},
	)
	for group, commands := range map[string][]*cobra.Command{
		"service": {p.serverCommand(), p.healthCommand(), p.migrateCommand(), p.cleanupCommand(), p.copyDatabaseCommand()},
		"flags":   {p.importCommand(), p.exportCommand(), p.validateCommand(), p.evaluateCommand()},
		"setup":   {p.tokenCommand(), p.configCommand(), p.versionCommand()},
	} {
		for _, command := range commands {
			command.GroupID = group
			root.AddCommand(command)
		}
	}
	root.SetHelpCommandGroupID("setup")
	root.SetCompletionCommandGroupID("setup")
	return root
}

// group returns a command that only holds others: alone it prints its help, and
// a word that is none of them is a mistake.
func group(use, short, long string, commands ...*cobra.Command) *cobra.Command {
	command := &cobra.Command{
		Use: use, Short: short, Long: long,
		Args: noSuchCommand,
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	command.AddCommand(commands...)
	return command
}

func noSuchCommand(command *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	command.SuggestionsMinimumDistance = 2
	hint := ""
	if similar := command.SuggestionsFor(args[0]); len(similar) > 0 {
		hint = "; did you mean " + strings.Join(similar, " or ") + "?"
	}
	return fmt.Errorf("unknown command %q for %q%s", args[0], command.CommandPath(), hint)
}

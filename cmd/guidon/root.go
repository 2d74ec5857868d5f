package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/command/access"
	"github.com/guidonhq/guidon/cmd/internal/command/changes"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/cmd/internal/command/configuration"
	"github.com/guidonhq/guidon/cmd/internal/command/database"
	"github.com/guidonhq/guidon/cmd/internal/command/document"
	"github.com/guidonhq/guidon/cmd/internal/command/evaluate"
	"github.com/guidonhq/guidon/cmd/internal/command/object"
	"github.com/guidonhq/guidon/cmd/internal/command/replay"
	"github.com/guidonhq/guidon/cmd/internal/command/server"
)

const rootHelp = `Guidon is a feature-flag service: it stores flags and segments, and evaluates flags
for entities over HTTP and gRPC.

The commands for flags, segments and tokens open the configured database. With
--address they connect to a running server instead, which is necessary to change
an SQLite database that a server is using.`

const rootExample = `  # Start the service, with HTTP on port 8080 and gRPC on port 9000
  guidon server

  # Import flags into the local database, or through a running server
  guidon import shop.yaml
  guidon import shop.yaml --address http://127.0.0.1:8080

  # Evaluate a flag for a user
  guidon evaluate new-checkout -e user-42 -c country=PT`

// run runs the command in args until it completes or ctx ends, and returns the exit code.
func run(ctx context.Context, args, environ []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return cli.NewProgram(environ, stdin, stdout, stderr).Run(ctx, args, root)
}

// root returns the tree of commands.
func root(p *cli.Program) *cobra.Command {
	showVersion := false
	root := &cobra.Command{
		Use:           "guidon",
		Short:         "Feature-flag service and tools",
		Long:          rootHelp,
		Example:       rootExample,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cli.NoSuchCommand,
		RunE: func(command *cobra.Command, _ []string) error {
			if showVersion {
				return printVersion(p.Out, buildInfo())
			}
			return command.Help()
		},
	}
	root.Flags().BoolVar(&showVersion, "version", false, "print the version")
	root.SetUsageFunc(cli.Usage(root.UsageFunc()))
	root.SetFlagErrorFunc(cli.OptionError)
	root.PersistentFlags().StringVar(&p.ConfigFile, "config", "",
		"configuration `file` (default: guidon/config.yml in the user's configuration directory, then /etc/guidon/config/default.yml)")
	_ = root.MarkPersistentFlagFilename("config", "yml", "yaml") // the flag exists
	cli.Connects(root.PersistentFlags(), "config")
	root.AddGroup(
		&cobra.Group{ID: "service", Title: "Running the service:"},
		&cobra.Group{ID: "flags", Title: "Working with flags:"},
		&cobra.Group{ID: "access", Title: "Access:"},
		&cobra.Group{ID: "setup", Title: "Setup:"},
	)
	for group, commands := range map[string][]*cobra.Command{
		"service": {
			server.ServerCommand(p, buildInfo()), server.HealthCommand(p),
			database.MigrateCommand(p), database.CleanupCommand(p), database.ReaderCommand(p), database.CopyDatabaseCommand(p),
			database.BackupCommand(p), database.RestoreBackupCommand(p),
		},
		"flags": {
			document.ImportCommand(p), document.ExportCommand(p), document.ValidateCommand(p),
			evaluate.EvaluateCommand(p), evaluate.ExplainCommand(p), replay.ReplayCommand(p),
			changes.LogCommand(p), changes.CompareCommand(p), changes.PlanCommand(p), changes.ApplyCommand(p),
			changes.PromoteCommand(p), changes.RestoreCommand(p), changes.UndoCommand(p), object.StaleCommand(p),
		},
		"access": {
			access.StatusCommand(p), access.LoginCommand(p), access.LogoutCommand(p), access.WhoamiCommand(p), access.SignInCommand(p),
		},
		"setup": {access.ContextCommand(p), configuration.ConfigCommand(p), completionCommand(p, root), versionCommand(p)},
	} {
		for _, command := range commands {
			command.GroupID = group
			root.AddCommand(command)
		}
	}
	root.AddCommand(object.Commands(p, evaluate.ExplainSegment)...)
	root.SetHelpCommandGroupID("setup")
	p.CompleteDefaults(root)
	cli.StrictHelp(root)
	cli.Durations(root)
	return root
}

package database

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/cmd/internal/instance"
	"github.com/guidonhq/guidon/service"
)

const cleanupHelp = `Delete static tokens that expired longer ago than
authentication.methods.token.cleanup.grace_period, and change records older than
changes.retention, except the newest of each object and those that a reader of
the change log ("guidon reader list") has not passed. Add counts of evaluations to hours
and days, and delete those that are kept no longer.

A server does this automatically. Use this command for a database that no server
is using, or to run the cleanup as a scheduled job. One run deletes a limited
number of records. It can be killed at any time and run again. It does nothing if
another process is already cleaning up.`

// CleanupCommand returns the command "cleanup".
func CleanupCommand(p *cli.Program) *cobra.Command {
	return p.Command(cli.Verb{
		Use: "cleanup", Short: "Delete expired tokens and old change records", Long: cleanupHelp, Names: "how many records were deleted",
		Example: `  guidon cleanup
  GUIDON_CHANGES_RETENTION=90d guidon cleanup -o json`,
		Local: cli.Local{Access: cli.Writing, Held: "that server cleans up automatically", Do: cleanup},
	})
}

func cleanup(ctx context.Context, c *config.Config, db *instance.Storage, _ []string) (cli.Output, error) {
	result, err := instance.NewCleaner(c, db.DB, service.NewService(instance.NewCache(db, c.Cache), time.Now), cli.CliActor()).All(ctx)
	return cli.Output{
		Data: cli.DataOfValue(result), Names: []string{strconv.Itoa(result.Tokens + result.Changes)},
		Table:  func(out io.Writer) error { return printCleaned(out, result) },
		Result: err, // of a cleanup after those that the result is about
	}, nil
}

func printCleaned(out io.Writer, result instance.Cleaned) error {
	fmt.Fprintf(out, "expired tokens deleted: %d\nold change records deleted: %d\n", result.Tokens, result.Changes)
	if result.More {
		fmt.Fprintln(out, "more change records remain to be deleted; run the command again")
	}
	for _, what := range result.Skipped {
		fmt.Fprintf(out, "%s: another process is cleaning up\n", what)
	}
	return nil
}

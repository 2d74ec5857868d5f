package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/cmd/internal/instance"
	"github.com/guidonhq/guidon/service"
)

const cleanupHelp = `Delete static tokens that expired longer ago than
authentication.methods.token.cleanup.grace_period, and change records older than
changes.retention, except the newest of each object and those that a reader of
the change log ("guidon reader list") has not passed.

A server does this automatically. Use this command for a database that no server
is using, or to run the cleanup as a scheduled job. One run deletes a limited
number of records. It can be killed at any time and run again. It does nothing if
another process is already cleaning up.`

func (p *program) cleanupCommand() *cobra.Command {
	var database string
	var format outputFormat
	command := &cobra.Command{
		Use:   "cleanup",
		Short: "Delete expired tokens and old change records",
		Long:  cleanupHelp,
		Example: `  guidon cleanup
  GUIDON_CHANGES_RETENTION=2160h guidon cleanup -o json`,
		Args: cobra.NoArgs,
		RunE: p.action(func(ctx context.Context, _ []string) error { return p.cleanup(ctx, database, format) }),
	}
	databaseFlag(command, &database)
	format.flag(command, "how many records were deleted")
	return command
}

func (p *program) cleanup(ctx context.Context, database string, format outputFormat) error {
	err := p.withDatabase(ctx, database, writing, func(c *config.Config, db *instance.Storage) error {
		result, err := instance.NewCleaner(c, db.DB, service.NewService(instance.NewCache(db, c.Cache), time.Now), cliActor()).All(ctx)
		if printErr := p.show(format, shown{
			data: dataOfValue(result), names: []string{strconv.Itoa(result.Tokens + result.Changes)},
			table: func(out io.Writer) error { return printCleaned(out, result) },
		}); err == nil {
			err = printErr
		}
		return err
	})
	if _, held := errors.AsType[heldError](err); held {
		return fmt.Errorf("%w; that server cleans up automatically", err)
	}
	return err
}

func printCleaned(out io.Writer, result instance.Cleaned) error {
	fmt.Fprintf(out, "expired tokens deleted: %d\nold change records deleted: %d\n", result.Tokens, result.Changes)
	if result.More {
		fmt.Fprintln(out, "more change records remain to be deleted; run the command again")
	}
	for _, reader := range slices.Sorted(maps.Keys(result.HeldBack)) {
		fmt.Fprintf(out, "old change records kept for reader %s, which has not passed them: %d\n", reader, result.HeldBack[reader])
	}
	for _, what := range result.Skipped {
		fmt.Fprintf(out, "%s: another process is cleaning up\n", what)
	}
	return nil
}

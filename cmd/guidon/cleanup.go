package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/instance"
)

const cleanupHelp = `Delete what is no longer needed: static tokens that expired longer ago than
authentication.methods.token.cleanup.grace_period, and records of changes that
are older than changes.retention, but for the newest of each object.

A server does this by itself; this command is for a database that no server
holds, or for those who schedule jobs. It deletes a bounded number in one run,
may be killed at any moment and run again, and leaves the work to another process
that is at it already.`

func (p *program) cleanupCommand() *cobra.Command {
	var database string
	var asJSON bool
	command := &cobra.Command{
		Use:   "cleanup",
		Short: "Delete expired tokens and old records of changes",
		Long:  cleanupHelp,
		Example: `  guidon cleanup
  GUIDON_CHANGES_RETENTION=2160h guidon cleanup --json`,
		Args: cobra.NoArgs,
		RunE: p.action(func(ctx context.Context, _ []string) error { return p.cleanup(ctx, database, asJSON) }),
	}
	databaseFlag(command, &database)
	command.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return command
}

func (p *program) cleanup(ctx context.Context, database string, asJSON bool) (err error) {
	c, err := p.loadConfig(ctx, database)
	if err != nil {
		return err
	}
	if err := checkExists(c.DB); err != nil {
		return err
	}
	db, end, err := p.openReady(ctx, c, writing)
	if _, held := errors.AsType[heldError](err); held {
		return fmt.Errorf("%w; that server cleans up by itself", err)
	}
	if err != nil {
		return err
	}
	defer func() { err = closing(err, end) }()
	result, err := instance.NewCleaner(c, db.DB, guidon.NewService(instance.NewCache(db, c.Cache), time.Now), cliActor()).All(ctx)
	if printErr := p.printCleaned(result, asJSON); err == nil {
		err = printErr
	}
	return err
}

func (p *program) printCleaned(result instance.Cleaned, asJSON bool) error {
	if asJSON {
		return p.printJSON(result)
	}
	fmt.Fprintf(p.out, "expired tokens deleted: %d\nold change records deleted: %d\n", result.Tokens, result.Changes)
	if result.More {
		fmt.Fprintln(p.out, "there are more change records to delete; run the command again")
	}
	for _, what := range result.Skipped {
		fmt.Fprintf(p.out, "%s: another process is cleaning up\n", what)
	}
	return nil
}

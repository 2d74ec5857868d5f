package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon"
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

// cleaned is what a cleanup did, as it is printed.
type cleaned struct {
	Tokens  int      `json:"tokens"`
	Changes int      `json:"changes"`
	More    bool     `json:"more"`    // change records are left for the next run
	Skipped []string `json:"skipped"` // what another process is cleaning up
}

func (p *program) cleanup(ctx context.Context, database string, asJSON bool) (err error) {
	c, err := p.loadConfig(database)
	if err != nil {
		return err
	}
	if err := exists(c.DB); err != nil {
		return err
	}
	db, end, err := openReady(ctx, c, writing)
	if _, held := errors.AsType[heldError](err); held {
		return fmt.Errorf("%w; that server cleans up by itself", err)
	}
	if err != nil {
		return err
	}
	defer func() { err = closing(err, end) }()
	result, err := newCleaner(c, db.DB, guidon.NewService(newCache(db, c.Cache), time.Now), cliActor()).all(ctx)
	if printErr := p.printCleaned(result, asJSON); err == nil {
		err = printErr
	}
	return err
}

// all deletes everything there is to delete. What it returns has been done, also
// on an error.
func (c cleaner) all(ctx context.Context) (result cleaned, err error) {
	result.Skipped = []string{}
	result.Tokens, err = c.tokens(ctx)
	if errors.Is(err, errElsewhere) {
		result.Skipped, err = append(result.Skipped, "tokens"), nil
	}
	if err != nil {
		return result, err
	}
	result.Changes, result.More, err = c.changes(ctx)
	if errors.Is(err, errElsewhere) {
		result.Skipped, err = append(result.Skipped, "changes"), nil
	}
	return result, err
}

func (p *program) printCleaned(result cleaned, asJSON bool) error {
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

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/store/cache"
)

const cleanupHelp = `Delete what is no longer needed: static tokens that expired longer ago than
authentication.methods.token.cleanup.grace_period.

A server does this by itself, every cleanup.interval; this command is for a
database that no server holds. It may be interrupted and run again.`

func (p *program) cleanupCommand() *cobra.Command {
	var database string
	var asJSON bool
	command := &cobra.Command{
		Use:   "cleanup",
		Short: "Delete expired tokens",
		Long:  cleanupHelp,
		Example: `  guidon cleanup
  guidon cleanup --db /data/guidon.db --json`,
		Args: cobra.NoArgs,
		RunE: p.action(func(ctx context.Context, _ []string) error { return p.cleanup(ctx, database, asJSON) }),
	}
	command.Flags().StringVar(&database, "db", "", "work on this database `file` instead of the configured one")
	command.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return command
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
		return fmt.Errorf("%w; that server deletes expired tokens by itself", err)
	}
	if err != nil {
		return err
	}
	defer func() { err = closing(err, end) }()
	service := guidon.NewService(cache.New(db), time.Now)
	tokens, err := cleanTokens(ctx, service, c.Authentication.Methods.Token.Cleanup.GracePeriod, cliActor())
	if err != nil {
		return err
	}
	if asJSON {
		return p.printJSON(map[string]int{"tokens": tokens})
	}
	fmt.Fprintf(p.out, "expired tokens deleted: %d\n", tokens)
	return nil
}

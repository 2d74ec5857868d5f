package database

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/cmd/internal/instance"
	"github.com/guidonhq/guidon/service"
)

const readerHelp = `List and delete the readers of the change log. Change records are kept until all
readers have passed them, whatever changes.retention is, so a reader that is no
longer used must be deleted.`

// ReaderCommand returns the command "reader".
func ReaderCommand(p *cli.Program) *cobra.Command {
	return cli.Group("reader", "List and delete the readers of the change log", readerHelp,
		readerListCommand(p), readerDeleteCommand(p))
}

func readerListCommand(p *cli.Program) *cobra.Command {
	var database string
	var format cli.Format
	command := &cobra.Command{
		Use:   "list",
		Short: "List the readers and how far they are behind",
		Long: `List the readers of the change log, with the number of namespaces and revisions that
each has not passed, and the time of the oldest of them.`,
		Example: `  guidon reader list
  guidon reader list -o json`,
		Args: cobra.NoArgs,
		RunE: p.Action(func(ctx context.Context, _ []string) error {
			return p.WithDatabase(ctx, database, cli.Reading, func(_ *config.Config, db *instance.Storage) error {
				readers, err := db.Readers(ctx)
				if err != nil {
					return err
				}
				return p.Show(format, shownReaders(readers))
			})
		}),
	}
	cli.DatabaseFlag(command, &database)
	format.Flag(command, "names")
	return command
}

// reader is a reader of the change log in JSON.
type reader struct {
	Name         string    `json:"name"`
	RegisteredAt time.Time `json:"registeredAt"`
	AdvancedAt   time.Time `json:"advancedAt"`
	Namespaces   int       `json:"namespaces"`
	Revisions    int64     `json:"revisions"`
	BehindSince  time.Time `json:"behindSince,omitzero"`
}

func shownReaders(readers []service.ChangeReader) cli.Output {
	list, names := make([]reader, len(readers)), make([]string, len(readers))
	for i, r := range readers {
		names[i] = r.Name
		list[i] = reader{
			Name: r.Name, RegisteredAt: r.RegisteredAt, AdvancedAt: r.AdvancedAt,
			Namespaces: r.Lag.Namespaces, Revisions: r.Lag.Revisions, BehindSince: r.Lag.Since,
		}
	}
	const header = "NAME\tREGISTERED\tADVANCED\tNAMESPACES\tREVISIONS\tBEHIND SINCE"
	return cli.Output{Data: cli.DataOfValue(list), Names: names, Table: cli.Rows(header, readers, func(r service.ChangeReader) []any {
		return []any{r.Name, cli.TimeOr(r.RegisteredAt, "-"), cli.TimeOr(r.AdvancedAt, "-"),
			r.Lag.Namespaces, r.Lag.Revisions, cli.TimeOr(r.Lag.Since, "-")}
	})}
}

func readerDeleteCommand(p *cli.Program) *cobra.Command {
	var database string
	command := &cobra.Command{
		Use:   "delete <name>",
		Short: "Delete a reader",
		Long: `Delete a reader of the change log with its positions. Records that only this reader has
not passed may then be deleted. If the reader is registered again, it starts anew.`,
		Example: `  guidon reader delete webhook:3f2a`,
		Args:    cli.Arguments,
		RunE: p.Action(func(ctx context.Context, args []string) error {
			err := p.WithDatabase(ctx, database, cli.Writing, func(_ *config.Config, db *instance.Storage) error {
				err := db.RemoveReader(ctx, args[0])
				if errors.Is(err, guidon.NotFound) {
					return guidon.Errorf(guidon.NotFound, "reader %q not found; \"guidon reader list\" shows the names", args[0])
				}
				return err
			})
			if err != nil {
				return cli.AdviseHeld(err, "stop that server first")
			}
			_, err = fmt.Fprintf(p.Out, "deleted reader %s\n", args[0])
			return err
		}),
	}
	cli.DatabaseFlag(command, &database)
	return command
}

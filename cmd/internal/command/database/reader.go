package database

import (
	"context"
	"errors"
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
	t := &cli.Task{Program: p, Scope: cli.OnMachine}
	return cli.Group("reader", "List and delete the readers of the change log", readerHelp, t.Commands([]cli.Verb{{
		Use: "list", Short: "List the readers and how far they are behind", Names: "names",
		Long: `List the readers of the change log, with the number of namespaces and revisions that
each has not passed, and the time of the oldest of them.`,
		Example: `  guidon reader list
  guidon reader list -o json`,
		Local: cli.Local{Do: func(ctx context.Context, _ *config.Config, db *instance.Storage, _ []string) (cli.Output, error) {
			readers, err := db.Readers(ctx)
			return shownReaders(readers), err
		}},
	}, {
		Use: "delete <name>", Short: "Delete a reader",
		Long: `Delete a reader of the change log with its positions. Records that only this reader has
not passed may then be deleted. If the reader is registered again, it starts anew.`,
		Example: `  guidon reader delete webhook:3f2a`,
		Local: cli.Local{
			Access: cli.Writing, Held: "stop that server first",
			Do: func(ctx context.Context, _ *config.Config, db *instance.Storage, args []string) (cli.Output, error) {
				err := db.RemoveReader(ctx, args[0])
				if errors.Is(err, guidon.NotFound) {
					err = guidon.Errorf(guidon.NotFound, "reader %q not found; \"guidon reader list\" shows the names", args[0])
				}
				return cli.Output{Table: cli.Line("deleted reader %s", args[0])}, err
			},
		},
	}})...)
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

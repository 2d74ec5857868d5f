package database

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/migrate"
	"github.com/guidonhq/guidon/migrate/copydb"
	"github.com/guidonhq/guidon/store"
)

const copyDatabaseHelp = `Copy everything from one database to another, which may be of a different kind:
namespaces with their revisions, flags, segments, tokens and the entire history.

The target must be empty; its schema is created. The copied data is read back and
compared with the source. It becomes visible all together at the end, so an
interrupted copy leaves the target empty and can simply be run again.

Stop all servers of the source first: changes made after the copy has started are
not copied. An SQLite file that a server is using is rejected.

A URL on the command line appears in the process list, password included; use
--from-file and --to-file to avoid this.`

const copyDatabaseExample = `  guidon copy-database --from file:/data/guidon.db --to postgres://guidon@db/guidon
  guidon copy-database --to-file /run/secrets/database-url`

// side names one of the two databases.
type side struct{ url, file string }

// CopyDatabaseCommand returns the command "copy-database".
func CopyDatabaseCommand(p *cli.Program) *cobra.Command {
	var from, to side
	return p.Command(cli.Verb{
		Use: "copy-database", Short: "Copy everything to another database", Long: copyDatabaseHelp, Example: copyDatabaseExample,
		Names: "the tables",
		Options: func(command *cobra.Command) {
			flags := command.Flags()
			flags.StringVar(&from.url, "from", "", "`URL` of the database to copy (default: the configured one)")
			flags.StringVar(&from.file, "from-file", "", "`file` that contains the URL of the database to copy")
			flags.StringVar(&to.url, "to", "", "`URL` of the empty database to copy to")
			flags.StringVar(&to.file, "to-file", "", "`file` that contains the URL of the empty database")
			command.MarkFlagsMutuallyExclusive("from", "from-file")
			command.MarkFlagsMutuallyExclusive("to", "to-file")
			command.MarkFlagsOneRequired("to", "to-file")
		},
		Check: func(command *cobra.Command) error { return cli.NotEmpty(command, "from", "from-file", "to", "to-file") },
		Read: func(ctx context.Context, _ client.Client, _ []string) (cli.Output, error) {
			return copyDatabase(ctx, p, from, to)
		},
	})
}

func copyDatabase(ctx context.Context, p *cli.Program, from, to side) (output cli.Output, err error) {
	sourceConfig, err := sideConfig(ctx, p, from)
	if err != nil {
		return output, fmt.Errorf("source: %w", err)
	}
	targetConfig, err := sideConfig(ctx, p, to)
	if err != nil {
		return output, fmt.Errorf("target: %w", err)
	}
	if sameFile(sourceConfig.DB, targetConfig.DB) {
		return output, errSameDatabase
	}
	if err := cli.CheckExists(sourceConfig.DB); err != nil {
		return output, err
	}
	source, err := p.OpenDatabase(ctx, sourceConfig, cli.Writing)
	if err != nil {
		return output, fmt.Errorf("source: %w", cli.AdviseHeld(err, "stop it first, so that its last changes are copied too"))
	}
	defer func() { err = cli.Closing(err, source.Close) }()
	target, err := p.OpenDatabase(ctx, targetConfig, cli.Writing)
	if err != nil {
		return output, fmt.Errorf("target: %w", err)
	}
	defer func() { err = cli.Closing(err, target.Close) }()
	if source.Dialect() == target.Dialect() && source.Path() == target.Path() {
		return output, errSameDatabase
	}
	return copyBetween(ctx, p, source.DB, target.DB)
}

var errSameDatabase = cli.UsageError("--from and --to are the same database")

// sameFile reports whether both are the same SQLite file, even under different paths.
// It could not be locked twice.
func sameFile(a, b config.DB) bool {
	if a.Shared() || b.Shared() {
		return false
	}
	left, err := os.Stat(a.Path())
	if err != nil {
		return false
	}
	right, err := os.Stat(b.Path())
	return err == nil && os.SameFile(left, right)
}

// sideConfig returns the configuration with the database of s.
func sideConfig(ctx context.Context, p *cli.Program, s side) (*config.Config, error) {
	if s.file == "" {
		return p.LoadConfig(ctx, s.url)
	}
	return config.Load(ctx, p.ConfigFile, append(slices.Clone(p.Environ), "GUIDON_DB_URL=", "GUIDON_DB_URL_FILE="+s.file), &p.AWS)
}

func copyBetween(ctx context.Context, p *cli.Program, source, target *store.DB) (cli.Output, error) {
	if err := migrate.Check(ctx, source.SQL(), source.Dialect()); err != nil {
		return cli.Output{}, fmt.Errorf("source: %w", err)
	}
	rows, err := copydb.Count(ctx, source)
	if err != nil {
		return cli.Output{}, fmt.Errorf("source: %w", err)
	}
	progress := p.StartProgress("copying", "rows", rows)
	copied, err := copydb.Copy(ctx, source, target, progress.Add)
	progress.Stop()
	if err != nil {
		return cli.Output{}, err
	}
	target.Analyze(ctx)
	return shownCopy(copied, source.Path(), target.Path()), nil
}

func shownCopy(copied []copydb.Table, source, target string) cli.Output {
	names := lists.Map(copied, func(t copydb.Table) string { return t.Name })
	return cli.Output{Data: cli.DataOfValue(copied), Names: names, Table: func(out io.Writer) error {
		err := cli.Rows("TABLE\tROWS\tCHECKSUM", copied, func(t copydb.Table) []any {
			return []any{t.Name, t.Rows, fmt.Sprintf("%.16s", t.Checksum)}
		})(out)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "copied and verified: %s to %s\n", source, target)
		return err
	}}
}

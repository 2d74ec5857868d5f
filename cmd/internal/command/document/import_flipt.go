package document

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/migrate/fliptdb"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
	"github.com/guidonhq/guidon/store/redact"
)

// importFlipt imports the database of a Flipt v1 server. A dry run is the same up to the
// first write, so that it prints and ends as the import does.
func (i *importCommand) importFlipt(ctx context.Context, paths []string) (err error) {
	if err := i.checkFliptUsage(paths); err != nil {
		return err
	}
	role, err := service.ParseRole(i.tokenRole)
	if err != nil {
		return cli.UsageError("--token-role must be %s, not %q", service.RoleWords, i.tokenRole)
	}
	if err := i.fliptWrite().Validate(); err != nil {
		return err
	}
	content, err := i.readFlipt(ctx)
	if err != nil {
		return fmt.Errorf("nothing was imported: %w", err)
	}
	content.LimitTokens(role)
	for _, finding := range content.Findings {
		fmt.Fprintln(i.Err, finding)
	}
	if content.Refused() {
		return fmt.Errorf("nothing was imported: not everything can be imported as it is in Flipt (%s); %s", content.Loss, damagedHint)
	}
	c, err := i.LoadConfig(ctx, i.Connection.Database)
	if err != nil {
		return err
	}
	if c.Server.ReadOnly {
		return errors.New("nothing was imported: the service is read-only (server.read_only is set)")
	}
	mode := cli.Writing
	if i.dryRun {
		mode = cli.Reading
		if missing := i.missingTarget(c.DB); missing != "" {
			fmt.Fprintln(i.Err, missing+"; did not check for conflicts with existing content")
			i.printFlipt(content)
			return nil
		}
	}
	db, err := i.OpenReady(ctx, c, mode)
	if err != nil {
		return err
	}
	defer func() { err = cli.Closing(err, db.Close) }()
	i.NameTarget("the database " + db.Path())
	missing, err := content.Check(ctx, db)
	if err != nil {
		return fmt.Errorf("nothing was imported: %w", err)
	}
	if missing > 0 && !i.dryRun {
		if err := i.writeFlipt(ctx, db.Source(), content); err != nil {
			return err
		}
		db.Analyze(ctx)
	}
	i.printFlipt(content)
	if missing == 0 {
		fmt.Fprintln(i.Out, "nothing was to be done: all of it had been imported before")
	}
	return nil
}

// damagedHint says how to import a database with damaged flags.
const damagedHint = "repair these rows in Flipt's database or a copy of it, or import with --damaged off, which turns such flags off for everybody, or --damaged omit, which leaves them out; " +
	"--ignore-orphans evaluates as Flipt does where a row belongs to nothing"

const dryRunRemark = " (dry run, nothing was changed)"

// missingTarget returns why a dry run has no database to import into, or "" if it has
// one. Without one it only reads Flipt's database. It neither opens nor creates the
// default database, which a server may be using.
func (i *importCommand) missingTarget(c config.DB) string {
	switch {
	case i.Connection.Database == "" && c.URL == config.DefaultDatabase(i.Environ):
		return "no target database is specified with --db or db.url"
	case cli.CheckExists(c) != nil:
		return fmt.Sprintf("database %q does not exist yet", c.Path())
	}
	return ""
}

// checkFliptUsage returns an error for arguments and flags that cannot be combined
// with --from-flipt-database.
func (i *importCommand) checkFliptUsage(paths []string) error {
	switch {
	case len(paths) > 0:
		return cli.UsageError("--from-flipt-database cannot be combined with files")
	case i.Connection.Remote() || i.Connection.Token != "" || i.Connection.TokenFile != "":
		return cli.UsageError("--from-flipt-database writes to the database directly, because the API accepts no token hashes; omit --address and tokens, and give --db or --local if a context is in use")
	case i.skipExisting || i.update || i.drop || i.Connection.Yes || i.differences.ExitCode || i.format.Word != "" || i.Output != "":
		return cli.UsageError("--from-flipt-database imports into empty namespaces and never asks; it can be combined only with --db, --token-role, --damaged, --ignore-orphans and --dry-run")
	case i.damaged != "" && i.damaged != string(fliptdb.TurnOff) && i.damaged != string(fliptdb.Omit):
		return cli.UsageError("--damaged must be off or omit, not %q", i.damaged)
	}
	return nil
}

// fliptWrite is on whose behalf the content is written, and why.
func (i *importCommand) fliptWrite() service.Write {
	return service.Write{By: service.Caller{Actor: cli.CliActor()}, Message: i.Connection.Message, Reason: change.ImportReason()}
}

func (i *importCommand) writeFlipt(ctx context.Context, db service.Store, content *fliptdb.Content) error {
	total := len(content.Authentications)
	for _, n := range content.Namespaces {
		total += n.Objects()
	}
	progress := i.StartProgress("importing", "objects", total)
	err := content.Write(ctx, db, i.fliptWrite(), progress.Add)
	progress.Stop()
	if err != nil {
		return fmt.Errorf("the import is incomplete: %w; run it again to import the rest", err)
	}
	return nil
}

// printFlipt prints the numbers of objects of the content, for each namespace and in total.
func (i *importCommand) printFlipt(content *fliptdb.Content) {
	remark := ""
	if i.dryRun {
		remark = dryRunRemark
	}
	var flags, segments int
	for _, n := range content.Namespaces {
		fmt.Fprintf(i.Out, "%s: flags %d, segments %d%s\n", n.Key, len(n.Flags), len(n.Segments), remark)
		flags, segments = flags+len(n.Flags), segments+len(n.Segments)
	}
	fmt.Fprintf(i.Out, "authentications: %d%s\n", len(content.Authentications), remark)
	fmt.Fprintf(i.Out, "total: namespaces %d, flags %d, segments %d, authentications %d%s\n",
		len(content.Namespaces), flags, segments, len(content.Authentications), remark)
	if loss := content.Loss.String(); loss != "" {
		fmt.Fprintf(i.Out, "not as in Flipt (listed above): %s%s\n", loss, remark)
	}
}

// readFlipt reads Flipt's database without changing it.
func (i *importCommand) readFlipt(ctx context.Context) (content *fliptdb.Content, err error) {
	db, dialect, end, err := openFlipt(ctx, i.fliptDatabase)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, end()) }()
	options := fliptdb.Options{Damaged: fliptdb.Damaged(i.damaged), IgnoreOrphans: i.ignoreOrphans, Now: i.Now()}
	content, err = fliptdb.Read(ctx, db, dialect, options)
	if err != nil {
		return nil, fmt.Errorf("cannot read Flipt's database: %w", err)
	}
	return content, nil
}

func openFlipt(ctx context.Context, text string) (db *sql.DB, dialect string, end func() error, err error) {
	text = cli.DatabaseURL(text)
	if config.EngineOf(text) != config.EngineSQLite {
		shared, err := store.Open(ctx, text, store.Options{MaxOpenConns: 2, MaxIdleConns: 1})
		if err != nil {
			return nil, "", nil, err
		}
		return shared.SQL(), shared.Dialect(), shared.Close, nil
	}
	text, _, _ = strings.Cut(text, "?") // Flipt's URLs may have parameters
	if err := redact.Check(text); err != nil {
		return nil, "", nil, fmt.Errorf("the URL of Flipt's database %w", err)
	}
	path := config.DB{URL: text}.Path()
	if _, err := os.Stat(path); err != nil {
		return nil, "", nil, fmt.Errorf("cannot open Flipt's database: %w", err)
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, "", nil, err
	}
	file := url.URL{Scheme: "file",
		OmitHost: true, Path: filepath.ToSlash(path), RawQuery: "mode=ro&_pragma=busy_timeout(5000)&_pragma=query_only(1)"}
	db, err = sql.Open("sqlite", file.String())
	if err != nil {
		return nil, "", nil, err
	}
	return db, config.EngineSQLite, db.Close, nil
}

package main

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
	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/migrate/fliptdb"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
	"github.com/guidonhq/guidon/store/redact"
)

// importFlipt imports the database of a Flipt v1 server.
func (i *importing) importFlipt(ctx context.Context, paths []string) (err error) {
	if err := i.checkFliptUsage(paths); err != nil {
		return err
	}
	role, err := service.ParseRole(i.tokenRole)
	if err != nil {
		return usageError("--token-role must be evaluator, client, viewer, editor or admin, not %q", i.tokenRole)
	}
	if err := i.fliptWrite().Validate(); err != nil {
		return err
	}
	content, err := readFlipt(ctx, i.fliptDatabase)
	if err != nil {
		return fmt.Errorf("nothing was imported: %w", err)
	}
	content.LimitTokens(role)
	for _, finding := range content.Findings {
		fmt.Fprintln(i.err, finding)
	}
	c, err := i.loadConfig(ctx, i.connection.database)
	if err != nil {
		return err
	}
	if c.Server.ReadOnly && !i.dryRun {
		return errors.New("nothing was imported: the service is read-only (server.read_only is set)")
	}
	mode := writing
	if i.dryRun {
		mode = reading
		if missing := i.missingTarget(c.DB); missing != "" {
			fmt.Fprintln(i.err, missing+"; did not check for conflicts with existing content")
			i.printFlipt(content, dryRunRemark)
			return nil
		}
	}
	db, end, err := i.openReady(ctx, c, mode)
	if err != nil {
		return err
	}
	defer func() { err = closing(err, end) }()
	if err := content.Check(ctx, db); err != nil {
		return fmt.Errorf("nothing was imported: %w", err)
	}
	if i.dryRun {
		i.printFlipt(content, dryRunRemark)
		return nil
	}
	if err := i.writeFlipt(ctx, db.Source(), content); err != nil {
		return err
	}
	db.Analyze(ctx)
	return nil
}

const dryRunRemark = " (dry run, nothing was changed)"

// missingTarget returns why a dry run has no database to import into, or "" if it has
// one. Without one it only reads Flipt's database. It neither opens nor creates the
// default database, which a server may be using.
func (i *importing) missingTarget(c config.DB) string {
	switch {
	case i.connection.database == "" && c.URL == config.DefaultDatabase(i.environ):
		return "no target database is specified with --db or db.url"
	case checkExists(c) != nil:
		return fmt.Sprintf("database %q does not exist yet", c.Path())
	}
	return ""
}

// checkFliptUsage returns an error for arguments and flags that cannot be combined
// with --from-flipt-database.
func (i *importing) checkFliptUsage(paths []string) error {
	switch {
	case len(paths) > 0:
		return usageError("--from-flipt-database cannot be combined with files")
	case i.connection.remote() || i.connection.token != "" || i.connection.tokenFile != "":
		return usageError("--from-flipt-database writes to the database directly, because the API accepts no token hashes; omit --address and tokens, and give --db or --local if a context is in use")
	case i.skipExisting || i.update || i.drop || i.exitCode || i.format.word != "" || i.output != "":
		return usageError("--from-flipt-database imports into empty namespaces; it can be combined only with --db, --token-role, --dry-run and --yes")
	}
	return nil
}

// fliptWrite is on whose behalf the content is written, and why.
func (i *importing) fliptWrite() service.Write {
	return service.Write{By: service.Caller{Actor: cliActor()}, Message: i.connection.message, Reason: change.ImportReason()}
}

func (i *importing) writeFlipt(ctx context.Context, db service.Store, content *fliptdb.Content) error {
	if skipped := content.Skipped(); len(skipped) > 0 {
		if err := i.confirm(fmt.Sprintf("Rows that cannot be imported and would be skipped (see above): %d.\n", len(skipped)), i.yes); err != nil {
			return err
		}
	}
	total := len(content.Namespaces) + len(content.Authentications)
	for _, n := range content.Namespaces {
		total += len(n.Flags) + len(n.Segments)
	}
	progress := i.startProgress("importing", "objects", total)
	err := content.Write(ctx, db, i.fliptWrite(), progress.add)
	progress.stop()
	if err != nil {
		return fmt.Errorf("the import is incomplete: %w; run it again to import the rest", err)
	}
	i.printFlipt(content, "")
	return nil
}

// printFlipt prints a summary of the content.
func (i *importing) printFlipt(content *fliptdb.Content, remark string) {
	for _, n := range content.Namespaces {
		fmt.Fprintf(i.out, "%s: flags %d, segments %d%s\n", n.Key, len(n.Flags), len(n.Segments), remark)
	}
	fmt.Fprintf(i.out, "authentications: %d%s\n", len(content.Authentications), remark)
}

// readFlipt reads Flipt's database without changing it.
func readFlipt(ctx context.Context, databaseURL string) (content *fliptdb.Content, err error) {
	db, dialect, end, err := openFlipt(ctx, databaseURL)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, end()) }()
	content, err = fliptdb.Read(ctx, db, dialect)
	if err != nil {
		return nil, fmt.Errorf("cannot read Flipt's database: %w", err)
	}
	return content, nil
}

func openFlipt(ctx context.Context, text string) (db *sql.DB, dialect string, end func() error, err error) {
	text = databaseURL(text)
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
	_, path, _ := strings.Cut(text, ":")
	path = strings.TrimPrefix(path, "//")
	if _, err := os.Stat(path); err != nil {
		return nil, "", nil, fmt.Errorf("cannot open Flipt's database: %w", err)
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, "", nil, err
	}
	file := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: "mode=ro&_pragma=busy_timeout(5000)&_pragma=query_only(1)"}
	db, err = sql.Open("sqlite", file.String())
	if err != nil {
		return nil, "", nil, err
	}
	return db, config.EngineSQLite, db.Close, nil
}

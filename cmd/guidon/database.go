package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/cmd/internal/instance"
	"github.com/guidonhq/guidon/migrate"
	"github.com/guidonhq/guidon/store/filelock"
)

// access is how a command uses the database.
type access uint8

const (
	reading access = iota // next to a running server; the schema must be up to date
	writing               // exclusively for an SQLite file; writes are announced to Redis, if configured
	serving               // like writing, but Redis is also read from
)

// loadConfig returns the configuration, with the database of the flag --db if that
// is given.
func (p *program) loadConfig(ctx context.Context, database string) (*config.Config, error) {
	environ := p.environ
	if database != "" {
		environ = append(slices.Clone(environ), "GUIDON_DB_URL="+databaseURL(database), "GUIDON_DB_URL_FILE=")
	}
	return config.Load(ctx, p.config, environ, &p.aws)
}

// databaseFlag adds the flag --db to the command.
func databaseFlag(command *cobra.Command, database *string) {
	command.Flags().StringVar(database, "db", "",
		"use this `database`, a file or a URL, instead of the configured one; GUIDON_DB_URL keeps a password out of the process list")
}

// databaseURL returns the URL for the value of --db, which may be just a path. It
// does not reject unknown schemes; loading the configuration does.
func databaseURL(text string) string {
	if config.EngineOf(text) != "" || strings.Contains(text, "://") {
		return text
	}
	return "file:" + text
}

// openDatabase opens the database of the configuration. The returned function closes
// it, and the connections to Redis.
func (p *program) openDatabase(ctx context.Context, c *config.Config, mode access) (*instance.Storage, func() error, error) {
	if mode == reading {
		if err := checkExists(c.DB); err != nil {
			return nil, nil, err
		}
	}
	db, err := instance.OpenDatabase(ctx, c.DB, &p.aws, mode != reading)
	if _, held := errors.AsType[*filelock.HeldError](err); held {
		err = heldError{errors.New(guidon.PublicMessage(err))}
	}
	if err != nil {
		return nil, nil, err
	}
	if mode == reading {
		return &instance.Storage{DB: db}, db.Close, nil
	}
	storage, err := instance.WithRedis(db, c.Cache, mode != serving)
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return storage, func() error { return errors.Join(storage.CloseRedis(), db.Close()) }, nil
}

// openReady opens the database and ensures that its schema is up to date. A command
// with exclusive access to an SQLite file applies pending steps. In all other cases
// pending steps are an error.
func (p *program) openReady(ctx context.Context, c *config.Config, mode access) (*instance.Storage, func() error, error) {
	db, end, err := p.openDatabase(ctx, c, mode)
	if err != nil {
		return nil, nil, err
	}
	if mode == writing && !db.Shared() {
		_, err = migrate.Up(ctx, db.SQL(), db.Dialect())
	} else {
		err = migrate.Check(ctx, db.SQL(), db.Dialect())
	}
	if err != nil {
		return nil, nil, errors.Join(db.Explain(err), end())
	}
	return db, end, nil
}

// withDatabase calls fn with the configured database, or that of the flag --db, which must
// exist. It closes the database.
func (p *program) withDatabase(
	ctx context.Context, database string, mode access, fn func(c *config.Config, db *instance.Storage) error,
) (err error) {
	c, err := p.loadConfig(ctx, database)
	if err != nil {
		return err
	}
	if err := checkExists(c.DB); err != nil {
		return err
	}
	db, end, err := p.openReady(ctx, c, mode)
	if err != nil {
		return err
	}
	defer func() { err = closing(err, end) }()
	return fn(c, db)
}

// checkExists returns an error if the file of an SQLite database does not exist.
// Opening it to read would create it.
func checkExists(c config.DB) error {
	if c.Shared() {
		return nil
	}
	if _, err := os.Stat(c.Path()); errors.Is(err, fs.ErrNotExist) {
		return guidon.Errorf(guidon.NotFound,
			"database %q does not exist; specify another with --db or db.url (GUIDON_DB_URL), use a running server with --address, or create it with \"guidon migrate up\", or --local if the command has that flag", c.Path())
	}
	return nil
}

// heldError reports that another process is using the SQLite file.
type heldError struct{ error }

// adviseAddress adds a hint to a heldError.
func adviseAddress(err error) error {
	if _, held := errors.AsType[heldError](err); held {
		return fmt.Errorf("%w; use that server with --address, or stop it first", err)
	}
	return err
}

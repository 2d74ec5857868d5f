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

// access is what a command does with the database.
type access uint8

const (
	reading access = iota // beside a running server; the database must be ready
	writing               // an SQLite file alone, and it is made ready; Redis is told, where there is one
	serving               // the same, and with Redis in every respect
)

// loadConfig returns the configuration, with the database of the flag --db
// where that is given.
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
		"work on this `database`, a file or a URL, instead of the configured one; GUIDON_DB_URL keeps a password out of the process list")
}

// databaseURL lets --db be a mere path. A scheme that is not known is left for
// the configuration to refuse.
func databaseURL(text string) string {
	if config.EngineOf(text) != "" || strings.Contains(text, "://") {
		return text
	}
	return "file:" + text
}

// openDatabase opens the database of the configuration. The function it returns
// gives the database back and closes it.
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

// openReady opens the database with its schema up to date: a command that writes
// to an SQLite file, which it has for itself, applies pending steps; all others
// refuse.
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

// checkExists returns an error unless the file of an SQLite database is there: looking
// must not create it.
func checkExists(c config.DB) error {
	if c.Shared() {
		return nil
	}
	if _, err := os.Stat(c.Path()); errors.Is(err, fs.ErrNotExist) {
		return guidon.Errorf(guidon.NotFound,
			"there is no database %q; name another with --db or db.url (GUIDON_DB_URL), a running server with --address, or create it with \"guidon migrate up\"", c.Path())
	}
	return nil
}

// heldError says that another process has the database.
type heldError struct{ error }

// adviseAddress adds what to do instead when another process has the database.
func adviseAddress(err error) error {
	if _, held := errors.AsType[heldError](err); held {
		return fmt.Errorf("%w; go through that server with --address, or stop it first", err)
	}
	return err
}

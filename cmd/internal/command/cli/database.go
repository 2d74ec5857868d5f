package cli

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

// Access is how a command uses the database.
type Access uint8

const (
	Reading Access = iota // next to a running server; the schema must be up to date
	Writing               // exclusively for an SQLite file; writes are announced to Redis, if configured
	Serving               // like writing, but Redis is also read from
)

// LoadConfig returns the configuration, with the database of the flag --db if that
// is given.
func (p *Program) LoadConfig(ctx context.Context, database string) (*config.Config, error) {
	environ := p.Environ
	if database != "" {
		environ = append(slices.Clone(environ), "GUIDON_DB_URL="+DatabaseURL(database), "GUIDON_DB_URL_FILE=")
	}
	return config.Load(ctx, p.ConfigFile, environ, &p.AWS)
}

// DatabaseFlag adds the flag --db to the command.
func DatabaseFlag(command *cobra.Command, database *string) {
	command.Flags().StringVar(database, "db", "",
		"use this `database`, a file or a URL, instead of the configured one; GUIDON_DB_URL keeps a password out of the process list")
}

// DatabaseURL returns the URL for the value of --db, which may be just a path. It
// does not reject unknown schemes; loading the configuration does.
func DatabaseURL(text string) string {
	if config.EngineOf(text) != "" || strings.Contains(text, "://") {
		return text
	}
	return "file:" + text
}

// OpenDatabase opens the database of the configuration.
func (p *Program) OpenDatabase(ctx context.Context, c *config.Config, mode Access) (*instance.Storage, error) {
	if mode == Reading {
		if err := CheckExists(c.DB); err != nil {
			return nil, err
		}
	}
	db, err := instance.OpenDatabase(ctx, c.DB, &p.AWS, mode != Reading, p.Trace)
	if _, held := errors.AsType[*filelock.HeldError](err); held {
		err = heldError{errors.New(guidon.PublicMessage(err))}
	}
	if err != nil {
		return nil, err
	}
	if mode == Reading {
		return &instance.Storage{DB: db}, nil
	}
	storage, err := instance.WithRedis(db, c.Cache, mode != Serving, p.Trace)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return storage, nil
}

// OpenReady opens the database and ensures that its schema is up to date. A command
// with exclusive access to an SQLite file applies pending steps. In all other cases
// pending steps are an error.
func (p *Program) OpenReady(ctx context.Context, c *config.Config, mode Access) (*instance.Storage, error) {
	db, err := p.OpenDatabase(ctx, c, mode)
	if err != nil {
		return nil, err
	}
	if mode == Writing && !db.Shared() {
		_, err = migrate.Up(ctx, db.SQL(), db.Dialect())
	} else {
		err = migrate.Check(ctx, db.SQL(), db.Dialect())
	}
	if err != nil {
		return nil, errors.Join(db.Explain(err), db.Close())
	}
	return db, nil
}

// openExisting is [Program.OpenReady] for a database that must exist.
func (p *Program) openExisting(ctx context.Context, c *config.Config, mode Access) (*instance.Storage, error) {
	if err := CheckExists(c.DB); err != nil {
		return nil, err
	}
	return p.OpenReady(ctx, c, mode)
}

// CheckExists returns an error if the file of an SQLite database does not exist.
// Opening it to read would create it.
func CheckExists(c config.DB) error {
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

// AdviseHeld adds the advice to the error of a database that another process is using. It
// returns other errors, and nil, as they are.
func AdviseHeld(err error, advice string) error {
	if _, held := errors.AsType[heldError](err); held {
		return fmt.Errorf("%w; %s", err, advice)
	}
	return err
}

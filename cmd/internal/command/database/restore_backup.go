package database

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/cmd/internal/machine"
	"github.com/guidonhq/guidon/migrate"
	"github.com/guidonhq/guidon/store"
	"github.com/guidonhq/guidon/store/filelock"
)

const restoreBackupHelp = `Replace the configured SQLite database by a file of "guidon backup". Stop the server
first: it has the database to itself, and its file must not change below it.

The backup is read and checked before anything changes. The replaced database stays
next to the new one, under the name that is printed. The new file has the owner of
the replaced one, or that of its folder if there was none, and only the owner can
read it. A backup of an older release is updated when the server starts.`

// RestoreBackupCommand returns the command "restore-backup".
func RestoreBackupCommand(p *cli.Program) *cobra.Command {
	var database string
	var yes bool
	return p.Command(cli.Verb{
		Use: "restore-backup <file>", Short: "Replace an SQLite database by a backup", Long: restoreBackupHelp,
		Example: `  guidon restore-backup guidon-backup.db
  guidon restore-backup guidon-backup.db --db /var/lib/guidon/guidon.db --yes`,
		Options: func(command *cobra.Command) {
			cli.DatabaseFlag(command, &database)
			command.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask for confirmation")
		},
		Run: func(ctx context.Context, args []string) error { return restoreBackup(ctx, p, args[0], database, yes) },
	})
}

func restoreBackup(ctx context.Context, p *cli.Program, backup, database string, yes bool) error {
	c, err := p.LoadConfig(ctx, database)
	if err != nil {
		return err
	}
	if c.DB.Shared() {
		return cli.UsageError("the configured database is on a server; restore it with the tools of that server, or name a file with --db")
	}
	if err := checkRestorable(ctx, backup); err != nil {
		return err
	}
	path, err := filepath.EvalSymlinks(c.DB.Path())
	exists := err == nil
	if errors.Is(err, fs.ErrNotExist) {
		path, err = c.DB.Path(), nil
	}
	if err != nil {
		return err
	}
	if exists {
		if err := p.Confirm(fmt.Sprintf("The database %s will be replaced by the backup %s.\n", path, backup), yes); err != nil {
			return err
		}
	}
	r := restored{path: path, exists: exists, kept: path + ".before-" + time.Now().UTC().Format("20060102T150405.000Z")}
	if err := r.replaceBy(ctx, backup); err != nil {
		return err
	}
	if exists {
		fmt.Fprintf(p.Out, "the replaced database is %s\n", r.kept)
	}
	_, err = fmt.Fprintf(p.Out, "restored %s from %s\n", path, backup)
	return err
}

// checkRestorable returns an error unless the file is a backup that this release can use.
func checkRestorable(ctx context.Context, backup string) error {
	if err := store.CheckBackup(ctx, backup); err != nil {
		return err
	}
	db, err := store.OpenBackup(backup)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := migrate.Check(ctx, db, "sqlite"); err != nil && !errors.Is(err, guidon.Unavailable) { // that are pending steps
		return fmt.Errorf("%s: %w", backup, err)
	}
	return nil
}

// restored is a database that is replaced by a backup.
type restored struct {
	path   string // without symbolic links
	exists bool
	kept   string // path of the replaced database
}

// replaceBy puts a copy of the backup in place of the database while no other process can
// open it. If it is interrupted, the old database is still at its path or complete at the
// path kept; a server does not start on a file that has both names.
func (r restored) replaceBy(ctx context.Context, backup string) (err error) {
	owner, err := r.owner()
	if err != nil {
		return err
	}
	temporary, err := copyPrivately(ctx, backup, filepath.Dir(r.path), owner)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temporary)
		}
	}()
	unlock, err := r.lock()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if r.exists {
		if err := r.keep(); err != nil {
			return err
		}
	}
	return os.Rename(temporary, r.path)
}

// owner returns a file that has the owner which the new one must have.
func (r restored) owner() (fs.FileInfo, error) {
	if r.exists {
		return os.Stat(r.path)
	}
	return os.Stat(filepath.Dir(r.path))
}

// copyPrivately copies the file into the directory, under a temporary name, for the owner
// of the other file only. The copy is on the disk when it returns.
func copyPrivately(ctx context.Context, path, dir string, owner fs.FileInfo) (name string, err error) {
	from, err := os.Open(path) // #nosec G304 -- the operator's own choice
	if err != nil {
		return "", err
	}
	defer from.Close()
	to, err := os.CreateTemp(dir, ".guidon-restore-*")
	if err != nil {
		return "", err
	}
	_, err = io.Copy(to, from)
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		machine.SetOwner(to, owner)
		err = to.Sync()
	}
	if err = errors.Join(err, to.Close()); err != nil {
		_ = os.Remove(to.Name())
		return "", err
	}
	return to.Name(), nil
}

// lock keeps other processes off the database, and off the write-ahead log, to which a
// process whose file was replaced before still writes.
func (r restored) lock() (unlock func() error, err error) {
	var locks []*filelock.Lock
	unlock = func() error {
		var err error
		for _, l := range locks {
			err = errors.Join(err, l.Release())
		}
		return err
	}
	for _, path := range []string{r.path, r.path + "-wal"} {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		l, err := filelock.Acquire(path)
		if held, ok := errors.AsType[*filelock.HeldError](err); ok {
			err = fmt.Errorf("%w; stop the server first", held)
		}
		if err != nil {
			return nil, errors.Join(err, unlock())
		}
		locks = append(locks, l)
	}
	return unlock, nil
}

// keep gives the database its second name. Its write-ahead log, which has the last changes
// if the server was killed, gets that name alone: SQLite must not find it next to the backup.
func (r restored) keep() error {
	if err := os.Link(r.path, r.kept); err != nil {
		return err
	}
	err := os.Rename(r.path+"-wal", r.kept+"-wal")
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if removing := os.Remove(r.path + "-shm"); err == nil && !errors.Is(removing, fs.ErrNotExist) {
		err = removing
	}
	return err
}

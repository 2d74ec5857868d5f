package database

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/cmd/internal/instance"
	"github.com/guidonhq/guidon/cmd/internal/machine"
	"github.com/guidonhq/guidon/handler/diagnostics"
	"github.com/guidonhq/guidon/store"
)

const backupHelp = `Copy an SQLite database, which a server may be using, to a file: flags, history,
tokens and sessions. With --address the server makes the copy, for an administrator
of all namespaces, and sends it; otherwise the command reads the configured file.

The copy is read back and checked before it gets its name. Only the user who runs
the command can read it: it has the hashes of all tokens. "guidon restore-backup"
puts it back. Other databases are backed up with their own tools.`

// backup is one run of the command.
type backup struct {
	cli.Task
	force bool
}

// BackupCommand returns the command "backup".
func BackupCommand(p *cli.Program) *cobra.Command {
	b := &backup{Task: cli.Task{Program: p, Scope: cli.OnMachine}}
	return b.Command(cli.Verb{
		Use: "backup <file>", Short: "Copy an SQLite database, which may be in use, to a file", Long: backupHelp,
		Example: `  guidon backup guidon-backup.db
  guidon backup guidon-backup.db --address https://flags.example
  guidon backup guidon-backup.db --db /var/lib/guidon/guidon.db`,
		Options: func(command *cobra.Command) {
			b.Connection.Flags(command)
			command.Flags().BoolVarP(&b.force, "force", "f", false, "overwrite an existing file")
		},
		Run: func(ctx context.Context, args []string) error { return b.run(ctx, args[0]) },
	})
}

func (b *backup) run(ctx context.Context, path string) (err error) {
	path, err = machine.NewFile(path, b.force)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(path + "-wal"); err == nil { // SQLite would write that log into the backup
		return fmt.Errorf("%s is a database in use: %s-wal is part of it; name another file for the backup", path, path)
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), ".guidon-backup-*")
	if err != nil {
		return err
	}
	defer func() {
		if removing := os.Remove(temporary.Name()); err == nil && !errors.Is(removing, fs.ErrNotExist) {
			err = removing
		}
	}()
	source, err := b.copyTo(ctx, temporary)
	if err := errors.Join(err, temporary.Close()); err != nil {
		return err
	}
	if err := store.CheckBackup(ctx, temporary.Name()); err != nil {
		return err
	}
	info, err := os.Stat(temporary.Name())
	if err != nil {
		return err
	}
	if err := os.Rename(temporary.Name(), path); err != nil {
		return err
	}
	_, err = fmt.Fprintf(b.Out, "backed up %s to %s: %d bytes, checked\n", source, path, info.Size())
	return err
}

// copyTo writes the copy into the file, and returns the name of the source.
func (b *backup) copyTo(ctx context.Context, file *os.File) (source string, err error) {
	if b.Connection.Remote() {
		options, err := b.Authenticated(&b.Connection)
		if err != nil {
			return "", err
		}
		if err := client.Download(ctx, b.Connection.Address, diagnostics.BackupPath, options, io.Writer(file)); err != nil {
			return "", err
		}
		return b.Connection.Address, file.Sync()
	}
	copies := func(ctx context.Context, _ *config.Config, db *instance.Storage, _ []string) (cli.Output, error) {
		source = db.Path()
		return cli.Output{}, db.Backup(ctx, file.Name())
	}
	_, err = b.InDatabase(ctx, cli.Local{AnySchema: true, Do: copies}, nil)
	return source, err
}

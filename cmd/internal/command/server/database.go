package server

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/guidonhq/guidon/handler/diagnostics"
	"github.com/guidonhq/guidon/runtimes/server"
	"github.com/guidonhq/guidon/store"
)

// openBackup returns the function that makes backups of the database, or nil if the database
// is on a server.
func openBackup(db *store.DB) diagnostics.OpenBackup {
	if db.Shared() {
		return nil
	}
	return func(ctx context.Context) (io.ReadCloser, int64, error) {
		// Next to the database, where the server may write and there is room.
		file, err := os.CreateTemp(filepath.Dir(db.Path()), ".guidon-backup-*")
		if err != nil {
			return nil, 0, err
		}
		copied := temporary{file}
		err = db.Backup(ctx, file.Name())
		var info os.FileInfo
		if err == nil {
			info, err = file.Stat()
		}
		if err != nil {
			return nil, 0, errors.Join(err, copied.Close())
		}
		return copied, info.Size(), nil
	}
}

// temporary is a file that exists until it is closed.
type temporary struct{ *os.File }

// Close closes and deletes the file.
func (f temporary) Close() error { return errors.Join(f.File.Close(), os.Remove(f.Name())) }

// watchFile returns the loop that checks whether the database file is still the one that
// was opened. It logs once when it no longer is, and once when it is again.
func watchFile(check func() error, logger *slog.Logger) server.Loop {
	gone := false
	return server.Loop{Name: "database file", Interval: time.Second, Run: func(context.Context) error {
		err := check()
		switch {
		case err != nil && !gone:
			logger.Error("writes are rejected; evaluations continue from memory", "error", err)
		case err == nil && gone:
			logger.Info("the database file is back")
		}
		gone = err != nil
		return nil
	}}
}

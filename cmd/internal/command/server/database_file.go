package server

import (
	"context"
	"log/slog"
	"time"

	"github.com/guidonhq/guidon/runtimes/server"
)

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

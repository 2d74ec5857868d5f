package instance

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/cmd/internal/jsonlog"
)

// OpenLog returns the logger of the configuration and what closes its file. It
// writes to out where no file is configured; terminal tells whether a writer is a
// terminal.
func OpenLog(c config.Log, out io.Writer, terminal func(stream any) bool) (logger *slog.Logger, closeFile func() error, err error) {
	closeFile = func() error { return nil }
	if c.File != "" {
		f, err := os.OpenFile(c.File, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600) // #nosec G304 -- the operator's own choice
		if err != nil {
			return nil, nil, fmt.Errorf("log.file (GUIDON_LOG_FILE): %w", err)
		}
		out, closeFile = f, f.Close
	}
	return slog.New(logHandler(c, out, terminal)), closeFile, nil
}

func logHandler(c config.Log, out io.Writer, terminal func(stream any) bool) slog.Handler {
	level := LogLevel(c.Level)
	if c.Encoding == config.EncodingConsole || c.Encoding == config.EncodingAuto && terminal(out) {
		return slog.NewTextHandler(out, &slog.HandlerOptions{Level: level})
	}
	return jsonlog.New(out, level, jsonlog.Keys{Time: c.Keys.Time, Level: c.Keys.Level, Message: c.Keys.Message})
}

// LogLevel returns the level of the word. The reference has two levels above
// error, which only say how the process ends (operations 2.2).
func LogLevel(word string) slog.Level {
	switch strings.ToLower(word) {
	case "debug":
		return slog.LevelDebug
	case "info":
		return slog.LevelInfo
	case "warn":
		return slog.LevelWarn
	}
	return slog.LevelError
}

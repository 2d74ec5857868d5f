package instance

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/guidonhq/guidon/cmd/internal/config"
)

// Console returns the handler for the log on a terminal, or nil if out is no terminal.
type Console func(out io.Writer, level slog.Level) slog.Handler

// OpenLog returns the configured logger, and a function that closes it. The logger
// writes to out if no file is configured. JSON lines may be delayed as by a
// [gatherer] with that delay.
func OpenLog(c config.Log, out io.Writer, console Console, delay time.Duration) (logger *slog.Logger, end func() error, err error) {
	closeFile := func() error { return nil }
	if c.File != "" {
		f, err := os.OpenFile(c.File, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600) // #nosec G304 -- the operator's own choice
		if err != nil {
			return nil, nil, fmt.Errorf("log.file (GUIDON_LOG_FILE): %w", err)
		}
		out, closeFile = f, f.Close
	}
	level := LogLevel(c.Level)
	onTerminal := console(out, level)
	switch {
	case onTerminal != nil && c.Encoding != config.EncodingJSON:
		return slog.New(onTerminal), closeFile, nil
	case c.Encoding == config.EncodingConsole:
		return slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: level})), closeFile, nil
	}
	gathered := newGatherer(out, delay)
	return slog.New(newJSONHandler(gathered, level, c.Keys)), func() error { return errors.Join(gathered.Close(), closeFile()) }, nil
}

// LogLevel returns the level with the name. Flipt's panic and fatal, which only differ in
// how the process ends, are the same as error (operations 2.2).
func LogLevel(word string) slog.Level {
	var level slog.Level
	if level.UnmarshalText([]byte(word)) != nil {
		return slog.LevelError
	}
	return level
}

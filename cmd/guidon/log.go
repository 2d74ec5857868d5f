package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/cmd/internal/jsonlog"
)

// openLog returns the logger of the configuration and what closes its file.
func (p *program) openLog(c config.Log) (logger *slog.Logger, closeFile func() error, err error) {
	out, closeFile := p.stdout, func() error { return nil }
	if c.File != "" {
		f, err := os.OpenFile(c.File, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600) // #nosec G304 -- the operator's own choice
		if err != nil {
			return nil, nil, fmt.Errorf("log.file (GUIDON_LOG_FILE): %w", err)
		}
		out, closeFile = f, f.Close
	}
	return slog.New(p.logHandler(c, out)), closeFile, nil
}

func (p *program) logHandler(c config.Log, out io.Writer) slog.Handler {
	level := logLevel(c.Level)
	if c.Encoding == config.EncodingConsole || c.Encoding == config.EncodingAuto && p.terminal(out) {
		return slog.NewTextHandler(out, &slog.HandlerOptions{Level: level})
	}
	return jsonlog.New(out, level, jsonlog.Keys{Time: c.Keys.Time, Level: c.Keys.Level, Message: c.Keys.Message})
}

// logLevel returns the level of the word. The reference has two levels above
// error, which only say how the process ends (operations 2.2).
func logLevel(word string) slog.Level {
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

package cli

import (
	"io"
	"log/slog"

	"github.com/lmittmann/tint"

	"github.com/guidonhq/guidon/cmd/internal/machine"
	"github.com/guidonhq/guidon/internal/clock"
)

// colors reports whether to write colors to the stream: if it is a terminal that has them, and
// the user has not forbidden them (https://no-color.org).
func (p *Program) colors(stream any) bool {
	return p.Terminal(stream) && machine.Variable(p.Environ, "NO_COLOR") == "" && machine.Variable(p.Environ, "TERM") != "dumb"
}

// Console returns the handler of the log on a terminal, or nil if out is not a terminal.
func (p *Program) Console(out io.Writer, level slog.Level) slog.Handler {
	if !p.Terminal(out) {
		return nil
	}
	return tint.NewTextHandler(out, &tint.Options{
		Level: level, TimeFormat: "15:04:05.000", NoColor: !p.colors(out), ReplaceAttr: consoleAttribute,
	})
}

// consoleAttribute returns the attribute in the form for people. Errors are red.
func consoleAttribute(groups []string, a slog.Attr) slog.Attr {
	switch {
	case a.Value.Kind() == slog.KindDuration:
		return slog.String(a.Key, clock.Text(a.Value.Duration()))
	case len(groups) == 0 && a.Key == slog.MessageKey:
		return slog.String(a.Key, Printable(a.Value.String())) // it is not quoted
	case a.Key == "error":
		return tint.Attr(9, a)
	}
	return a
}

package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/lmittmann/tint"
	"golang.org/x/term"

	"github.com/guidonhq/guidon/cmd/internal/machine"
	"github.com/guidonhq/guidon/internal/clock"
)

// screen is a terminal that people read.
type screen struct {
	io.Writer
	colors bool
	now    time.Time
}

// Color is a color of a terminal, or a way to write a text.
type Color string

// The colors in the output of commands.
const (
	Faint  Color = "2"
	Red    Color = "31"
	Green  Color = "32"
	Yellow Color = "33"
)

// Colored is a text in a color.
type Colored struct {
	Color Color
	Text  string
}

// For returns the text for out, in the color if that is a terminal that has colors.
func (c Colored) For(out io.Writer) string {
	if s, ok := out.(*screen); !ok || !s.colors || c.Color == "" || c.Text == "" {
		return c.Text
	}
	return "\x1b[" + string(c.Color) + "m" + c.Text + "\x1b[0m"
}

// PaintDiff returns a diff for out: at a terminal, what is added is green, what is deleted red.
func PaintDiff(out io.Writer, diff string) string {
	lines := strings.SplitAfter(diff, "\n")
	for i, line := range lines {
		text := Colored{Text: strings.TrimSuffix(line, "\n")}
		switch {
		case strings.HasPrefix(line, "+"):
			text.Color = Green
		case strings.HasPrefix(line, "-"):
			text.Color = Red
		}
		lines[i] = text.For(out) + line[len(text.Text):]
	}
	return strings.Join(lines, "")
}

// OnOff returns the cell of a state: on, off or another word.
func OnOff(state string) Colored {
	return Colored{map[string]Color{"on": Green, "off": Red}[state], state}
}

// Action returns the cell of an action on an object: create, update or delete.
func Action(action string) Colored {
	return Colored{map[string]Color{"create": Green, "update": Yellow, "delete": Red}[action], action}
}

// timeFor returns the time in RFC 3339, or relative to now if out is a terminal.
func timeFor(out io.Writer, at time.Time) string {
	s, ok := out.(*screen)
	if !ok {
		return at.UTC().Format(time.RFC3339)
	}
	return relative(s.now, at)
}

// relative returns a time in words: relative to now up to 30 days, then the date.
func relative(now, at time.Time) string {
	form, distance := "%s ago", now.Sub(at)
	if distance < 0 {
		form, distance = "in %s", -distance
	}
	const day = 24 * time.Hour
	switch {
	case distance < time.Minute:
		return "now"
	case distance < time.Hour:
		return fmt.Sprintf(form, Count(distance/time.Minute, "minute"))
	case distance < day:
		return fmt.Sprintf(form, Count(distance/time.Hour, "hour"))
	case distance < 30*day:
		return fmt.Sprintf(form, Count(distance/day, "day"))
	}
	return at.Local().Format(time.DateOnly)
}

// Count returns a number with its unit, which gets an "s" unless the number is one.
func Count[N ~int | ~int32 | ~int64](n N, unit string) string {
	if n == 1 {
		return "1 " + unit
	}
	return strconv.FormatInt(int64(n), 10) + " " + unit + "s"
}

// forPeople calls show with the standard output. At a terminal, what does not fit is shown in a
// pager.
func (p *Program) forPeople(show func(out io.Writer) error) error {
	if !p.Terminal(p.Stdout) {
		return show(p.Out)
	}
	var text bytes.Buffer
	failed := show(&screen{Writer: &text, colors: p.colors(p.Stdout), now: p.Now()})
	if bytes.Count(text.Bytes(), []byte("\n")) >= p.Height() {
		if pager := machine.Pager(p.Environ); pager != nil {
			return errors.Join(failed, machine.ShowIn(pager, &text, p.Stdout, p.Err))
		}
	}
	_, err := text.WriteTo(p.Out)
	return errors.Join(failed, err)
}

// height returns how many lines the terminal has, or a large number if nobody types there.
func (p *Program) height() int {
	f, ok := p.Stdout.(*os.File)
	if !ok || !p.Terminal(p.In) {
		return math.MaxInt
	}
	_, lines, err := term.GetSize(int(f.Fd())) // #nosec G115 -- a file descriptor
	if err != nil {
		return math.MaxInt
	}
	return lines
}

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

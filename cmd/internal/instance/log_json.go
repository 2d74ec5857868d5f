package instance

import (
	"context"
	"encoding/binary"
	"log/slog"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/guidonhq/guidon/cmd/internal/config"
)

// jsonHandler writes a log as JSON. The lines are those of slog.JSONHandler, at a fraction of
// its cost for frequent events: it writes those with plain attributes itself. It leaves all
// others to slog.JSONHandler, and also loggers with groups or preset attributes.
type jsonHandler struct {
	slog.Handler
	out   *gatherer
	level slog.Leveler

	// The text before the time, the level and the message.
	time, severity, message string
}

// newJSONHandler returns a handler that writes events of at least the level to out. It is
// safe for concurrent use.
func newJSONHandler(out *gatherer, level slog.Leveler, keys config.LogKeys) slog.Handler {
	names := map[string]string{slog.TimeKey: keys.Time, slog.LevelKey: keys.Level, slog.MessageKey: keys.Message}
	general := slog.NewJSONHandler(out, &slog.HandlerOptions{
		Level: level,
		ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if name, ok := names[a.Key]; ok && len(groups) == 0 {
				a.Key = name
			}
			return a
		},
	})
	for _, name := range names {
		if !plain(name) {
			return general
		}
	}
	return &jsonHandler{
		Handler: general, out: out, level: level,
		time: `{"` + keys.Time + `":"`, severity: `","` + keys.Level + `":"`, message: `","` + keys.Message + `":"`,
	}
}

// Enabled implements [slog.Handler].
func (h *jsonHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= h.level.Level()
}

// lines is the pool of buffers for lines.
var lines = sync.Pool{New: func() any { return &line{b: make([]byte, 0, 1<<10)} }}

// maxKept is the capacity up to which buffers are returned to the pool.
const maxKept = 16 << 10

// Handle implements [slog.Handler].
func (h *jsonHandler) Handle(ctx context.Context, r slog.Record) error {
	l := h.begin(r.Time, r.Level, r.Message)
	defer l.release()
	if !l.refused {
		r.Attrs(l.attribute)
	}
	if l.refused {
		return h.Handler.Handle(ctx, r)
	}
	return h.end(l, r.Level)
}

// HandleAttributes is Handle for an event that is not a record. A record would allocate
// for more than a few attributes. It does not keep the attributes.
func (h *jsonHandler) HandleAttributes(ctx context.Context, at time.Time, level slog.Level, message string, attributes []slog.Attr) error {
	l := h.begin(at, level, message)
	defer l.release()
	for i := 0; i < len(attributes) && !l.refused; i++ {
		l.attribute(attributes[i])
	}
	if l.refused {
		r := slog.NewRecord(at, level, message, 0)
		r.AddAttrs(attributes...)
		return h.Handler.Handle(ctx, r)
	}
	return h.end(l, level)
}

// begin returns a line with the time, the level and the message.
func (h *jsonHandler) begin(at time.Time, level slog.Level, message string) *line {
	l := lines.Get().(*line)
	year := at.Year()
	if l.refused = at.IsZero() || year < 0 || year > 9999 || !plain(message); l.refused {
		return l
	}
	l.b = at.AppendFormat(append(l.b[:0], h.time...), time.RFC3339Nano)
	l.b = append(append(l.b, h.severity...), level.String()...)
	l.b = append(append(l.b, h.message...), message...)
	l.b = append(l.b, '"')
	return l
}

// end writes the line.
func (h *jsonHandler) end(l *line, level slog.Level) error {
	l.b = append(l.b, '}', '\n')
	write := h.out.later
	if level >= slog.LevelWarn {
		write = h.out.Write
	}
	_, err := write(l.b)
	return err
}

// line is a line that is being written.
type line struct {
	b       []byte
	refused bool // must be written by slog.JSONHandler
}

// release returns the line to the pool.
func (l *line) release() {
	if cap(l.b) <= maxKept {
		lines.Put(l)
	}
}

// attribute appends an attribute, and reports whether it did.
func (l *line) attribute(a slog.Attr) bool {
	switch a.Key {
	case "", slog.TimeKey, slog.LevelKey, slog.MessageKey:
		l.refused = true
		return false
	}
	if !plain(a.Key) {
		l.refused = true
		return false
	}
	l.b = append(append(append(l.b, `,"`...), a.Key...), `":`...)
	switch a.Value.Kind() {
	case slog.KindString:
		text := a.Value.String()
		l.refused = !plain(text)
		l.b = append(append(append(l.b, '"'), text...), '"')
	case slog.KindInt64:
		l.b = strconv.AppendInt(l.b, a.Value.Int64(), 10)
	case slog.KindDuration:
		l.b = strconv.AppendInt(l.b, int64(a.Value.Duration()), 10)
	case slog.KindBool:
		l.b = strconv.AppendBool(l.b, a.Value.Bool())
	default:
		l.refused = true
	}
	return !l.refused
}

// plain reports whether a string needs no escaping in JSON.
func plain(text string) bool {
	for len(text) >= 8 {
		if !plainWord(binary.LittleEndian.Uint64([]byte(text[:8]))) {
			return false
		}
		text = text[8:]
	}
	for i := range len(text) {
		if c := text[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// plainWord is plain for eight bytes together. The top bit of a byte remains set if the
// byte is below a space, a quote, a backslash or not ASCII (Bit Twiddling Hacks,
// "Determine if a word has a byte less than n").
func plainWord(w uint64) bool {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	quote, backslash := w^ones*'"', w^ones*'\\'
	return (w|(w-ones*' ')&^w|(quote-ones)&^quote|(backslash-ones)&^backslash)&tops == 0
}

package instance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"sync"
	"testing"
	"testing/slogtest"
	"time"

	"github.com/guidonhq/guidon/cmd/internal/config"
)

var keys = config.LogKeys{Time: "T", Level: "L", Message: "M"}

// general is the reference handler.
func general(out io.Writer) slog.Handler {
	names := map[string]string{"time": "T", "level": "L", "msg": "M"}
	return slog.NewJSONHandler(out, &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if name, ok := names[a.Key]; ok && len(groups) == 0 {
			a.Key = name
		}
		return a
	}})
}

// attributeHandler is a handler for events that are not records.
type attributeHandler interface {
	HandleAttributes(ctx context.Context, at time.Time, level slog.Level, message string, attributes []slog.Attr) error
}

// check compares the lines of both handlers for an event.
func check(t *testing.T, at time.Time, level slog.Level, message string, attributes ...slog.Attr) {
	t.Helper()
	r := slog.NewRecord(at, level, message, 0)
	r.AddAttrs(attributes...)
	var got, direct, want bytes.Buffer
	if err := newJSONHandler(newGatherer(&got, 0), slog.LevelInfo, keys).Handle(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if err := newJSONHandler(newGatherer(&direct, 0), slog.LevelInfo, keys).(attributeHandler).HandleAttributes(t.Context(), at, level, message, attributes); err != nil {
		t.Fatal(err)
	}
	if err := general(&want).Handle(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if got.String() != want.String() {
		t.Errorf("got  %swant %s", &got, &want)
	}
	if direct.String() != want.String() {
		t.Errorf("by attributes: got  %swant %s", &direct, &want)
	}
}

var noon = time.Date(2026, 11, 21, 12, 0, 0, 123_456_000, time.FixedZone("", 3600))

// TestLines: the lines are the same as those of slog, byte for byte.
func TestLines(t *testing.T) {
	request := []slog.Attr{
		slog.String("request_id", "5f1a7c9e"), slog.Int("status", 200), slog.Int64("bytes", -1),
		slog.Bool("ok", true), slog.Duration("duration", 12*time.Microsecond), slog.String("empty", ""),
	}
	for name, extra := range map[string]slog.Attr{
		"nothing else":               {},
		"a string to escape":         slog.String("error", "flag \"a\\b\" \n\t\x00\x7f<&>\u2028 not found"),
		"a string that is not ASCII": slog.String("name", "Zoë"),
		"a string that is not UTF-8": slog.String("name", "\xff"),
		"a key to escape":            slog.String("a\"b", "c"),
		"a float":                    slog.Float64("f", 1.5),
		"an unsigned number":         slog.Uint64("u", 1<<63),
		"an instant":                 slog.Time("at", noon),
		"an error":                   slog.Any("error", errors.New("x")),
		"a group":                    slog.Group("g", slog.Int("a", 1), slog.String("time", "x")),
		"nil":                        slog.Any("n", nil),
		"a LogValuer":                slog.Any("v", valuer{}),
		"a key that is renamed":      slog.String("msg", "other"),
	} {
		t.Run(name, func(t *testing.T) {
			check(t, noon, slog.LevelInfo, "request", request...)
			check(t, noon, slog.LevelInfo, "request", append(request, extra)...)
			check(t, noon, slog.LevelInfo, "request", append([]slog.Attr{extra}, request...)...)
		})
	}
	check(t, noon, slog.LevelError+2, "what \"happened\"", request...)
	check(t, noon, slog.LevelWarn-1, "request")
	check(t, time.Time{}, slog.LevelInfo, "request", request...)
	check(t, noon.UTC().Truncate(time.Second), slog.LevelInfo, "request", request...)
	check(t, time.Now(), slog.LevelInfo, "request", request...)
}

type valuer struct{}

func (valuer) LogValue() slog.Value { return slog.StringValue("found") }

func FuzzLines(f *testing.F) {
	f.Add("request", "status", "ok", int64(200), int64(1_700_000_000), int64(123))
	f.Add("\"", "time", "\u2028", int64(-1), int64(-1<<40), int64(0))
	f.Fuzz(func(t *testing.T, message, key, text string, number, seconds, nanos int64) {
		at := time.Unix(seconds%(1<<36), nanos)
		check(t, at, slog.Level(number%20), message, slog.String(key, text), slog.Int64(key, number), slog.Duration("d", time.Duration(number)))
	})
}

// TestHandler: the handler conforms to package slog.
func TestHandler(t *testing.T) {
	var out bytes.Buffer
	plain := config.LogKeys{Time: slog.TimeKey, Level: slog.LevelKey, Message: slog.MessageKey}
	err := slogtest.TestHandler(newJSONHandler(newGatherer(&out, 0), slog.LevelInfo, plain), func() []map[string]any {
		var lines []map[string]any
		for line := range bytes.Lines(out.Bytes()) {
			var members map[string]any
			if err := json.Unmarshal(line, &members); err != nil {
				t.Fatal(err)
			}
			lines = append(lines, members)
		}
		return lines
	})
	if err != nil {
		t.Error(err)
	}
}

// The level can change while the handler is used.
func TestLevel(t *testing.T) {
	level := new(slog.LevelVar)
	h := newJSONHandler(newGatherer(io.Discard, 0), level, keys)
	for set, want := range map[slog.Level]bool{slog.LevelInfo: true, slog.LevelWarn: false} {
		level.Set(set)
		if got := h.Enabled(t.Context(), slog.LevelInfo); got != want {
			t.Errorf("at %v, info is enabled: %t, want %t", set, got, want)
		}
	}
}

// Keys that need escaping in JSON work, too.
func TestKeys(t *testing.T) {
	var out bytes.Buffer
	slog.New(newJSONHandler(newGatherer(&out, 0), slog.LevelInfo, config.LogKeys{Time: "t\"", Level: "l", Message: "m"})).Info("x")
	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil || line["t\""] == nil || line["m"] != "x" {
		t.Errorf("got %s, error %v", &out, err)
	}
}

// oneAtATime fails the test if two lines are written concurrently.
type oneAtATime struct {
	t  *testing.T
	mu sync.Mutex
}

func (w *oneAtATime) Write(line []byte) (int, error) {
	if !w.mu.TryLock() {
		w.t.Error("two concurrent writes")
		return 0, nil
	}
	defer w.mu.Unlock()
	if !json.Valid(line) {
		w.t.Errorf("not JSON: %s", line)
	}
	return len(line), nil
}

// Lines of both handlers are never interleaved.
func TestConcurrent(t *testing.T) {
	logger := slog.New(newJSONHandler(newGatherer(&oneAtATime{t: t}, 0), slog.LevelInfo, keys))
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for i := range 500 {
				logger.Info("plain", "i", i)
				logger.Info("other", "f", 1.5)
				logger.With("a", 1).Info("with")
			}
		})
	}
	wait.Wait()
}

func BenchmarkRequest(b *testing.B) {
	for name, h := range map[string]slog.Handler{"jsonlog": newJSONHandler(newGatherer(io.Discard, 0), slog.LevelInfo, keys), "slog": general(io.Discard)} {
		logger := slog.New(h)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				logger.LogAttrs(context.Background(), slog.LevelInfo, "request",
					slog.String("request_id", "5f1a7c9e-3f0e-4d2b-9a57-0c6b2f1d8e44"), slog.String("operation", "/flipt.evaluation.EvaluationService/Variant"),
					slog.String("transport", "http"), slog.String("method", "POST"), slog.String("route", "/evaluate/v1/variant"),
					slog.Int("status", 200), slog.Int64("bytes", 222), slog.String("actor", "token:5f1a7c9e-3f0e-4d2b-9a57-0c6b2f1d8e44"),
					slog.String("namespace", "default"), slog.Int64("revision", 12), slog.String("code", "ok"), slog.Duration("duration", 12*time.Microsecond))
			}
		})
	}
}

package handler_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/stream"
	"github.com/guidonhq/guidon/internal/bubble"
	"github.com/guidonhq/guidon/service"
)

// TestPanickingStream checks that a stream that panics counts as failed, not as ended by
// its client.
func TestPanickingStream(t *testing.T) {
	for _, path := range []string{eventsPath, changesPath} {
		bubble.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			j, o := newJournal(), newObserver()
			streams := stream.NewHub(stream.Config{
				Subscribe:  func(string) (func() <-chan struct{}, func()) { panic("a defect") },
				MaxOFREP:   1,
				MaxChanges: 1,
			})
			h := handler.New(handler.Config{
				Service: service.NewService(j, time.Now), Streams: streams, Observer: o,
				Logger: slog.New(slog.NewJSONHandler(&log, nil)),
			})
			cut := false
			l := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				defer func() { cut = recover() == http.ErrAbortHandler }()
				h.ServeHTTP(w, r)
			}), path)
			if !l.ended() || !cut {
				t.Errorf("%s: the connection was not cut", path)
			}
			var e struct{ Level, Ended, Code, Error string }
			if err := json.Unmarshal(log.Bytes(), &e); err != nil {
				t.Fatalf("%v: %s", err, log.String())
			}
			if e.Level != "ERROR" || e.Ended != "failed" || e.Code != "internal error" || e.Error != "panic: a defect" {
				t.Errorf("%s: logged as %+v", path, e)
			}
			for _, s := range streams.Stats() {
				if s.Open != 0 || s.Ended["client"] != 0 {
					t.Errorf("%s: counts %+v, want none open and none ended by its client", path, s)
				}
			}
			if len(o.finished) != 0 {
				t.Errorf("%s: its duration was reported like that of a request: %v", path, <-o.finished)
			}
		})
	}
}

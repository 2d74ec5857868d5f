package main

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon/internal/bubble"
)

// TestProgress: the progress of a long command is shown at a terminal, that of a short
// one is not.
func TestProgress(t *testing.T) {
	tests := []struct {
		name     string
		terminal bool
		takes    time.Duration
		want     string
	}{
		{"short", true, 900 * time.Millisecond, "result\n"},
		{"long", true, 1100 * time.Millisecond, "importing: 7 objects, 2.5 MB so far\r\x1b[Kresult\n"},
		{"long, without a terminal", false, time.Hour, "result\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				p := &program{err: &out, terminal: func(any) bool { return tt.terminal }}
				progress := p.startProgress("importing")
				progress.add(7, 2_500_000)
				time.Sleep(tt.takes) // the fake time of synctest
				progress.hide(func() { out.WriteString("result\n") })
				progress.stop()
				if got := out.String(); got != tt.want {
					t.Errorf("got %q, want %q", got, tt.want)
				}
			})
		})
	}
}

// TestLibraryLog: messages of the gRPC library are logged from log.grpc_level up.
func TestLibraryLog(t *testing.T) {
	var out bytes.Buffer
	var l libraryLog
	l.Error("dropped, since there is no server")
	l.to(slog.New(slog.NewTextHandler(&out, nil)), slog.LevelWarn)
	l.Infof("dropped, %s", "too")
	l.Warningln("kept", 1)
	l.Errorf("kept %d", 2)
	l.to(nil, 0)
	l.Error("dropped again")
	if got := out.String(); strings.Contains(got, "dropped") || !strings.Contains(got, "kept 1") || !strings.Contains(got, "kept 2") {
		t.Errorf("got %q", got)
	}
}

func TestDatabaseURL(t *testing.T) {
	for text, want := range map[string]string{
		"guidon.db":             "file:guidon.db",
		"/data/guidon.db":       "file:/data/guidon.db",
		"file:guidon.db":        "file:guidon.db",
		"sqlite:///data/x.db":   "sqlite:///data/x.db",
		"postgres://db/guidon":  "postgres://db/guidon",
		"./folder/a:b/guidon.x": "file:./folder/a:b/guidon.x",
		"oracle://db/guidon":    "oracle://db/guidon", // rejected later
		"u:p@tcp(db:3306)/x":    "u:p@tcp(db:3306)/x",
		"host=db dbname=x":      "host=db dbname=x",
	} {
		if got := databaseURL(text); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

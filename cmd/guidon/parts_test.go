package main

import (
	"bytes"
	"log/slog"
	"runtime/debug"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/handler"
)

// TestProgress: a terminal sees how far a long command is, and nothing of a
// short one.
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
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				p := &program{err: &out, terminal: func(any) bool { return tt.terminal }}
				progress := p.startProgress("importing")
				progress.add(7, 2_500_000)
				time.Sleep(tt.takes) // the bubble's time, which costs none
				progress.hide(func() { out.WriteString("result\n") })
				progress.stop()
				if got := out.String(); got != tt.want {
					t.Errorf("got %q, want %q", got, tt.want)
				}
			})
		})
	}
}

// TestLibraryLog: what the gRPC library says is logged from log.grpc_level up.
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

func TestLogLevel(t *testing.T) {
	for word, want := range map[string]slog.Level{
		"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn,
		"error": slog.LevelError, "panic": slog.LevelError, "fatal": slog.LevelError,
	} {
		if got := logLevel(word); got != want {
			t.Errorf("%s: got %v, want %v", word, got, want)
		}
	}
}

// TestBuildInfo: what the linker was told wins over what Go recorded.
func TestBuildInfo(t *testing.T) {
	settings := []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.time", Value: "2026-01-02T03:04:05Z"}}
	tests := []struct {
		name   string
		linked handler.Info
		module string
		want   handler.Info
	}{
		{"from source", handler.Info{}, "(devel)", handler.Info{Commit: "abc", BuildDate: "2026-01-02T03:04:05Z"}},
		{"installed release", handler.Info{}, "v1.2.3", handler.Info{Version: "v1.2.3", Commit: "abc", BuildDate: "2026-01-02T03:04:05Z"}},
		{"pseudo-version", handler.Info{}, "v1.2.4-0.20260102030405-abcdefabcdef", handler.Info{Version: "v1.2.4-0.20260102030405-abcdefabcdef", Commit: "abc", BuildDate: "2026-01-02T03:04:05Z"}},
		{"linked", handler.Info{Version: "v9", Commit: "c", BuildDate: "d"}, "v1.2.3", handler.Info{Version: "v9", Commit: "c", BuildDate: "d"}},
	}
	for _, tt := range tests {
		got := tt.linked
		fillFromBuild(&got, &debug.BuildInfo{Main: debug.Module{Version: tt.module}, Settings: settings})
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestReleaseVersion(t *testing.T) {
	for version, want := range map[string]bool{
		"v1.2.3": true, "devel": false, "dev": false, "0a1b2c3-dirty": false, "v1.2.3-4-g0a1b2c3": false, "v1.2.3-rc.1": false,
	} {
		if got := releaseVersion.MatchString(version); got != want {
			t.Errorf("%s: got %t, want %t", version, got, want)
		}
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
		"oracle://db/guidon":    "oracle://db/guidon", // to be refused
		"u:p@tcp(db:3306)/x":    "u:p@tcp(db:3306)/x",
		"host=db dbname=x":      "host=db dbname=x",
	} {
		if got := databaseURL(text); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

package instance

import (
	"log/slog"
	"runtime/debug"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/handler/diagnostics"
)

func TestLogLevel(t *testing.T) {
	for word, want := range map[string]slog.Level{
		"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn,
		"error": slog.LevelError, "panic": slog.LevelError, "fatal": slog.LevelError,
	} {
		if got := LogLevel(word); got != want {
			t.Errorf("%s: got %v, want %v", word, got, want)
		}
	}
}

// TestBuildInfo: values set by the linker override those recorded by Go.
func TestBuildInfo(t *testing.T) {
	settings := []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.time", Value: "2026-01-02T03:04:05Z"}}
	tests := []struct {
		name   string
		linked diagnostics.Info
		module string
		want   diagnostics.Info
	}{
		{"from source", diagnostics.Info{}, "(devel)", diagnostics.Info{Commit: "abc", BuildDate: "2026-01-02T03:04:05Z"}},
		{"installed release", diagnostics.Info{}, "v1.2.3", diagnostics.Info{Version: "v1.2.3", Commit: "abc", BuildDate: "2026-01-02T03:04:05Z"}},
		{"pseudo-version", diagnostics.Info{}, "v1.2.4-0.20260102030405-abcdefabcdef", diagnostics.Info{Version: "v1.2.4-0.20260102030405-abcdefabcdef", Commit: "abc", BuildDate: "2026-01-02T03:04:05Z"}},
		{"linked", diagnostics.Info{Version: "v9", Commit: "c", BuildDate: "d"}, "v1.2.3", diagnostics.Info{Version: "v9", Commit: "c", BuildDate: "d"}},
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

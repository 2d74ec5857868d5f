package server

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

// TestLibraryLog: messages of the gRPC library are logged from log.grpc_level up.
func TestLibraryLog(t *testing.T) {
	var out bytes.Buffer
	var l libraryLog
	library := l.library()
	library.Error("dropped, since there is no server")
	l.to(slog.New(slog.NewTextHandler(&out, nil)), slog.LevelWarn)
	library.Infof("dropped, %s", "too")
	library.Warningln("kept:", 1)
	library.Errorf("kept: %d", 2)
	l.to(nil, 0)
	library.Error("dropped again")
	if got := out.String(); strings.Contains(got, "dropped") || !strings.Contains(got, `level=WARN msg="grpc library: kept: 1"`) ||
		!strings.Contains(got, `level=ERROR msg="grpc library: kept: 2"`) || strings.Count(got, "\n") != 2 {
		t.Errorf("got %q", got)
	}
}

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

package main

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

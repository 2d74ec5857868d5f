package cli

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
)

func TestConsoleAttribute(t *testing.T) {
	var out bytes.Buffer
	p := &Program{Environ: []string{"NO_COLOR=1"}, Terminal: func(any) bool { return true }}
	slog.New(p.Console(&out, slog.LevelInfo)).Error("a \x1b[2Jmessage", "after", 90*time.Minute, "error", errors.New("line 1\nline 2"))
	if _, got, _ := strings.Cut(out.String(), " "); got != `ERR "a \x1b[2Jmessage" after=1h30m error="line 1\nline 2"`+"\n" {
		t.Errorf("got %q", got)
	}
}

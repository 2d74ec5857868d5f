package database

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon/integration/harness"
)

// TestRemovedFile: a server whose database file was removed says so, with the reason, to
// those who check the database, and logs it once. When the file is back, so is the server.
func TestRemovedFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "guidon.db")
	s := harness.Start(t, "file:"+file)
	const reason = "the database file was replaced, moved or removed; the server must be restarted"
	logged := func(text string) {
		t.Helper()
		for deadline := time.Now().Add(harness.Patience); !strings.Contains(s.Log(), text); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("the log does not have %q", text)
			}
		}
	}
	health := func() string {
		t.Helper()
		out, _ := harness.Command(t, "file:"+file, "health", "--address", s.URL).CombinedOutput()
		return strings.TrimSpace(string(out))
	}
	if got := health(); got != "serving" {
		t.Fatalf("guidon health: got %q", got)
	}
	if err := os.Rename(file, file+".moved"); err != nil {
		t.Fatal(err)
	}
	want := `{"status":"SERVING","database":{"status":"NOT_SERVING","reason":"` + reason + `"}}`
	if got := string(s.Must(t, "GET", "/health?full", nil, nil).Body); strings.TrimSpace(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := string(s.Must(t, "GET", "/health", nil, nil).Body); strings.TrimSpace(got) != `{"status":"SERVING"}` {
		t.Errorf("plain health: got %s; a restart must not be forced", got)
	}
	if got := health(); !strings.HasSuffix(got, "is not serving: "+reason) {
		t.Errorf("guidon health: got %q", got)
	}
	logged("writes are rejected") // others may log the reason before
	if err := os.Rename(file+".moved", file); err != nil {
		t.Fatal(err)
	}
	logged("the database file is back")
	if got := health(); got != "serving" {
		t.Errorf("guidon health: got %q", got)
	}
	if n := strings.Count(s.Log(), "writes are rejected"); n != 1 {
		t.Errorf("the log says %d times that the file is gone, want once", n)
	}
}

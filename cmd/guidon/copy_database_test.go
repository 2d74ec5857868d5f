package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/store"
)

// TestCopyDatabase copies a local database, including its tokens.
func TestCopyDatabase(t *testing.T) {
	s := newEmptyShell(t)
	target := filepath.Join(t.TempDir(), "target.db")
	s.fails(cli.ExitFailure, []string{"copy-database", "--to", "file:" + target}, "does not exist")
	s.ok("import", shop, "--local")
	token := strings.TrimSpace(s.ok("token", "create", "ci"))

	out := s.ok("copy-database", "--to-file", s.file("url", "file:"+target+"\n"))
	for _, want := range []string{"TABLE", "flags ", "authentications          1 ", "copied and verified: ", target} {
		if !strings.Contains(out, want) {
			t.Errorf("copy prints %q, want it to contain %q", out, want)
		}
	}
	moved := s.with("GUIDON_DB_URL=file:" + target)
	if got, want := moved.ok("export", "--all-namespaces"), s.ok("export", "--all-namespaces"); got != want {
		t.Error("the export of the copy differs from that of the source")
	}
	if got, want := moved.ok("token", "list"), s.ok("token", "list"); got != want || strings.Contains(got, token) {
		t.Errorf("got tokens %q, want %q", got, want)
	}

	s.fails(cli.ExitFailure, []string{"copy-database", "--to", "file:" + target}, "target: ", "not empty")
	s.fails(cli.ExitUsage, []string{"copy-database", "--from", "file:" + target, "--to", "sqlite:" + target}, "the same database")
	s.fails(cli.ExitUsage, []string{"copy-database"}, "to")
	s.fails(cli.ExitFailure, []string{"copy-database", "--to", "file:x?mode=memory"}, "target: ")
}

// A server using the source would continue to write to it.
func TestCopyDatabaseInUse(t *testing.T) {
	s := newShell(t)
	s.ok("migrate", "up")
	url := strings.TrimPrefix(s.environ[2], "GUIDON_DB_URL=")
	db, err := store.Open(t.Context(), url, store.Options{Exclusive: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s.fails(cli.ExitFailure, []string{"copy-database", "--to", "file:" + filepath.Join(t.TempDir(), "x.db")}, "in use by process", "stop it first")
}

package main

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
)

// TestBackup: a backup of a database that a server is using has all that was written before,
// whoever makes it, and restoring it brings that back.
func TestBackup(t *testing.T) {
	s := newShell(t, "GUIDON_AUTHENTICATION_METHODS_TOKEN_ENABLED=true", "GUIDON_AUTHENTICATION_REQUIRED=true", "GUIDON_AUTHENTICATION_METHODS_TOKEN_BOOTSTRAP_TOKEN="+adminToken)
	server := s.serve()
	admin := s.with("GUIDON_TOKEN=" + adminToken)
	flags := func(s *shell, at ...string) string {
		return s.ok(append([]string{"flag", "list", "-o", "name"}, at...)...)
	}
	admin.ok("flag", "create", "before", "-a", server.web)
	dir := t.TempDir()
	mine, sent := filepath.Join(dir, "mine.db"), filepath.Join(dir, "sent.db")
	if got := s.ok("backup", mine); !strings.Contains(got, "backed up "+filepath.Join(s.home(), "guidon.db")+" to "+mine) {
		t.Errorf("got %q", got)
	}
	if got := admin.ok("backup", sent, "-a", server.web); !strings.Contains(got, "backed up "+server.web+" to "+sent) {
		t.Errorf("got %q", got)
	}
	viewer := strings.TrimSpace(admin.ok("token", "create", "viewer", "--role", "viewer", "-a", server.web))
	s.with("GUIDON_TOKEN="+viewer).fails(cli.ExitFailure, []string{"backup", filepath.Join(dir, "none.db"), "-a", server.web}, "needs admin")
	s.fails(cli.ExitFailure, []string{"backup", filepath.Join(dir, "none.db"), "-a", server.web}, "not authenticated")
	s.fails(cli.ExitFailure, []string{"backup", filepath.Join(dir, "none.db"), "-a", server.grpc}, "use an http:// or https:// address")
	s.fails(cli.ExitFailure, []string{"backup", mine}, "already exists; overwrite it with --force")
	inUse := []string{"backup", filepath.Join(s.home(), "guidon.db"), "--force"}
	s.fails(cli.ExitFailure, inUse, "is a database in use")
	admin.fails(cli.ExitFailure, append(inUse, "-a", server.web), "is a database in use")
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(mine, link); err != nil {
		t.Fatal(err)
	}
	s.ok("backup", link, "--force")
	if info, err := os.Lstat(link); err != nil || info.Mode().IsRegular() {
		t.Errorf("the link to the backup is now %v, error %v", info, err)
	}
	s.fails(cli.ExitFailure, []string{"backup", filepath.Dir(link), "--force"}, "is not a file")
	if entries := names(t, dir); entries != "mine.db sent.db" {
		t.Errorf("the folder has %s, want the two backups alone", entries)
	}
	if entries := names(t, s.home()); strings.Contains(entries, "backup") {
		t.Errorf("the folder of the database has %s", entries)
	}

	admin.ok("flag", "create", "after", "-a", server.web)
	s.fails(cli.ExitFailure, []string{"restore-backup", mine, "--yes"}, "is in use by process", "stop the server first")
	if got := flags(admin, "-a", server.web); got != "after\nbefore\n" {
		t.Errorf("after a refused restore: got %q", got)
	}
	server.wait(cli.ExitOK)
	for _, backup := range []string{mine, sent} {
		private(t, backup)
		s.ok("restore-backup", backup, "--yes")
		if got := flags(s); got != "before\n" {
			t.Errorf("restored from %s: got %q", backup, got)
		}
		private(t, filepath.Join(s.home(), "guidon.db"))
		s.ok("flag", "create", "after")
	}
	again := s.serve()
	if got := flags(admin, "-a", again.web); got != "after\nbefore\n" {
		t.Errorf("the server has %q", got)
	}
}

// TestRestoreBackup: what is no complete backup replaces nothing, and what is replaced is kept.
func TestRestoreBackup(t *testing.T) {
	s := newShell(t)
	database := filepath.Join(s.home(), "guidon.db")
	s.ok("migrate", "up")
	s.ok("flag", "create", "kept")
	backup := filepath.Join(t.TempDir(), "backup.db")
	s.ok("backup", backup)
	content, err := os.ReadFile(backup)
	if err != nil {
		t.Fatal(err)
	}
	damaged := []byte(string(content))
	for i := len(damaged) / 2; i < len(damaged)/2+8192; i++ {
		damaged[i] ^= 0x5a
	}
	beside := s.file("beside.db", string(content))
	if err := os.WriteFile(beside+"-wal", []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	newer := filepath.Join(t.TempDir(), "newer.db")
	s.ok("backup", newer)
	other, err := sql.Open("sqlite", "file:"+newer)
	if err != nil {
		t.Fatal(err)
	}
	_, inserting := other.ExecContext(t.Context(), "INSERT INTO schema_steps (version_id, is_applied) VALUES (99, 1)")
	if err := errors.Join(inserting, other.Close()); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ file, want string }{
		"no file":         {filepath.Join(t.TempDir(), "none"), "no such file"},
		"no database":     {s.file("text.db", "flags"), "is not a usable backup"},
		"empty":           {s.file("empty.db", ""), "not a database of Guidon"},
		"cut off":         {s.file("short.db", string(content[:len(content)/2])), "is not a usable backup"},
		"damaged":         {s.file("damaged.db", string(damaged)), "is not a usable backup"},
		"with a log":      {beside, "a part of it is in"},
		"a newer release": {newer, "this release only supports step"},
	} {
		r := s.fails(cli.ExitFailure, []string{"restore-backup", test.file, "--yes"}, test.want)
		if got := s.ok("flag", "list", "-o", "name"); got != "kept\n" {
			t.Errorf("%s: the database has %q after %s", name, got, r.err)
		}
	}
	s.fails(cli.ExitFailure, []string{"restore-backup", backup}, "will be replaced by the backup", "without a terminal")
	s.typing("no\n").fails(cli.ExitFailure, []string{"restore-backup", backup}, "not confirmed")
	s.with("GUIDON_DB_URL=postgres://u@db.invalid/g").fails(cli.ExitUsage, []string{"restore-backup", backup}, "on a server")

	// The log of a server that was killed goes with the database that it belongs to.
	s.ok("flag", "create", "later")
	if err := os.WriteFile(database+"-wal", []byte("log of a killed server"), 0o600); err != nil {
		t.Fatal(err)
	}
	out := s.typing("yes\n").ok("restore-backup", backup)
	if got := s.ok("flag", "list", "-o", "name"); got != "kept\n" {
		t.Errorf("restored: got %q", got)
	}
	_, rest, _ := strings.Cut(out, "the replaced database is ")
	kept, _, _ := strings.Cut(rest, "\n")
	if log, err := os.ReadFile(kept + "-wal"); string(log) != "log of a killed server" {
		t.Errorf("%s: log %q, %v", out, log, err)
	}
	if err := os.Remove(kept + "-wal"); err != nil {
		t.Fatal(err)
	}
	if got := s.ok("flag", "list", "-o", "name", "--db", kept); got != "kept\nlater\n" {
		t.Errorf("the replaced database has %q", got)
	}
	empty := s.with("GUIDON_DB_URL=file:" + filepath.Join(t.TempDir(), "new.db"))
	empty.ok("restore-backup", backup)
	if got := empty.ok("flag", "list", "-o", "name"); got != "kept\n" {
		t.Errorf("a new database has %q", got)
	}
}

// private checks that only the owner can read the file.
func private(t *testing.T, path string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%s: got %v, %v, want mode 0600", path, info, err)
	}
}

// names returns the names of the files in the folder.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

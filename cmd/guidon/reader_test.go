package main

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
)

// withStore calls fn with the database of the shell.
func (s *shell) withStore(fn func(db *store.DB) error) {
	s.t.Helper()
	c, err := config.Load(s.t.Context(), "", s.environ, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	db, err := store.Open(s.t.Context(), c.DB.URL, store.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	if err := errors.Join(fn(db), db.Close()); err != nil {
		s.t.Fatal(err)
	}
}

// TestReaders: readers of the change log are listed with their lag, named by the cleanup if
// they keep old records, and deleted.
func TestReaders(t *testing.T) {
	s := newEmptyShell(t, "GUIDON_CHANGES_RETENTION=24h")
	s.fails(cli.ExitFailure, []string{"reader", "list"}, "does not exist")
	s.ok("migrate", "up")
	if got := s.ok("reader", "list", "--output=json"); got != "[]\n" {
		t.Errorf("without readers: got %q", got)
	}
	s.withStore(func(db *store.DB) error {
		_, err := db.Update(t.Context(), "default", service.Write{}, func(ctx context.Context, tx service.Tx) error {
			n, err := tx.Namespace(ctx)
			if err != nil {
				return err
			}
			n.Description = "changed"
			return tx.PutNamespace(ctx, n)
		})
		_, sqlErr := db.SQL().ExecContext(t.Context(), "UPDATE changes SET happened_at = 1767225600000000") // 2026-01-01
		return errors.Join(err, sqlErr,
			db.RegisterReader(t.Context(), "webhook:1"),
			db.RegisterReader(t.Context(), "idle"), db.RewindReader(t.Context(), "idle", "default", 1))
	})

	const at = `20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ`
	want := regexp.MustCompile(`^NAME +REGISTERED +ADVANCED +NAMESPACES +REVISIONS +BEHIND SINCE
idle +` + at + ` +` + at + ` +1 +2 +2026-01-01T00:00:00Z
webhook:1 +` + at + ` +` + at + ` +0 +0 +-
$`)
	if got := s.ok("reader", "list"); !want.MatchString(got) {
		t.Errorf("got list\n%s, want it to match\n%s", got, want)
	}
	var list []map[string]any
	if err := json.Unmarshal([]byte(s.ok("reader", "list", "--output=json")), &list); err != nil || len(list) != 2 {
		t.Fatalf("got %v, %v", list, err)
	}
	for _, member := range []string{"name", "registeredAt", "advancedAt", "namespaces", "revisions", "behindSince"} {
		if list[0][member] == nil {
			t.Errorf("%v lacks %q", list[0], member)
		}
	}
	if since, found := list[1]["behindSince"]; found {
		t.Errorf("a reader that is not behind has %q since %v", "behindSince", since)
	}

	const deleted = "expired tokens deleted: 0\nold change records deleted: "
	if got, want := s.ok("cleanup"), deleted+"0\n"; got != want {
		t.Errorf("cleanup: got %q, want %q", got, want)
	}
	if got, want := s.ok("reader", "delete", "idle"), "deleted reader idle\n"; got != want {
		t.Errorf("delete: got %q, want %q", got, want)
	}
	s.fails(cli.ExitFailure, []string{"reader", "delete", "idle"}, `reader "idle" not found`, "guidon reader list")
	if got := s.ok("reader", "list"); strings.Contains(got, "idle") || !strings.Contains(got, "webhook:1") {
		t.Errorf("after the deletion: got list\n%s", got)
	}
	if got, want := s.ok("cleanup"), deleted+"1\n"; got != want {
		t.Errorf("cleanup after the deletion: got %q, want %q", got, want)
	}
}

package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/service/count"
	"github.com/guidonhq/guidon/store"
)

// TestStale: verdicts of flags, the exit code, and the period.
func TestStale(t *testing.T) {
	s := newShell(t)
	for _, key := range []string{"same", "never"} {
		s.ok("flag", "create", key)
	}
	s.ok("flag", "rollout", "never", "50%")
	if got := s.ok("stale"); strings.Contains(got, "never") || strings.Contains(got, "same") {
		t.Errorf("new flags: got\n%s", got)
	}
	now := time.Now().UTC().Truncate(time.Minute)
	row := count.Minute{Namespace: "default", At: now.Add(-time.Hour), Reporter: "r", Counts: count.Counts{"same": {"true default": 7}}}
	s.withStore(func(db *store.DB) (err error) {
		for _, table := range []string{"flags", "namespaces"} { // as if they were created a century ago
			for _, member := range []string{"createdAt", "updatedAt"} {
				statement := `UPDATE ` + table + ` SET body = REPLACE(body, '"` + member + `":"20', '"` + member + `":"19')`
				_, sqlErr := db.SQL().ExecContext(t.Context(), statement)
				err = errors.Join(err, sqlErr)
			}
		}
		return errors.Join(err, db.SetMark(t.Context(), "since", now.Add(-90*24*time.Hour)), db.SetMark(t.Context(), "alive", now),
			db.AddMinutes(t.Context(), []count.Minute{row}, "r", ""))
	})
	got := s.ok("stale")
	for _, want := range []string{"same   steady ", " 7 ", "never  never-used "} {
		if !strings.Contains(got, want) {
			t.Errorf("got\n%s, want %q", got, want)
		}
	}
	if got, want := s.ok("stale", "-o", "name"), "same\nnever\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	s.fails(cli.ExitFindings, []string{"stale", "--exit-code"})
	s.fails(cli.ExitFailure, []string{"stale", "--exit-code", "-n", "none"}, `namespace "none" not found`)
	s.fails(cli.ExitUsage, []string{"stale", "--after", "36h"}, "--after must be from 1d to 366d, in whole days")
}

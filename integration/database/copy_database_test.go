package database

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/integration/harness"
	"github.com/guidonhq/guidon/integration/harness/dbtest"
	"github.com/guidonhq/guidon/migrate"
	"github.com/guidonhq/guidon/migrate/copydb"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
)

// TestCopyDatabase copies an SQLite file to a database server, and back.
func TestCopyDatabase(t *testing.T) {
	harness.EachDatabase(t, func(t *testing.T, s *harness.DatabaseServer) {
		source := harness.OpenStore(t, harness.SQLiteURL(t))
		fillForCopy(t, source)
		server := harness.OpenStore(t, s.Empty(t))
		there := copyAll(t, source, server)

		// The copy can be written to.
		if _, err := server.Update(t.Context(), "shop", service.Write{}, func(ctx context.Context, tx service.Tx) error {
			return tx.DeleteFlag(ctx, "flag-1")
		}); err != nil {
			t.Fatal(err)
		}
		refused := harness.OpenStore(t, harness.SQLiteURL(t))
		fillForCopy(t, refused)
		if _, err := copydb.Copy(t.Context(), refused, server, func(int) {}); !errors.Is(err, guidon.FailedPrecondition) {
			t.Errorf("a second copy: got %v, want FailedPrecondition", err)
		}

		again := harness.OpenStore(t, s.Empty(t))
		copyInterrupted(t, source, again)
		if diff := cmp.Diff(there, copyAll(t, source, again)); diff != "" {
			t.Errorf("two copies of the same source differ:\n%s", diff)
		}
		back := harness.OpenStore(t, harness.SQLiteURL(t))
		if diff := cmp.Diff(there, copyAll(t, again, back)); diff != "" {
			t.Errorf("the copy back differs from the source:\n%s", diff)
		}
	})
}

// revisionsOf returns the revision of every namespace.
func revisionsOf(t *testing.T, db *store.DB) map[string]guidon.Revision {
	t.Helper()
	namespaces, err := db.Namespaces(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, n := range namespaces {
		keys = append(keys, n.Key)
	}
	revisions, err := db.Heads(t.Context(), keys)
	if err != nil {
		t.Fatal(err)
	}
	return revisions
}

// copyAll copies the database, and compares every namespace as a server would read it.
func copyAll(t *testing.T, from, to *store.DB) []copydb.Table {
	t.Helper()
	tables, err := copydb.Copy(t.Context(), from, to, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	want, got := revisionsOf(t, from), revisionsOf(t, to)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("revisions (-source +target):\n%s", diff)
	}
	for key := range want {
		if diff := cmp.Diff(stateOf(t, from, key), stateOf(t, to, key)); diff != "" {
			t.Errorf("namespace %s (-source +target):\n%.2000s", key, diff)
		}
	}
	return tables
}

// stateOf returns one line for each object, change record and token of a namespace.
func stateOf(t *testing.T, db *store.DB, key string) []string {
	t.Helper()
	snapshot, _, err := db.Snapshot(t.Context(), key, service.Demand{})
	if err != nil {
		t.Fatal(err)
	}
	changes, err := db.Changes(t.Context(), change.Query{Namespace: key, Limit: 5000})
	if err != nil {
		t.Fatal(err)
	}
	set, _, err := db.Authentications(t.Context(), service.Demand{}, "")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	add := func(name string, object any, more ...any) {
		text, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, fmt.Sprintf("%s %x %v", name, sha256.Sum256(text), more))
	}
	for _, f := range snapshot.Flags() {
		add("flag "+f.Key, f, f.Created)
	}
	for _, g := range snapshot.Segments() {
		add("segment "+g.Key, g, g.Created)
	}
	for _, c := range changes {
		add("change of "+c.Key, c)
	}
	for _, a := range set.All() {
		add("token "+a.ID, a, a.TokenHash)
	}
	return lines
}

// copyInterrupted cancels a copy in the middle, and checks that the target is unchanged.
func copyInterrupted(t *testing.T, from, to *store.DB) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	rows := 0
	_, err := copydb.Copy(ctx, from, to, func(n int) {
		if rows += n; rows > 700 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	all, err := to.Namespaces(t.Context())
	if err != nil || len(all) != 1 || all[0].Key != guidon.DefaultNamespace {
		t.Errorf("after an interruption: got namespaces %v, %v, want only the seed", all, err)
	}
}

// TestCopyDatabaseCommitLost: if the connection is lost during the COMMIT, the target is
// queried for its outcome. If that fails, the error says so.
func TestCopyDatabaseCommitLost(t *testing.T) {
	harness.Postgres.Need(t)
	source := harness.OpenStore(t, harness.SQLiteURL(t))
	fillForCopy(t, source)
	tests := []struct {
		name   string
		fault  dbtest.Fault
		want   guidon.Code // 0: success
		copied bool
	}{
		{"before the server received it", dbtest.CutBefore, 0, false},
		{"before the response", dbtest.CutAfter, 0, true},
		{"and the server is unreachable", dbtest.Unreachable, guidon.Unavailable, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			direct := harness.Postgres.Migrated(t)
			proxy, url := dbtest.NewProxy(t, direct)
			target := harness.OpenStore(t, url)
			// Only the copy has more than 20 requests in a transaction.
			decide, inflicted := dbtest.Once(tt.fault, func(r dbtest.Request) bool { return r.IsCommit() && r.Stage > 20 })
			proxy.Inflict(decide)
			_, err := copydb.Copy(t.Context(), source, target, func(int) {})
			select {
			case <-inflicted:
			default:
				t.Fatal("the copy ended without a COMMIT")
			}
			if (err == nil) != (tt.copied && tt.want == 0) || tt.want != 0 && !errors.Is(err, tt.want) {
				t.Errorf("got %v", err)
			}
			proxy.Inflict(nil)
			straight := harness.OpenStore(t, direct)
			all, err := straight.Namespaces(t.Context())
			if err != nil || (len(all) > 1) != tt.copied {
				t.Errorf("got %d namespaces, %v, want a copy: %t", len(all), err, tt.copied)
			}
			_, err = copydb.Copy(t.Context(), source, straight, func(int) {})
			if errors.Is(err, guidon.FailedPrecondition) != tt.copied {
				t.Errorf("a second copy: got %v, want FailedPrecondition: %t", err, tt.copied)
			}
		})
	}
}

// fillForCopy stores more than one page of rows, strings that databases tend to change,
// rows larger than a packet, empty optional fields, and a deleted namespace.
func fillForCopy(t *testing.T, db *store.DB) {
	t.Helper()
	if _, err := migrate.Up(t.Context(), db.SQL(), db.Dialect()); err != nil {
		t.Fatal(err)
	}
	update := func(namespace string, fn func(ctx context.Context, tx service.Tx) error) {
		if _, err := db.Update(t.Context(), namespace, service.Write{}, fn); err != nil {
			t.Fatal(err)
		}
	}
	texts := []string{"日本語 🎈", "trailing ", "Case", "case", "quote ' \" \\ ? $1 %s", "\x00 zero", "é", "e\u0301"}
	for _, key := range []string{"shop", "Shop", "gone"} {
		update(key, func(ctx context.Context, tx service.Tx) error {
			return tx.PutNamespace(ctx, &guidon.Namespace{Key: key, Name: key, CreatedAt: tx.Now()})
		})
	}
	update("gone", func(ctx context.Context, tx service.Tx) error { return tx.DeleteNamespace(ctx) })
	update("shop", func(ctx context.Context, tx service.Tx) error {
		for i := range 1201 {
			f := &guidon.Flag{Key: fmt.Sprintf("flag-%d", i), Name: texts[i%len(texts)]}
			if err := tx.PutFlag(ctx, f); err != nil {
				return err
			}
		}
		for _, key := range []string{"Case", "case", "case_", "zebra", "Zebra", "-", ","} {
			if err := tx.PutFlag(ctx, &guidon.Flag{Key: key}); err != nil {
				return err
			}
		}
		return tx.PutFlag(ctx, &guidon.Flag{Key: "large", Description: strings.Repeat("large ", 1<<20)})
	})
	update("shop", func(ctx context.Context, tx service.Tx) error {
		return errors.Join(tx.DeleteFlag(ctx, "flag-3"), tx.PutSegment(ctx, &guidon.Segment{Key: "s", Name: "S"}))
	})
	err := db.UpdateAuthentications(t.Context(), service.Write{}, func(ctx context.Context, tx service.AuthenticationTx) error {
		for i, expires := range slices.Repeat([]time.Time{{}, tx.Now().Add(time.Hour)}, 40) {
			a := &service.Authentication{ID: fmt.Sprintf("id-%d", i), Method: service.MethodToken, TokenHash: fmt.Sprintf("hash-%d", i), ExpiresAt: expires}
			if err := tx.PutAuthentication(ctx, a); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

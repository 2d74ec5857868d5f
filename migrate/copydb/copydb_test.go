package copydb_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/internal/flagtest"
	"github.com/guidonhq/guidon/migrate"
	"github.com/guidonhq/guidon/migrate/copydb"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/service/count"
	"github.com/guidonhq/guidon/store"
	"github.com/guidonhq/guidon/store/storetest"
)

func open(t *testing.T) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "guidon.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func migrated(t *testing.T) *store.DB {
	t.Helper()
	return storetest.NewSQLite(t)
}

func update(t *testing.T, db *store.DB, namespace string, fn func(context.Context, service.Tx) error) {
	t.Helper()
	if _, err := db.Update(t.Context(), namespace, service.Write{}, fn); err != nil {
		t.Fatal(err)
	}
}

// subject is whose the session in the filled database is.
const subject = "oidc:google:sub:ada"

// filled returns a database with values in every table and every column, and with more
// rows than fit into one page or one INSERT.
func filled(t *testing.T) *store.DB {
	t.Helper()
	db := migrated(t)
	put := func(n int) func(context.Context, service.Tx) error {
		return func(ctx context.Context, tx service.Tx) error {
			namespace := flagtest.FilledNamespace("shop")
			namespace.Name = "Läden"
			if err := tx.PutNamespace(ctx, namespace); err != nil {
				return err
			}
			for i := range n {
				f := &guidon.Flag{Key: fmt.Sprintf("flag-%d", i), Name: "Ünïcode ' \" \\ \x00 日本語 🎈", Description: strings.Repeat("x", i%50*10)}
				if err := tx.PutFlag(ctx, f); err != nil {
					return err
				}
			}
			for _, f := range flagtest.FilledFlags() {
				if err := tx.PutFlag(ctx, f); err != nil {
					return err
				}
			}
			return tx.PutSegment(ctx, flagtest.FilledSegment("all"))
		}
	}
	update(t, db, "shop", put(1203))
	update(t, db, "shop", func(ctx context.Context, tx service.Tx) error {
		return errors.Join(tx.DeleteFlag(ctx, "flag-7"), tx.PutFlag(ctx, &guidon.Flag{Key: "big", Description: strings.Repeat("y", 3<<20)}))
	})
	update(t, db, "gone", func(ctx context.Context, tx service.Tx) error {
		return tx.PutNamespace(ctx, &guidon.Namespace{Key: "gone", Name: "Gone"})
	})
	update(t, db, "gone", func(ctx context.Context, tx service.Tx) error { return tx.DeleteNamespace(ctx) })
	by := service.Caller{Actor: change.Actor{ID: "token:1", Name: "somebody", Method: "METHOD_TOKEN"}, RequestID: "r", Address: "192.0.2.1"}
	w := service.Write{By: by, Message: "Grüße 🎈", Reason: change.PromotionReason("staging", 412)}
	err := db.UpdateAuthentications(t.Context(), w, func(ctx context.Context, tx service.AuthenticationTx) error {
		return errors.Join(
			tx.PutAuthentication(ctx, &service.Authentication{ID: "a", Method: service.MethodToken, TokenHash: "h1", ExpiresAt: tx.Now().Add(time.Hour)}),
			tx.PutAuthentication(ctx, &service.Authentication{ID: "b", Method: service.MethodToken, TokenHash: "h2"}),
			tx.PutAuthentication(ctx, &service.Authentication{ID: "c", Method: service.MethodOIDC, TokenHash: "h3", Subject: subject, Client: service.ClientBrowser}),
			tx.PutBinding(ctx, &service.Binding{ID: "b", Role: service.RoleEditor, Subject: subject, Namespaces: []string{"shop"}, Source: service.SourceDatabase, CreatedAt: tx.Now()}),
			tx.Spend(ctx, "digest", tx.Now().Add(time.Hour)))
	})
	added, secretErr := db.AddSecret(t.Context(), service.Secret{Number: 1, CreatedAt: time.Now()})
	if !added || secretErr != nil {
		t.Fatal(added, secretErr)
	}
	if err := errors.Join(err, db.RegisterReader(t.Context(), "late"), db.RegisterReader(t.Context(), "early")); err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		"DELETE FROM change_cursors WHERE reader_name = 'early'",
		"INSERT INTO webhooks (id, created_rev, created_seq, body, private) VALUES ('w', 1, 0, '{}', '{}')",
		"INSERT INTO webhook_states (webhook_id, namespace_key, part, attempts, next_at, failing_since) VALUES ('w', 'shop', 0, 1, 2, 3)",
		"INSERT INTO webhook_deliveries (webhook_id, delivery_seq, namespace_key, revision, part, attempt, at, millis, status, error, answer) VALUES ('w', 1, 'shop', 2, 0, 3, 4, 5, 500, 'x', 'y')",
		"INSERT INTO favorites (account_hash, namespace_key, flag_key, added_at) VALUES ('h', 'shop', 'a', 1), ('h', 'shop', 'b', 2)",
		"INSERT INTO evaluation_minutes (namespace_key, minute, part, reporter, body) VALUES ('shop', 60, 0, 'r', '{}'), ('shop', 60, 1, 'r', '{}')",
		"INSERT INTO evaluation_series (namespace_key, flag_key, unit, start_at, body) VALUES ('shop', 'a', 'h', 0, '{}'), ('shop', 'a', 'd', 0, '{}')",
		"INSERT INTO evaluation_flags (namespace_key, flag_key, first_at, last_at) VALUES ('shop', 'a', 60, 120)",
		"INSERT INTO evaluation_marks (mark_name, at) VALUES ('since shop', 60)",
	} {
		if _, err := db.SQL().ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

// dump returns all rows of the tables that are copied, as strings.
func dump(t *testing.T, db *store.DB) map[string][]string {
	t.Helper()
	all := make(map[string][]string)
	for _, table := range []string{"namespaces", "flags", "segments", "changes", "authentications", "authentication_subjects", "bindings", "change_notes", "change_addresses", "change_deletions", "change_horizons", "change_readers", "change_cursors", "webhooks", "webhook_states", "webhook_deliveries", "evaluation_minutes", "evaluation_series", "evaluation_flags", "evaluation_marks", "favorites"} {
		all[table] = []string{}
		eachRow(t, db.SQL(), "SELECT * FROM "+table, func(values []any) {
			all[table] = append(all[table], fmt.Sprint(values...))
		})
		slices.Sort(all[table])
	}
	return all
}

func eachRow(t *testing.T, db *sql.DB, query string, fn func(values []any)) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		values, into := make([]any, len(names)), make([]any, len(names))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		fn(values)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

func nothing(int) {}

// Revisions, stamps, positions in lists, tokens and the history are copied unchanged, also
// those of a deleted namespace. Writes to the copy continue from the revisions of the
// source.
func TestCopy(t *testing.T) {
	from, to := filled(t), open(t)
	rows := 0
	result, err := copydb.Copy(t.Context(), from, to, func(n int) { rows += n })
	if err != nil {
		t.Fatal(err)
	}
	want := dump(t, from)
	if diff := cmp.Diff(want, dump(t, to)); diff != "" {
		t.Errorf("the target differs (-source +target):\n%.2000s", diff)
	}
	total := 0
	for _, table := range result {
		if int(table.Rows) != len(want[table.Name]) || len(table.Checksum) != 64 {
			t.Errorf("got %+v, want %d rows", table, len(want[table.Name]))
		}
		total += int(table.Rows)
	}
	if len(result) != len(want) || rows != total {
		t.Errorf("got %d tables and %d of %d rows reported, want %d tables", len(result), rows, total, len(want))
	}

	wantSignIn(t, to)

	// Readers continue where they were.
	for reader, want := range map[string]int{"late": 0, "early": 4} {
		changed, err := to.ChangedNamespaces(t.Context(), reader, "", 10)
		if err != nil || len(changed) != want {
			t.Errorf("%s has records to read in %+v, %v, want %d namespaces", reader, changed, err, want)
		}
	}

	before, _, err := from.Snapshot(t.Context(), "shop", service.Demand{})
	if err != nil {
		t.Fatal(err)
	}
	update(t, to, "shop", func(ctx context.Context, tx service.Tx) error { return tx.DeleteFlag(ctx, "big") })
	after, err := to.Load(t.Context(), "shop", before)
	if err != nil || after.Revision().Number != before.Revision().Number+1 || len(after.Flags()) != len(before.Flags())-1 {
		t.Errorf("the copy does not continue from the source: got %v, %v", after.Revision(), err)
	}
	update(t, to, "gone", func(ctx context.Context, tx service.Tx) error {
		return tx.PutNamespace(ctx, &guidon.Namespace{Key: "gone", Name: "Back"})
	})
	if back, _, err := to.Snapshot(t.Context(), "gone", service.Demand{}); err != nil || back.Revision().Number != 3 {
		t.Errorf("the revision of a deleted namespace restarted: got %v, %v, want revision 3", back.Revision(), err)
	}
}

// wantSignIn checks that sessions and bindings work in the copy, and that the keys of
// attempts to sign in, and those that were used, stay where they belong.
func wantSignIn(t *testing.T, to *store.DB) {
	t.Helper()
	err := to.UpdateAuthentications(t.Context(), service.Write{}, func(ctx context.Context, tx service.AuthenticationTx) error {
		sessions, err := tx.OfOwner(ctx, subject)
		bindings, bindingErr := tx.Bindings(ctx)
		if len(sessions) != 1 || sessions[0].ID != "c" || len(bindings.All()) != 1 || bindings.All()[0].Subject != subject {
			t.Errorf("got %d sessions and bindings %+v", len(sessions), bindings.All())
		}
		return errors.Join(err, bindingErr)
	})
	if err != nil {
		t.Error(err)
	}
	secrets, err := to.Secrets(t.Context())
	if len(secrets) > 0 || err != nil {
		t.Errorf("%d secrets were copied, %v", len(secrets), err)
	}
	if spent, err := to.Spent(t.Context(), "digest"); spent || err != nil {
		t.Errorf("what was used was copied: %t, %v", spent, err)
	}
}

// A target that has a copy already, or has been used in any other way, is rejected.
func TestTargetInUse(t *testing.T) {
	from := filled(t)
	uses := []struct {
		name string
		use  func(t *testing.T, db *store.DB)
	}{
		{"a copy", func(t *testing.T, db *store.DB) {
			if _, err := copydb.Copy(t.Context(), from, db, nothing); err != nil {
				t.Fatal(err)
			}
		}},
		{"a flag", func(t *testing.T, db *store.DB) {
			update(t, db, "default", func(ctx context.Context, tx service.Tx) error { return tx.PutFlag(ctx, &guidon.Flag{Key: "f"}) })
		}},
		{"a namespace that was deleted again", func(t *testing.T, db *store.DB) {
			update(t, db, "n", func(ctx context.Context, tx service.Tx) error {
				return tx.PutNamespace(ctx, &guidon.Namespace{Key: "n"})
			})
			update(t, db, "n", func(ctx context.Context, tx service.Tx) error { return tx.DeleteNamespace(ctx) })
		}},
		{"a token", func(t *testing.T, db *store.DB) {
			err := db.UpdateAuthentications(t.Context(), service.Write{}, func(ctx context.Context, tx service.AuthenticationTx) error {
				return tx.PutAuthentication(ctx, &service.Authentication{ID: "a", TokenHash: "h"})
			})
			if err != nil {
				t.Fatal(err)
			}
		}},
		{"a reader of the change log", func(t *testing.T, db *store.DB) {
			if err := db.RegisterReader(t.Context(), "r"); err != nil {
				t.Fatal(err)
			}
		}},
		{"evaluations", func(t *testing.T, db *store.DB) {
			counted := []count.Minute{{Namespace: "default", At: time.Unix(60, 0), Reporter: "r", Counts: count.Counts{"f": {"true": 1}}}}
			if err := db.AddMinutes(t.Context(), counted, "r", ""); err != nil {
				t.Fatal(err)
			}
		}},
		{"evaluations of which only hours are kept", func(t *testing.T, db *store.DB) {
			hour := count.Slot{Counts: count.Counts{"f": {"true": 1}}}
			if err := db.PutSlot(t.Context(), count.Hours, "default", time.Unix(3600, 0), hour); err != nil {
				t.Fatal(err)
			}
		}},
		{"a favorite", func(t *testing.T, db *store.DB) {
			if err := db.AddFavorite(t.Context(), "ada", service.Favorite{Namespace: "default", Key: "f"}); err != nil {
				t.Fatal(err)
			}
		}},
	}
	for _, tt := range uses {
		t.Run(tt.name, func(t *testing.T) {
			to := migrated(t)
			tt.use(t, to)
			want := dump(t, to)
			_, err := copydb.Copy(t.Context(), from, to, nothing)
			if !errors.Is(err, guidon.FailedPrecondition) || !strings.Contains(err.Error(), "not empty") {
				t.Errorf("got %v, want FailedPrecondition", err)
			}
			if diff := cmp.Diff(want, dump(t, to)); diff != "" {
				t.Errorf("the rejected copy changed the target:\n%.2000s", diff)
			}
		})
	}
}

// An interrupted copy leaves the target empty, and the next one succeeds.
func TestInterrupted(t *testing.T) {
	from, to := filled(t), migrated(t)
	want := dump(t, to)
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	_, err := copydb.Copy(ctx, from, to, func(int) {
		if calls++; calls == 20 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	if diff := cmp.Diff(want, dump(t, to)); diff != "" {
		t.Errorf("a partial copy is left:\n%.2000s", diff)
	}
	if _, err := copydb.Copy(t.Context(), from, to, nothing); err != nil {
		t.Error(err)
	}
}

// The copy is verified: if the target loses or alters a row, Copy fails and leaves the
// target empty.
func TestVerification(t *testing.T) {
	from := filled(t)
	for name, trigger := range map[string]string{
		"1204 rows found":                     "BEFORE INSERT ON flags WHEN NEW.flag_key = 'flag-8' BEGIN SELECT RAISE(IGNORE); END",
		"table changes failed: checksum":      "AFTER INSERT ON changes WHEN NEW.revision = 1 BEGIN UPDATE changes SET after_body = after_body || ' ' WHERE object_key = 'flag-9'; END",
		"table authentications failed: check": "AFTER INSERT ON authentications BEGIN UPDATE authentications SET expires_at = NULL WHERE id = 'a'; END",
	} {
		to := migrated(t)
		if _, err := to.SQL().ExecContext(t.Context(), "CREATE TRIGGER harm "+trigger); err != nil {
			t.Fatal(err)
		}
		want := dump(t, to)
		_, err := copydb.Copy(t.Context(), from, to, nothing)
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want %q", err, name)
		}
		if diff := cmp.Diff(want, dump(t, to)); diff != "" {
			t.Errorf("%s: the target is no longer empty:\n%.2000s", name, diff)
		}
	}
}

// A source or target with a schema of another release is rejected.
func TestSchemas(t *testing.T) {
	if _, err := copydb.Copy(t.Context(), open(t), open(t), nothing); !errors.Is(err, guidon.Unavailable) || !strings.HasPrefix(err.Error(), "source: ") {
		t.Errorf("source without a schema: got %v", err)
	}
	old := migrated(t)
	if _, err := old.SQL().ExecContext(t.Context(), "DELETE FROM schema_steps WHERE version_id > 1"); err != nil {
		t.Fatal(err)
	}
	_, err := copydb.Copy(t.Context(), migrated(t), old, nothing)
	if !errors.Is(err, guidon.FailedPrecondition) || !strings.Contains(err.Error(), "older release") {
		t.Errorf("target of an older release: got %v", err)
	}
}

// A target that does not permit additions gets none from a source that may have some.
func TestAdditions(t *testing.T) {
	for _, tt := range []struct {
		name     string
		from, to bool // whether they permit additions
		want     error
	}{
		{"both", true, true, nil},
		{"only the source", true, false, service.ErrAdditions},
		{"only the target", false, true, nil},
		{"neither", false, false, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			from, to := migrated(t), migrated(t)
			for db, permits := range map[*store.DB]bool{from: tt.from, to: tt.to} {
				if !permits {
					withdrawAdditions(t, db)
				}
			}
			empty := dump(t, to)
			_, err := copydb.Copy(t.Context(), from, to, nothing)
			if !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			if tt.want != nil && cmp.Diff(empty, dump(t, to)) != "" {
				t.Error("the refused copy changed the target")
			}
			applied, err := migrate.Additions(t.Context(), to.SQL(), to.Dialect())
			if err != nil || (len(applied) == 0) != tt.to {
				t.Errorf("the copy changed the steps of the target: %+v were applied afterwards, %v", applied, err)
			}
		})
	}
}

// withdrawAdditions makes the database one that was created before the step additions.
func withdrawAdditions(t *testing.T, db *store.DB) {
	t.Helper()
	if _, err := db.SQL().ExecContext(t.Context(), "DELETE FROM schema_steps WHERE version_id = 9"); err != nil {
		t.Fatal(err)
	}
}

package storetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
)

func loadAuthentications(t testing.TB, s *store.DB, held *service.AuthenticationSet) *service.AuthenticationSet {
	t.Helper()
	set, err := s.LoadAuthentications(t.Context(), held)
	if err != nil {
		t.Fatalf("LoadAuthentications: %v", err)
	}
	return set
}

// wantFull checks that a load from the held set returns what a full load returns.
func wantFull(t testing.TB, what string, s *store.DB, held *service.AuthenticationSet) *service.AuthenticationSet {
	t.Helper()
	full, got := loadAuthentications(t, s, nil), loadAuthentications(t, s, held)
	wantSet(t, what, full, got)
	for _, a := range held.All() {
		want := full.ByTokenHash(a.TokenHash)
		wantEqual(t, fmt.Sprintf("%s: by the token of %q", what, a.ID), want, got.ByTokenHash(a.TokenHash), cmpopts.IgnoreUnexported(*a), cmpopts.EquateEmpty())
	}
	return got
}

// rotated returns the authentication with another token.
func rotated(id, hash string) *service.Authentication {
	a := newAuthentication(id)
	a.TokenHash = hash
	return a
}

// testLoadEveryChange loads from every earlier set after every kind of change, also if
// the change log was cleaned up in between.
func testLoadEveryChange(t *testing.T, s *store.DB) {
	expired := newAuthentication("a")
	expired.ExpiresAt = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	held := []*service.AuthenticationSet{loadAuthentications(t, s, nil)}
	for round := range 2 {
		for _, step := range []struct {
			name string
			fn   tokenChange
		}{
			{"create", putTokens(newAuthentication("c"), newAuthentication("a"), newAuthentication("b"))},
			{"expire", putTokens(expired)},
			{"rotate", putTokens(rotated("b", "another hash"))},
			{"nothing", putTokens(rotated("b", "another hash"))},
			{"delete", deleteTokens("a")},
			{"create again", putTokens(newAuthentication("a"))},
			{"delete and create again", inOneUpdate(deleteTokens("c"), putTokens(rotated("c", "third hash")))},
			{"create and delete", inOneUpdate(putTokens(newAuthentication("d")), deleteTokens("d"), putTokens(newAuthentication("e")))},
			{"pass a token on", inOneUpdate(putTokens(rotated("b", "fourth hash")), putTokens(rotated("c", "another hash")))},
			{"bind", putBindings(newBinding("z", service.RoleViewer), newBinding("a", service.RoleEditor))},
			{"bind with another role", putBindings(newBinding("z", service.RoleAdmin))},
			{"bind and rotate", inOneUpdate(putBindings(newBinding("m", service.RoleAdmin)), putTokens(rotated("b", "fifth hash")))},
			{"unbind and bind again", inOneUpdate(deleteBinding("z"), putBindings(newBinding("z", service.RoleAdmin)))},
			{"unbind", inOneUpdate(deleteBinding("z"), deleteBinding("a"))},
			{"unbind the last", deleteBinding("m")},
			{"delete all", deleteTokens("a", "b", "c", "e")},
		} {
			updateAuthentications(t, s, step.fn)
			for _, from := range held {
				wantFull(t, fmt.Sprintf("round %d, %s, from revision %d", round, step.name, from.Revision().Number), s, from)
			}
			held = append(held, loadAuthentications(t, s, nil))
		}
		if _, err := s.DeleteChanges(t.Context(), time.Now().Add(time.Hour), 1000); err != nil {
			t.Fatal(err)
		}
	}
}

// createMany creates count authentications in one update.
func createMany(t testing.TB, s service.Store, count int) {
	t.Helper()
	all := make([]*service.Authentication, count)
	for i := range all {
		all[i] = newAuthentication(fmt.Sprint("many-", i))
	}
	putAuthentication(t, s, all...)
}

// readAgain returns how many authentications of the set are not those of the held one.
func readAgain(held, set *service.AuthenticationSet) (n int) {
	for _, a := range set.All() {
		if held.ByID(a.ID) != a {
			n++
		}
	}
	return n
}

// testLoadOneOfMany checks that one change reads one row, however many there are.
func testLoadOneOfMany(t *testing.T, s *store.DB) {
	createMany(t, s, 600)
	for _, step := range []struct {
		name string
		fn   tokenChange
		want int
	}{
		{"create", putTokens(newAuthentication("new")), 1},
		{"change", putTokens(rotated("many-300", "new hash")), 1},
		{"delete", deleteTokens("many-301"), 0},
		{"bind", putBindings(newBinding("a", service.RoleViewer)), 0},
		{"bind and create", inOneUpdate(deleteBinding("a"), putBindings(newBinding("b", service.RoleViewer)),
			putTokens(newAuthentication("newer"))), 1},
	} {
		held := loadAuthentications(t, s, nil)
		updateAuthentications(t, s, step.fn)
		wantEqual(t, step.name+": authentications that were read", step.want, readAgain(held, wantFull(t, step.name, s, held)))
	}
}

// testLoadManyChanges makes more changes than are read by id: of many authentications,
// and several of each.
func testLoadManyChanges(t *testing.T, s *store.DB) {
	createMany(t, s, 600)
	updateAuthentications(t, s, putBindings(newBinding("kept", service.RoleViewer)))
	for _, step := range []struct {
		name  string
		count int
		again bool
	}{{"replaced", 300, true}, {"deleted", 550, false}} {
		held := loadAuthentications(t, s, nil)
		updateAuthentications(t, s, func(ctx context.Context, tx service.AuthenticationTx) error {
			for i := range step.count {
				id := fmt.Sprint("many-", i)
				if err := tx.DeleteAuthentication(ctx, id); err != nil {
					return err
				}
				if !step.again {
					continue
				}
				if err := tx.PutAuthentication(ctx, rotated(id, "new hash of "+id)); err != nil {
					return err
				}
			}
			return nil
		})
		wantFull(t, step.name, s, held)
	}
}

// testLoadConcurrentWriters checks that a load sees every write that was acknowledged
// before it, while others write.
func testLoadConcurrentWriters(t *testing.T, s *store.DB) {
	const writers, rounds = 4, 10
	start := loadAuthentications(t, s, nil)
	last := make([]*service.AuthenticationSet, writers)
	var writing sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			id, held := fmt.Sprint("writer-", w), start
			for range rounds {
				for _, want := range []bool{true, false} {
					err := s.UpdateAuthentications(t.Context(), service.Write{}, func(ctx context.Context, tx service.AuthenticationTx) error {
						if want {
							return tx.PutAuthentication(ctx, newAuthentication(id))
						}
						return tx.DeleteAuthentication(ctx, id)
					})
					if err != nil {
						t.Error(err)
						return
					}
					next, err := s.LoadAuthentications(t.Context(), held)
					if err != nil {
						t.Error(err)
						return
					}
					if got := next.ByTokenHash("hash of "+id) != nil; got != want {
						t.Errorf("%s after a write at revision %d: found is %t, want %t", id, next.Revision().Number, got, want)
					}
					held = next
				}
			}
			last[w] = held
		})
	}
	writing.Wait()
	for w, held := range last {
		if held != nil {
			wantFull(t, fmt.Sprint("writer ", w), s, held)
		}
	}
}

// testLoadRestoredBackup checks that a set is not used if it does not belong to the
// history of the database, whatever its revision number.
func testLoadRestoredBackup(t *testing.T, s *store.DB) {
	tables := []string{"namespaces", "changes", "authentications", "bindings"}
	execute := func(format string) {
		t.Helper()
		for _, table := range tables {
			execute(t, s.SQL(), fmt.Sprintf(format, table))
		}
	}
	putAuthentication(t, s, newAuthentication("deleted later"), newAuthentication("kept"))
	updateAuthentications(t, s, putBindings(newBinding("of the backup", service.RoleViewer)))
	execute("CREATE TABLE backup_of_%[1]s AS SELECT * FROM %[1]s")
	shared := loadAuthentications(t, s, nil)
	updateAuthentications(t, s, deleteTokens("deleted later"))
	putAuthentication(t, s, newAuthentication("lost"))
	updateAuthentications(t, s, inOneUpdate(putBindings(newBinding("lost", service.RoleAdmin)), deleteBinding("of the backup")))
	lost := loadAuthentications(t, s, nil)
	for writes := range 5 {
		execute("DELETE FROM %[1]s")
		execute("INSERT INTO %[1]s SELECT * FROM backup_of_%[1]s")
		for i := range writes {
			putAuthentication(t, s, newAuthentication(fmt.Sprint("new ", i)))
		}
		if got, want := loadAuthentications(t, s, nil).Revision().Number, shared.Revision().Number+int64(writes); got != want {
			t.Fatalf("got revision %d, want %d", got, want)
		}
		wantFull(t, fmt.Sprintf("%d writes after the restore, from the lost state", writes), s, lost)
		wantFull(t, fmt.Sprintf("%d writes after the restore, from the shared state", writes), s, shared)
	}
}

// testLoadEarlierRelease writes as the first release does, which may run beside this
// one during an upgrade. It must not be changed with the schema: a load must not depend
// on columns that an earlier release does not set.
func testLoadEarlierRelease(t *testing.T, s *store.DB) {
	putAuthentication(t, s, newAuthentication("mine"))
	number := loadAuthentications(t, s, nil).Revision().Number
	for _, step := range []struct{ name, action, write string }{
		{"create", "create", `INSERT INTO authentications (id, method, token_hash, expires_at, created_rev, created_seq, body)
			VALUES ('theirs', 1, 'their hash', NULL, %d, 0, '{"id":"theirs","method":1,"createdAt":"2024-05-06T07:08:09Z","updatedAt":"2024-05-06T07:08:09Z"}')`},
		{"rotate", "update", `UPDATE authentications SET method = 1, token_hash = 'their new hash', expires_at = NULL,
			body = '{"id":"theirs","method":1,"createdAt":"2024-05-06T07:08:09Z","updatedAt":"2024-05-06T07:08:09Z"}' WHERE id = 'theirs'`},
		{"expire", "update", `UPDATE authentications SET method = 1, token_hash = 'their new hash', expires_at = 1577836800000000,
			body = '{"id":"theirs","method":1,"expiresAt":"2020-01-01T00:00:00Z","createdAt":"2024-05-06T07:08:09Z","updatedAt":"2024-05-06T07:08:09Z"}' WHERE id = 'theirs'`},
		{"delete", "delete", `DELETE FROM authentications WHERE id = 'theirs'`},
	} {
		held := loadAuthentications(t, s, nil)
		number++
		if step.name == "create" {
			step.write = fmt.Sprintf(step.write, number)
		}
		inTransaction(t, s.SQL(),
			fmt.Sprintf(`UPDATE namespaces SET revision = revision + 1, stamp = %d WHERE namespace_key = '(authentications)'`, 1000+number),
			step.write,
			fmt.Sprintf(`INSERT INTO changes (namespace_key, revision, seq, stamp, kind, object_key, action, actor, actor_name, actor_method,
				happened_at, request_id, body_size, before_body, after_body)
				VALUES ('(authentications)', %d, 0, %d, 'authentication', 'theirs', '%s', 'a', '', '', 1, '', 0, NULL, NULL)`,
				number, 1000+number, step.action))
		got := wantFull(t, step.name, s, held)
		if want := (guidon.Revision{Number: number, Stamp: 1000 + number}); got.Revision() != want {
			t.Fatalf("%s: got revision %v, want %v", step.name, got.Revision(), want)
		}
		if got.ByID("mine") != held.ByID("mine") {
			t.Errorf("%s: the unchanged authentication was read again", step.name)
		}
	}
}

func inTransaction(t testing.TB, db *sql.DB, statements ...string) {
	t.Helper()
	tx, err := db.BeginTx(t.Context(), nil)
	mustSucceed(t, err)
	for _, statement := range statements {
		if _, err := tx.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(errors.Join(err, tx.Rollback()))
		}
	}
	mustSucceed(t, tx.Commit())
}

package rediscache_test

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/integration/harness/dbtest"
	"github.com/guidonhq/guidon/service"
)

// queries returns how often do queries the database.
func queries(db *database, do func()) int {
	before := db.count()
	do()
	return db.count() - before
}

// What one instance has read from the database, the others find in Redis for the
// duration of the lease, but not while the state is new.
func TestRevisionIsShared(t *testing.T) {
	db, server := newDatabase(), startRedis(t)
	a, b := newInstance(t, server.URL, db), newInstance(t, server.URL, db)
	step := func(what string, i instance, want int) {
		t.Helper()
		got := queries(db, func() {
			if head := i.head(t, "a"); head != 1 {
				t.Errorf("%s: revision %d, want 1", what, head)
			}
		})
		if got != want {
			t.Errorf("%s: %d queries to the database, want %d", what, got, want)
		}
	}
	step("no state", a, 1)
	step("quarantine", a, 1)
	step("quarantine", b, 1)
	a.age(t, "a", "since", 3*time.Second)
	step("first after that", b, 1)
	step("shared", a, 0)
	step("shared", b, 0)
	a.age(t, "a", "asked", time.Second)
	step("after the lease", a, 1)
	step("shared again", b, 0)
	a.age(t, "a", "asked", -time.Minute)
	step("the clock was set back", a, 1)
}

// A namespace that does not exist leaves nothing behind, and a deleted one is no longer
// found.
func TestUnknownNamespace(t *testing.T) {
	db, server := newDatabase(), startRedis(t)
	a := newInstance(t, server.URL, db)
	if head := a.head(t, "nobody"); head != 0 {
		t.Errorf("revision %d of a namespace that does not exist", head)
	}
	if keys := a.client.DBSize(t.Context()).Val(); keys != 0 {
		t.Errorf("%d keys in Redis, want none", keys)
	}
	a.warm(t, "a")
	db.updated = func() { delete(db.heads, "a") }
	a.write(t, "a")
	if head := a.head(t, "a"); head != 0 {
		t.Errorf("revision %d of a namespace that was deleted", head)
	}
}

// Thousands of keys, as when all cached keys are queried, are one query to the database
// and none to Redis.
func TestManyKeys(t *testing.T) {
	db, server := newDatabase(), startRedis(t)
	a := newInstance(t, server.URL, db)
	a.warm(t, "a")
	keys := []string{"a"}
	for i := range 1000 {
		keys = append(keys, fmt.Sprint("n-", i))
	}
	before := a.Stats()
	if got := queries(db, func() {
		heads, err := a.Heads(t.Context(), keys)
		if err != nil || len(heads) != 1 {
			t.Errorf("got %v, %v", heads, err)
		}
	}); got != 1 || a.Stats() != before {
		t.Errorf("%d queries to the database, Redis %v; want 1 and no change", got, a.Stats())
	}
}

// Several keys are one query, and each has a result of its own.
func TestKeysTogether(t *testing.T) {
	db, server := newDatabase(), startRedis(t)
	db.heads["b"] = guidon.Revision{Number: 7, Stamp: -7}
	a, b := newInstance(t, server.URL, db), newInstance(t, server.URL, db)
	a.warm(t, "a")
	a.warm(t, "b")
	before := a.Stats().Revisions
	db.updating = func() { // while b is being written
		heads, err := a.Heads(t.Context(), []string{"b", "nobody's", "a"})
		want := map[string]guidon.Revision{"a": {Number: 1, Stamp: -1}, "b": {Number: 7, Stamp: -7}}
		if err != nil || !maps.Equal(heads, want) {
			t.Errorf("got %v, %v, want %v", heads, err, want)
		}
	}
	b.write(t, "b")
	after := a.Stats().Revisions
	if hits, misses := after.Hits-before.Hits, after.Misses-before.Misses; hits != 1 || misses != 2 {
		t.Errorf("%d keys were found in Redis and %d not, want 1 and 2", hits, misses)
	}
}

// TestClusterOfOne: a cluster of one server is used like a single server, but rejects
// scripts on several keys.
func TestClusterOfOne(t *testing.T) {
	bus, err := dbtest.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	db, server := newDatabase(), startRedis(t, "--cluster-enabled", "yes", "--cluster-port", bus)
	db.heads["b"] = guidon.Revision{Number: 7, Stamp: -7}
	a := newInstance(t, server.URL, db)
	if err := a.client.ClusterAddSlotsRange(t.Context(), 0, 16383).Err(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); a.Stats().Revisions.Hits < 2; {
		heads, err := a.Heads(t.Context(), []string{"a", "b"})
		if err != nil || len(heads) != 2 || time.Now().After(end) {
			t.Fatalf("got %v, %v; Redis %+v, %v", heads, err, a.Stats(), a.Err())
		}
		_ = a.client.HSet(t.Context(), "guidon:revision:a", "since", 0).Err()
		_ = a.client.HSet(t.Context(), "guidon:revision:b", "since", 0).Err()
	}
}

// A query after a write sees it, whichever instance wrote. That includes the
// authentications.
func TestWriteIsSeen(t *testing.T) {
	db, server := newDatabase(), startRedis(t)
	db.heads[service.AuthenticationsKey] = db.heads["a"]
	a, b := newInstance(t, server.URL, db), newInstance(t, server.URL, db)
	a.warm(t, "a")
	a.warm(t, service.AuthenticationsKey)
	for i := range int64(20) {
		b.write(t, "a")
		if err := b.UpdateAuthentications(t.Context(), service.Write{}, nil); err != nil {
			t.Error(err)
		}
		for _, key := range []string{"a", service.AuthenticationsKey} {
			for _, reader := range []instance{a, b} {
				if head := reader.head(t, key); head != i+2 {
					t.Fatalf("%s: revision %d after the write of %d", key, head, i+2)
				}
			}
		}
	}
	if hits := a.Stats().Revisions.Hits + b.Stats().Revisions.Hits; hits < 40 {
		t.Errorf("%d hits in Redis, want one for every second query", hits)
	}
}

// While a write is in progress all instances query the database, so that no reader
// misses the write after another one has seen it.
func TestReadersDuringWrite(t *testing.T) {
	db, server := newDatabase(), startRedis(t)
	a, b := newInstance(t, server.URL, db), newInstance(t, server.URL, db)
	a.warm(t, "a")
	read := func(want int64) {
		for range 3 {
			if got := queries(db, func() {
				if head := a.head(t, "a"); head != want {
					t.Errorf("revision %d, want %d", head, want)
				}
			}); got != 1 {
				t.Error("Redis returned a revision while a write was in progress")
			}
		}
	}
	db.updating, db.updated = func() { read(1) }, func() { read(2) }
	b.write(t, "a")
}

// The database has returned a revision to a reader when another instance writes. What
// that reader then stores in Redis comes too late, even if the next reader has begun.
func TestReaderOvertakenByWrite(t *testing.T) {
	db, server := newDatabase(), startRedis(t)
	a, b := newInstance(t, server.URL, db), newInstance(t, server.URL, db)
	a.warm(t, "a")
	for want, next := range map[int64]func(){2: func() {}, 3: func() { b.head(t, "a") }} {
		db.heads["a"] = guidon.Revision{Number: want - 1}
		a.age(t, "a", "asked", time.Second) // the next reader queries the database
		db.headsRead = func() {
			db.headsRead = nil
			b.write(t, "a")
			next()
		}
		a.head(t, "a")
		if head := b.head(t, "a"); head != want {
			t.Errorf("revision %d after a write of %d", head, want)
		}
	}
}

// The lease counts from before the query to the database.
func TestReaderOutlastsLease(t *testing.T) {
	db, server := newDatabase(), startRedis(t)
	a := newInstance(t, server.URL, db)
	a.warm(t, "a")
	a.age(t, "a", "asked", time.Second)
	db.headsRead = func() {
		db.headsRead = nil
		a.age(t, "a", "asked", time.Second)
	}
	a.head(t, "a")
	if got := queries(db, func() { a.head(t, "a") }); got != 1 {
		t.Error("Redis returns a revision after the lease")
	}
}

// Redis forgets everything during a write, including the announcement. It never returns
// the revision from before the write, neither during it nor after.
func TestStateLostDuringWrite(t *testing.T) {
	db, server := newDatabase(), startRedis(t)
	a, b := newInstance(t, server.URL, db), newInstance(t, server.URL, db)
	a.warm(t, "a")
	flush := func() {
		if err := a.client.FlushAll(t.Context()).Err(); err != nil {
			t.Error(err)
		}
	}
	db.updating = func() {
		flush()
		a.head(t, "a") // queries before the commit, and must not store the result
		a.head(t, "a")
	}
	db.updated = func() {
		if head := a.head(t, "a"); head != 2 {
			t.Errorf("revision %d, want 2, which is committed", head)
		}
	}
	b.write(t, "a")
	if head := a.head(t, "a"); head != 2 {
		t.Errorf("revision %d after a write of 2", head)
	}
}

// A write that takes longer than the quarantine announces itself again after Redis has
// forgotten it.
func TestLongWriteIsAnnouncedAgain(t *testing.T) {
	db, server := newDatabase(), startRedis(t)
	a, b := newInstance(t, server.URL, db), newInstance(t, server.URL, db)
	a.warm(t, "a")
	db.updating = func() {
		if err := a.client.FlushAll(t.Context()).Err(); err != nil {
			t.Error(err)
		}
		for end := time.Now().Add(10 * time.Second); a.client.Exists(t.Context(), "guidon:revision:a").Val() == 0; {
			if time.Now().After(end) {
				t.Fatal("the write does not announce itself again")
			}
		}
		a.age(t, "a", "since", time.Hour)
		a.head(t, "a")
		if got := queries(db, func() { a.head(t, "a") }); got != 1 {
			t.Error("Redis returned a revision while a write was in progress")
		}
	}
	b.write(t, "a")
}

// An instance that dies during a write keeps the others from using Redis for some time,
// but not forever.
func TestWriterDies(t *testing.T) {
	db, server := newDatabase(), startRedis(t)
	a, b := newInstance(t, server.URL, db), newInstance(t, server.URL, db)
	a.warm(t, "a")
	db.updated = func() {
		if err := b.client.Close(); err != nil { // as if it had died
			t.Error(err)
		}
	}
	b.write(t, "a")
	if got := queries(db, func() { a.head(t, "a"); a.head(t, "a") }); got != 2 {
		t.Error("Redis returned a revision while a write may have been in progress")
	}
	for field := range a.client.HGetAll(t.Context(), "guidon:revision:a").Val() {
		if field != "life" && field != "since" {
			a.age(t, "a", field, 10*time.Second)
		}
	}
	if got := queries(db, func() { a.head(t, "a"); a.head(t, "a") }); got != 1 {
		t.Error("a dead writer still counts as writing")
	}
	if fields := a.client.HLen(t.Context(), "guidon:revision:a").Val(); fields != 4 {
		t.Errorf("%d fields, want life, since, revision and asked", fields)
	}
}

package rediscache_test

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/integration/dbproc"
)

// queries tells how often the database is asked meanwhile.
func queries(db *database, do func()) int {
	before := db.count()
	do()
	return db.count() - before
}

// What one instance has asked the database, the others find in Redis, for the
// time of the lease, and not while its state is new.
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
			t.Errorf("%s: the database was asked %d times, want %d", what, got, want)
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

// A name that nobody has leaves nothing behind, and a deleted namespace is no
// longer found.
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

// Thousands of keys, as when everything held is asked for, are one question to
// the database and none to Redis.
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
		t.Errorf("the database was asked %d times, Redis %v; want once and never", got, a.Stats())
	}
}

// Several keys are one question, and each has an answer of its own.
func TestKeysTogether(t *testing.T) {
	db, server := newDatabase(), startRedis(t)
	db.heads["b"] = guidon.Revision{Number: 7, Stamp: -7}
	a, b := newInstance(t, server.URL, db), newInstance(t, server.URL, db)
	a.warm(t, "a")
	a.warm(t, "b")
	before := a.Stats().Revisions
	db.updating = func() { // of b, which is being written
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

// TestClusterOfOne: a cluster of one server is asked as if it were none, and refuses
// to answer about several keys at once.
func TestClusterOfOne(t *testing.T) {
	bus, err := dbproc.FreePort()
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

// Who asks after a write sees it, whoever wrote: also the authentications.
func TestWriteIsSeen(t *testing.T) {
	db, server := newDatabase(), startRedis(t)
	db.heads[guidon.AuthenticationsKey] = db.heads["a"]
	a, b := newInstance(t, server.URL, db), newInstance(t, server.URL, db)
	a.warm(t, "a")
	a.warm(t, guidon.AuthenticationsKey)
	for i := range int64(20) {
		b.write(t, "a")
		if err := b.UpdateAuthentications(t.Context(), nil); err != nil {
			t.Error(err)
		}
		for _, key := range []string{"a", guidon.AuthenticationsKey} {
			for _, reader := range []instance{a, b} {
				if head := reader.head(t, key); head != i+2 {
					t.Fatalf("%s: revision %d after the write of %d", key, head, i+2)
				}
			}
		}
	}
	if hits := a.Stats().Revisions.Hits + b.Stats().Revisions.Hits; hits < 40 {
		t.Errorf("Redis answered %d times, want each second question", hits)
	}
}

// While a write is under way all ask the database, so that who sees it before it
// is acknowledged is not followed by one who does not.
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
				t.Error("Redis answered while a write was under way")
			}
		}
	}
	db.updating, db.updated = func() { read(1) }, func() { read(2) }
	b.write(t, "a")
}

// The database has answered one reader when another instance writes; what that
// reader tells Redis then comes too late, also when the next reader has begun.
func TestReaderOvertakenByWrite(t *testing.T) {
	db, server := newDatabase(), startRedis(t)
	a, b := newInstance(t, server.URL, db), newInstance(t, server.URL, db)
	a.warm(t, "a")
	for want, next := range map[int64]func(){2: func() {}, 3: func() { b.head(t, "a") }} {
		db.heads["a"] = guidon.Revision{Number: want - 1}
		a.age(t, "a", "asked", time.Second) // the next one asks the database
		db.asked = func() {
			db.asked = nil
			b.write(t, "a")
			next()
		}
		a.head(t, "a")
		if head := b.head(t, "a"); head != want {
			t.Errorf("revision %d after a write of %d", head, want)
		}
	}
}

// The lease is counted from before the question to the database.
func TestReaderOutlastsLease(t *testing.T) {
	db, server := newDatabase(), startRedis(t)
	a := newInstance(t, server.URL, db)
	a.warm(t, "a")
	a.age(t, "a", "asked", time.Second)
	db.asked = func() {
		db.asked = nil
		a.age(t, "a", "asked", time.Second)
	}
	a.head(t, "a")
	if got := queries(db, func() { a.head(t, "a") }); got != 1 {
		t.Error("Redis answers after the lease")
	}
}

// Redis forgets everything during a write, the announcement included. Nobody is
// told the revision from before it, neither meanwhile nor after.
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
		a.head(t, "a") // asks before the commit, and must not tell
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

// A write that takes longer than the quarantine announces itself anew when Redis
// has forgotten it.
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
				t.Fatal("the write does not announce itself anew")
			}
		}
		a.age(t, "a", "since", time.Hour)
		a.head(t, "a")
		if got := queries(db, func() { a.head(t, "a") }); got != 1 {
			t.Error("Redis answered while a write was under way")
		}
	}
	b.write(t, "a")
}

// An instance that dies while it writes keeps the others from Redis for a time,
// and not for ever.
func TestWriterDies(t *testing.T) {
	db, server := newDatabase(), startRedis(t)
	a, b := newInstance(t, server.URL, db), newInstance(t, server.URL, db)
	a.warm(t, "a")
	db.updated = func() {
		if err := b.client.Close(); err != nil { // as good as dead
			t.Error(err)
		}
	}
	b.write(t, "a")
	if got := queries(db, func() { a.head(t, "a"); a.head(t, "a") }); got != 2 {
		t.Error("Redis answered while a write may have been under way")
	}
	for field := range a.client.HGetAll(t.Context(), "guidon:revision:a").Val() {
		if field != "life" && field != "since" {
			a.age(t, "a", field, 10*time.Second)
		}
	}
	if got := queries(db, func() { a.head(t, "a"); a.head(t, "a") }); got != 1 {
		t.Error("a dead writer is waited for")
	}
	if fields := a.client.HLen(t.Context(), "guidon:revision:a").Val(); fields != 4 {
		t.Errorf("%d fields, want life, since, revision and asked", fields)
	}
}

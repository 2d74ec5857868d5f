package rediscache_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store/cache/rediscache"
)

// newSnapshot returns a state of the namespace a with flags of realistic size.
func newSnapshot(number int64, flags int) *guidon.Snapshot {
	now := time.Date(2026, 1, 2, 3, 4, 5, 678_901_000, time.UTC)
	all := make([]*guidon.Flag, flags)
	for i := range all {
		on, off := service.NewID(), service.NewID()
		all[i] = &guidon.Flag{
			Key: fmt.Sprintf("flag-%05d", i), Name: "Flag <&> ü", Description: "What the flag is for", Enabled: true,
			Metadata: []byte(`{"owner":"<team>"}`), DefaultVariantID: off, CreatedAt: now, UpdatedAt: now,
			Variants: []*guidon.Variant{
				{ID: on, Key: "on", Attachment: `{"color":"red"}`, CreatedAt: now, UpdatedAt: now},
				{ID: off, Key: "off", CreatedAt: now, UpdatedAt: now},
			},
			Rules: []*guidon.Rule{{
				ID: service.NewID(), SegmentKeys: []string{"segment"}, Rank: 1, CreatedAt: now, UpdatedAt: now,
				Distributions: []*guidon.Distribution{{ID: service.NewID(), VariantID: on, Rollout: 33.3, CreatedAt: now, UpdatedAt: now}},
			}},
			Rollouts: []*guidon.Rollout{{
				ID: service.NewID(), Rank: 1, Threshold: &guidon.RolloutThreshold{Percentage: 12.5, Value: true}, CreatedAt: now, UpdatedAt: now,
			}},
			Created: guidon.Position{Revision: int64(i + 2), Sequence: 1},
		}
	}
	segment := &guidon.Segment{
		Key: "segment", Name: "Segment", MatchType: guidon.MatchAny, CreatedAt: now, UpdatedAt: now, Created: guidon.Position{Revision: 1, Sequence: 2},
		Constraints: []*guidon.Constraint{{
			ID: service.NewID(), Type: guidon.StringComparison, Property: "country", Operator: guidon.OpEQ, Value: "de", CreatedAt: now, UpdatedAt: now,
		}},
	}
	namespace := &guidon.Namespace{Key: "a", Name: "A", Protected: true, CreatedAt: now, UpdatedAt: now}
	return guidon.NewSnapshot(namespace, guidon.Revision{Number: number, Stamp: -number}, all, []*guidon.Segment{segment})
}

// snapshots returns a database with a snapshot, and counts how often it is loaded.
func snapshots(flags int) (db *database, loads *int) {
	db, loads = newDatabase(), new(int)
	db.heads["a"] = guidon.Revision{Number: 1, Stamp: -1}
	db.load = func(string) *guidon.Snapshot {
		*loads++
		return newSnapshot(db.heads["a"].Number, flags)
	}
	return db, loads
}

// load returns what an instance without a cached snapshot gets.
func (i instance) load(t testing.TB) *guidon.Snapshot {
	t.Helper()
	i.head(t, "a")
	snapshot, err := i.Load(t.Context(), "a", nil)
	if err != nil {
		t.Fatal(err)
	}
	return snapshot
}

// What one instance has loaded, another one that starts finds in Redis, the same in
// every respect.
func TestSnapshotIsShared(t *testing.T) {
	server := startRedis(t)
	for _, flags := range []int{0, 1, 1000} {
		db, loads := snapshots(flags)
		a, b := newInstance(t, server.URL, db), newInstance(t, server.URL, db)
		a.client.FlushAll(t.Context())
		loaded := a.load(t)
		got := b.load(t)
		if *loads != 1 || b.Stats().Snapshots.Hits != 1 {
			t.Errorf("%d flags: loaded %d times, found %d times", flags, *loads, b.Stats().Snapshots.Hits)
		}
		for what, pair := range map[string][2]any{
			"namespace": {loaded.Namespace(), got.Namespace()}, "revision": {loaded.Revision(), got.Revision()},
			"flags": {loaded.Flags(), got.Flags()}, "segments": {loaded.Segments(), got.Segments()},
		} {
			if diff := cmp.Diff(pair[0], pair[1], cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%d flags: %s (-loaded +found):\n%s", flags, what, diff)
			}
		}
	}
}

// Redis has one snapshot of each namespace, of the revision that was requested last.
func TestSnapshotIsReplaced(t *testing.T) {
	db, loads := snapshots(10)
	server := startRedis(t)
	a := newInstance(t, server.URL, db)
	for want := int64(1); want < 4; want++ {
		for range 2 {
			if got := a.load(t).Revision().Number; got != want {
				t.Errorf("loaded revision %d, want %d", got, want)
			}
		}
		a.write(t, "a")
	}
	if *loads != 3 {
		t.Errorf("loaded %d times, want 3", *loads)
	}
	if fields := a.client.HLen(t.Context(), "guidon:snapshot:a").Val(); fields != 1 {
		t.Errorf("%d snapshots in Redis, want 1", fields)
	}
	if life := a.client.PTTL(t.Context(), "guidon:snapshot:a").Val(); life < 23*time.Hour {
		t.Errorf("kept for %v", life)
	}
}

// A cached snapshot is brought up to date from the database, which knows what has
// changed.
func TestCachedSnapshotIsNotFetched(t *testing.T) {
	db, loads := snapshots(1)
	a := newInstance(t, startRedis(t).URL, db)
	held := a.load(t)
	if _, err := a.Load(t.Context(), "a", held); err != nil || *loads != 2 {
		t.Errorf("loaded %d times, %v", *loads, err)
	}
}

// While one instance stores a snapshot the others do not. A later state of the database
// is not stored under the requested revision.
func TestSnapshotIsStoredOnce(t *testing.T) {
	db, loads := snapshots(1)
	server := startRedis(t)
	a, b := newInstance(t, server.URL, db), newInstance(t, server.URL, db)
	db.loaded = func(string, *guidon.Snapshot) {
		db.loaded = nil
		before := a.client.HGetAll(t.Context(), "guidon:snapshot:a").Val()
		b.load(t)
		if diff := cmp.Diff(before, a.client.HGetAll(t.Context(), "guidon:snapshot:a").Val()); diff != "" {
			t.Errorf("the second instance stored it, too (-before +after):\n%s", diff)
		}
	}
	a.load(t)
	if *loads != 2 {
		t.Errorf("loaded %d times, want 2", *loads)
	}
	a.head(t, "a")
	a.write(t, "a")
	if got, err := b.Load(t.Context(), "a", nil); err != nil || got.Revision().Number != 1 {
		t.Errorf("the revision requested last: %v, %v", got.Revision(), err)
	}
	a.load(t)
	if got := b.load(t).Revision().Number; got != 2 {
		t.Errorf("loaded revision %d, want 2", got)
	}
}

// A value that is damaged, or was not stored by the service, counts as none.
func TestForeignSnapshot(t *testing.T) {
	db, loads := snapshots(100)
	server := startRedis(t)
	a := newInstance(t, server.URL, db)
	a.load(t)
	whole := a.client.HGet(t.Context(), "guidon:snapshot:a", "1:-1").Val()
	flip := func(at int) string {
		text := []byte(whole)
		text[at] ^= 0x20
		return string(text)
	}
	other := newSnapshot(2, 0) // of another revision, which the checksum does not reveal
	otherDB, _ := snapshots(0)
	otherDB.heads["a"] = other.Revision()
	o := newInstance(t, startRedis(t).URL, otherDB)
	o.load(t)
	for name, value := range map[string]string{
		"text": "text", "one byte": "\x01", "cut": whole[:len(whole)-1], "longer": whole + "x",
		"format": flip(0), "checksum": flip(2), "body": flip(len(whole) / 2),
		"another revision": o.client.HGet(t.Context(), "guidon:snapshot:a", "2:-2").Val(),
	} {
		if err := a.client.HSet(t.Context(), "guidon:snapshot:a", "1:-1", value).Err(); err != nil {
			t.Fatal(err)
		}
		before := *loads
		if a.load(t).Revision().Number != 1 || *loads != before+1 {
			t.Errorf("%s: loaded %d times from the database, want once", name, *loads-before)
		}
		if newInstance(t, server.URL, db).load(t); *loads != before+1 {
			t.Errorf("%s: is not replaced", name)
		}
	}
	if a.Err() != nil || a.Stats().Errors != 0 {
		t.Errorf("a foreign value is an error: %v", a.Err())
	}
}

// A snapshot that is too large, or for which Redis has no memory, is only in the
// database and costs Redis nothing.
func TestSnapshotIsNotKept(t *testing.T) {
	noise := make([]byte, 12<<20)
	for i := range noise {
		noise[i] = byte(' ' + rand.IntN(95))
	}
	for name, full := range map[string]bool{"large": false, "full": true} {
		t.Run(name, func(t *testing.T) {
			db, loads := snapshots(1)
			db.load = func(string) *guidon.Snapshot {
				*loads++
				s := newSnapshot(1, 1)
				s.Flags()[0].Description = string(noise)
				return s
			}
			server := startRedis(t, "--maxmemory-policy", "noeviction")
			a := newInstance(t, server.URL, db)
			if full {
				fillMemory(t, a)
			}
			for range 3 {
				a.load(t)
			}
			if *loads != 3 {
				t.Errorf("loaded %d times, want 3", *loads)
			}
			if size := a.client.HStrLen(t.Context(), "guidon:snapshot:a", "1:-1").Val(); size != 0 {
				t.Errorf("%d bytes are kept", size)
			}
			if a.Err() != nil {
				t.Errorf("Redis is no longer queried: %v", a.Err())
			}
		})
	}
}

// BenchmarkColdStart is the first evaluation of an instance that starts, with
// everything from Redis.
func BenchmarkColdStart(b *testing.B) {
	for _, flags := range []int{1000, 10_000} {
		b.Run(fmt.Sprint(flags), func(b *testing.B) {
			db, loads := snapshots(flags)
			server := startRedis(b)
			newInstance(b, server.URL, db).load(b)
			for b.Loop() {
				client, err := rediscache.Open(rediscache.Connection{URL: server.URL})
				if err != nil {
					b.Fatal(err)
				}
				s := instance{rediscache.New(db, client, rediscache.Options{}), client}
				if _, err := s.load(b).Variant("flag-00001", "entity", nil); err != nil {
					b.Fatal(err)
				}
				_ = s.Close()
			}
			if *loads != 1 {
				b.Errorf("loaded %d times from the database", *loads)
			}
		})
	}
}

package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/integration/harness"
	"github.com/guidonhq/guidon/integration/harness/dbtest"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
	"github.com/guidonhq/guidon/store/cache"
)

// counter is a store behind a faulty connection, with a flag that counts the writes, and a
// direct connection to the database.
type counter struct {
	wire     *dbtest.Proxy
	through  string // the URL of the database through wire
	faulty   *store.DB
	straight *store.DB
}

// eachWire runs the test over the protocol of each database.
func eachWire(t *testing.T, test func(t *testing.T, c *counter)) {
	for _, s := range harness.PrivateServers {
		t.Run(s.Name, func(t *testing.T) {
			s.Need(t)
			if s.Private == nil {
				harness.Skip(t, "faults need a private database process")
			}
			database := s.Migrated(t)
			w, through := dbtest.NewProxy(t, database)
			c := &counter{wire: w, through: through, faulty: harness.OpenStore(t, through), straight: harness.OpenStore(t, database)}
			putCounter(t, c.faulty)
			test(t, c)
		})
	}
}

// putCounter stores the counter flag.
func putCounter(t *testing.T, db *store.DB) {
	t.Helper()
	_, err := db.Update(t.Context(), guidon.DefaultNamespace, service.Write{}, func(ctx context.Context, tx service.Tx) error {
		return tx.PutFlag(ctx, &guidon.Flag{Key: "counter", Description: "0"})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// count increments the counter over the faulty connection, and returns how often the
// transaction ran.
func (c *counter) count(ctx context.Context) (runs int, err error) {
	_, err = c.faulty.Update(ctx, guidon.DefaultNamespace, service.Write{}, func(ctx context.Context, tx service.Tx) error {
		runs++
		f, err := tx.Flag(ctx, "counter")
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(f.Description)
		if err != nil {
			return err
		}
		f.Description = strconv.Itoa(n + 1)
		return tx.PutFlag(ctx, f)
	})
	return runs, err
}

// stored returns the count, and checks that there are one revision and one change record
// for each increment.
func (c *counter) stored(t *testing.T) int {
	t.Helper()
	shot, _, err := c.straight.Snapshot(t.Context(), guidon.DefaultNamespace, service.Demand{})
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(shot.Flag("counter").Description)
	if err != nil {
		t.Fatal(err)
	}
	records := 0
	for query := (change.Query{Namespace: guidon.DefaultNamespace, Kind: change.KindFlag, Limit: 100}); ; {
		page, err := c.straight.Changes(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		records += len(page)
		last := page[len(page)-1]
		query.Before = guidon.Position{Revision: last.Revision, Sequence: last.Sequence}
	}
	// The first revision is the namespace's own, the first record the flag's.
	if got, want := shot.Revision().Number, int64(n+2); got != want {
		t.Errorf("counted to %d at revision %d, want %d", n, got, want)
	}
	if want := n + 1; records != want {
		t.Errorf("counted to %d with %d change records, want %d", n, records, want)
	}
	return n
}

// wantTruth compares the error of an attempt to count with its effect.
func wantTruth(t *testing.T, err error, before, after int) {
	t.Helper()
	done := after - before
	switch {
	case done < 0 || done > 1:
		t.Errorf("one write counted from %d to %d", before, after)
	case err == nil && done != 1:
		t.Error("reported as done, but not stored")
	case err != nil && guidon.CodeOf(err) != guidon.Unavailable:
		t.Errorf("got %v, want Unavailable", err)
	case err != nil && done == 1 && !isAmbiguous(err):
		t.Errorf("stored, but reported as failed: %v", err)
	}
}

func isAmbiguous(err error) bool {
	return strings.Contains(guidon.PublicMessage(err), harness.OutcomeUnknown)
}

// TestCommitAnswered40001: the transaction is retried, and counts once.
func TestCommitAnswered40001(t *testing.T) { eachWire(t, testCommitAnswered40001) }

func testCommitAnswered40001(t *testing.T, c *counter) {
	const refused = 2
	commits := 0
	c.wire.Inflict(func(r dbtest.Request) dbtest.Fault {
		if !r.IsCommit() {
			return dbtest.Pass
		}
		if commits++; commits <= refused {
			return dbtest.Serialize
		}
		return dbtest.Pass
	})
	runs, err := c.count(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if want := refused + 1; runs != want {
		t.Errorf("ran %d times, want %d", runs, want)
	}
	if got := c.stored(t); got != 1 {
		t.Errorf("counted to %d, want 1", got)
	}
}

// TestCommitAnswered40001ForEver: after some retries an error is returned.
func TestCommitAnswered40001ForEver(t *testing.T) { eachWire(t, testCommitAnswered40001ForEver) }

func testCommitAnswered40001ForEver(t *testing.T, c *counter) {
	c.wire.Inflict(func(r dbtest.Request) dbtest.Fault {
		if r.IsCommit() {
			return dbtest.Serialize
		}
		return dbtest.Pass
	})
	runs, err := c.count(t.Context())
	if !errors.Is(err, guidon.Unavailable) || isAmbiguous(err) {
		t.Errorf("got %v after %d runs, want a definite Unavailable", err, runs)
	}
	if got := c.stored(t); got != 0 {
		t.Errorf("counted to %d, want 0", got)
	}
}

// TestConnectionCutAtCommit: if the database is available again immediately, the store
// queries the outcome of the write.
func TestConnectionCutAtCommit(t *testing.T) { eachWire(t, testConnectionCutAtCommit) }

func testConnectionCutAtCommit(t *testing.T, c *counter) {
	for name, f := range map[string]dbtest.Fault{"before the server has it": dbtest.CutBefore, "before the client has the response": dbtest.CutAfter} {
		t.Run(name, func(t *testing.T) {
			before := c.stored(t)
			decide, inflicted := dbtest.Once(f, dbtest.Request.IsCommit)
			c.wire.Inflict(decide)
			_, err := c.count(t.Context())
			wantInflicted(t, inflicted)
			after := c.stored(t)
			wantTruth(t, err, before, after)
			if isAmbiguous(err) {
				t.Errorf("the outcome could be queried, got %v", err)
			}
			if f == dbtest.CutAfter && (err != nil || after != before+1) {
				t.Errorf("got %v and a count from %d to %d, want success", err, before, after)
			}
			wantRecovered(t, c)
		})
	}
}

// TestCommitUnknown: the database is unavailable when the store wants to query the outcome,
// so the error says that it is unknown.
func TestCommitUnknown(t *testing.T) { eachWire(t, testCommitUnknown) }

func testCommitUnknown(t *testing.T, c *counter) {
	decide, inflicted := dbtest.Once(dbtest.Unreachable, dbtest.Request.IsCommit)
	c.wire.Inflict(decide)
	_, err := c.count(t.Context())
	wantInflicted(t, inflicted)
	if !errors.Is(err, guidon.Unavailable) || !isAmbiguous(err) {
		t.Errorf("got %v, want Unavailable with %q", err, harness.OutcomeUnknown)
	}
	if got := c.stored(t); got != 1 {
		t.Errorf("counted to %d, want 1", got)
	}
	wantRecovered(t, c)
}

// TestConnectionCutAtEveryStage cuts the connection at each request of a transaction, both
// before the server has it and before the client has the response.
func TestConnectionCutAtEveryStage(t *testing.T) { eachWire(t, testConnectionCutAtEveryStage) }

func testConnectionCutAtEveryStage(t *testing.T, c *counter) {
	for stage := 0; ; stage++ {
		for _, f := range []dbtest.Fault{dbtest.CutBefore, dbtest.CutAfter} {
			before := c.stored(t)
			decide, inflicted := dbtest.Once(f, func(r dbtest.Request) bool { return r.Inside && r.Stage == stage })
			c.wire.Inflict(decide)
			_, err := c.count(t.Context())
			c.wire.Inflict(nil)
			select {
			case <-inflicted:
			default: // the transaction has no such stage
				if stage != 2 { // one to lock and read, one to write and commit
					t.Errorf("a write takes %d round trips, want 2", stage)
				}
				return
			}
			t.Run(fmt.Sprintf("%d/%d", stage, f), func(t *testing.T) { wantTruth(t, err, before, c.stored(t)) })
		}
	}
}

// impatient returns a store behind the faulty connection that does not wait long for a response.
func (c *counter) impatient(t *testing.T) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), c.through, store.Options{StatementTimeout: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// TestConnectionsSilent: what is between the store and the database forgets the connections that
// are open, as a firewall or a switch to a replica does, and nobody is told. One request finds out.
func TestConnectionsSilent(t *testing.T) { eachWire(t, testConnectionsSilent) }

func testConnectionsSilent(t *testing.T, c *counter) {
	db := c.impatient(t)
	for _, pool := range []*sql.DB{db.Reader(), db.SQL()} {
		var open []*sql.Conn
		for range 4 {
			conn, err := pool.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			open = append(open, conn)
		}
		for _, conn := range open {
			_ = conn.Close()
		}
	}
	forgotten := c.wire.Connections()
	c.wire.Inflict(func(r dbtest.Request) dbtest.Fault {
		if r.Connection <= forgotten {
			return dbtest.Silent
		}
		return dbtest.Pass
	})
	if _, err := db.Heads(t.Context(), []string{guidon.DefaultNamespace}); !errors.Is(err, guidon.Unavailable) {
		t.Errorf("the first query: got %v, want Unavailable", err)
	}
	if _, err := db.Heads(t.Context(), []string{guidon.DefaultNamespace}); err != nil {
		t.Errorf("the next query: %v", err)
	}
	c.faulty = db
	if _, err := c.count(t.Context()); err != nil {
		t.Errorf("the next write: %v", err)
	}
}

// TestWriterVanishes: a process, or the way to it, ends between the two round trips of a write
// without a word to the database. Others can write to the namespace again after a while.
func TestWriterVanishes(t *testing.T) { eachWire(t, testWriterVanishes) }

func testWriterVanishes(t *testing.T, c *counter) {
	vanishing := &counter{faulty: c.impatient(t)}
	if _, err := vanishing.count(t.Context()); err != nil { // opens a connection and prepares the statements, if any
		t.Fatal(err)
	}
	decide, inflicted := dbtest.Once(dbtest.Silent, func(r dbtest.Request) bool { return r.Inside && r.Stage == 0 })
	c.wire.Inflict(decide)
	if _, err := vanishing.count(t.Context()); !errors.Is(err, guidon.Unavailable) {
		t.Errorf("got %v, want Unavailable", err)
	}
	wantInflicted(t, inflicted)
	other := &counter{faulty: c.straight}
	for end := time.Now().Add(30 * time.Second); ; {
		_, err := other.count(t.Context()) // waits for the lock for 5 seconds
		if err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the namespace cannot be written after 30 seconds: %v", err)
		}
	}
	if got := c.stored(t); got != 2 {
		t.Errorf("counted to %d, want 2", got)
	}
}

// TestRoundTripsOfWrites: a write takes two round trips, one to lock and read, one to write
// and commit. This is also true if the instance caches its writes and other instances have
// written since its last one.
func TestRoundTripsOfWrites(t *testing.T) { eachWire(t, testRoundTripsOfWrites) }

func testRoundTripsOfWrites(t *testing.T, c *counter) {
	held := cache.NewShared(c.faulty, cache.Freshness{MaxStale: time.Hour})
	put := func(s service.Store, key string) {
		t.Helper()
		_, err := s.Update(t.Context(), guidon.DefaultNamespace, service.Write{}, func(ctx context.Context, tx service.Tx) error {
			if _, err := tx.Flag(ctx, key); !errors.Is(err, guidon.NotFound) {
				return fmt.Errorf("flag %q: got %w, want NotFound", key, err)
			}
			return tx.PutFlag(ctx, &guidon.Flag{Key: key})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	put(held, "first") // also opens the connections and prepares the statements, if any
	put(c.straight, "other-first")
	put(held, "second")
	for _, others := range []int{0, 1, 3} {
		for i := range others {
			put(c.straight, fmt.Sprintf("other-%d-%d", others, i))
		}
		stages := 0
		c.wire.Inflict(func(r dbtest.Request) dbtest.Fault {
			if r.Inside {
				stages = max(stages, r.Stage+1)
			}
			return dbtest.Pass
		})
		put(held, fmt.Sprint("after-", others))
		c.wire.Inflict(nil)
		if stages != 2 {
			t.Errorf("after %d writes of others: %d round trips, want 2", others, stages)
		}
	}
	want, _, err := c.straight.Snapshot(t.Context(), guidon.DefaultNamespace, service.Demand{})
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := held.Snapshot(t.Context(), guidon.DefaultNamespace, service.Demand{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.Flags(), got.Flags()); diff != "" {
		t.Errorf("the cached snapshot (-stored +cached):\n%s", diff)
	}
}

// TestFaultyWire runs concurrent writers over connections that randomly fail at any point.
// Writes reported as done are stored once, and writes reported as failed are not stored.
func TestFaultyWire(t *testing.T) { eachWire(t, testFaultyWire) }

func testFaultyWire(t *testing.T, c *counter) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0)) // used under the lock of the proxy
	c.wire.Inflict(func(r dbtest.Request) dbtest.Fault {
		switch n := random.IntN(100); {
		case n < 2:
			return dbtest.CutBefore
		case n < 4:
			return dbtest.CutAfter
		case n < 14 && r.IsCommit():
			return dbtest.Serialize
		case n < 18 && r.IsCommit():
			return dbtest.CutAfter
		}
		return dbtest.Pass
	})
	const writers, writes = 4, 50
	var acknowledged, unknown atomic.Int64
	var writing sync.WaitGroup
	for range writers {
		writing.Go(func() {
			for range writes {
				_, err := c.count(t.Context())
				switch {
				case err == nil:
					acknowledged.Add(1)
				case isAmbiguous(err):
					unknown.Add(1)
				case !errors.Is(err, guidon.Unavailable):
					t.Errorf("got %v, want Unavailable", err)
				}
			}
		})
	}
	writing.Wait()
	got := int64(c.stored(t))
	if least, most := acknowledged.Load(), acknowledged.Load()+unknown.Load(); got < least || got > most {
		t.Errorf("counted to %d; %d were acknowledged and %d are unknown", got, least, unknown.Load())
	}
	t.Logf("%d of %d acknowledged, %d unknown", acknowledged.Load(), writers*writes, unknown.Load())
	if acknowledged.Load() == 0 {
		t.Error("no write succeeded")
	}
	c.wire.Inflict(nil)
	wantRecovered(t, c)
}

// wantRecovered checks that the store works again once the connections have no faults.
func wantRecovered(t *testing.T, c *counter) {
	t.Helper()
	before := c.stored(t)
	c.wire.Inflict(nil)
	if _, err := c.count(t.Context()); err != nil {
		t.Errorf("without faults: %v", err)
	}
	if got := c.stored(t); got != before+1 {
		t.Errorf("counted from %d to %d", before, got)
	}
}

func wantInflicted(t *testing.T, inflicted <-chan struct{}) {
	t.Helper()
	select {
	case <-inflicted:
	default:
		t.Fatal("the proxy has seen no such request")
	}
}

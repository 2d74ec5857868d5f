package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/flagtest"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/service/count"
)

// faults is a connector whose next COMMIT loses the connection, before or after the
// server has executed it.
type faults struct {
	inner driver.Driver
	dsn   string
	next  atomic.Int32
}

const (
	cutBeforeCommit = 1
	cutAfterCommit  = 2
)

func (f *faults) Driver() driver.Driver { return f.inner }

func (f *faults) Connect(context.Context) (driver.Conn, error) {
	conn, err := f.inner.Open(f.dsn)
	if err != nil {
		return nil, err
	}
	return &faultyConn{Conn: conn, faults: f}, nil
}

type faultyConn struct {
	driver.Conn
	faults *faults
}

func (c *faultyConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	cut := int32(0)
	if query == "COMMIT" {
		cut = c.faults.next.Swap(0)
	}
	if cut == cutBeforeCommit {
		return nil, driver.ErrBadConn
	}
	result, err := c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
	if cut == cutAfterCommit && err == nil {
		return nil, driver.ErrBadConn
	}
	return result, err
}

func (c *faultyConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args)
}

// openFaulty opens an SQLite database that is treated as one on a network.
func openFaulty(t *testing.T) (*DB, *faults) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.db")
	db := openMigrated(t, "sqlite:"+path)
	f := &faults{inner: db.writer.Driver(), dsn: sqliteWriterDSN(path)}
	if err := db.writer.Close(); err != nil {
		t.Fatal(err)
	}
	db.writer = sql.OpenDB(f)
	db.writer.SetMaxOpenConns(1)
	d := *sqliteDialect
	d.shared = true
	db.dialect = &d
	return db, f
}

// If the connection is lost at COMMIT, the outcome of the transaction is unknown. The
// write takes effect exactly once all the same.
func TestLostAtCommit(t *testing.T) {
	for _, c := range []struct {
		name string
		cut  int32
		runs int
	}{
		{"nothing is lost", 0, 1},
		{"COMMIT is lost: run again", cutBeforeCommit, 2},
		{"response is lost: not run again", cutAfterCommit, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			db, f := openFaulty(t)
			for _, namespace := range []string{"default", "new"} {
				before := int64(0)
				if shot, _, err := db.Snapshot(t.Context(), namespace, service.Demand{}); err == nil {
					before = shot.Revision().Number
				}
				f.next.Store(c.cut)
				runs := 0
				revision, err := db.Update(t.Context(), namespace, service.Write{}, func(ctx context.Context, tx service.Tx) error {
					runs++
					return errors.Join(
						tx.PutNamespace(ctx, &guidon.Namespace{Key: namespace, Name: "put"}),
						tx.PutFlag(ctx, &guidon.Flag{Key: "a", Description: fmt.Sprint("run ", runs)}))
				})
				if err != nil || runs != c.runs {
					t.Fatalf("%s: got %v after %d runs, want success after %d", namespace, err, runs, c.runs)
				}
				shot, _, err := db.Snapshot(t.Context(), namespace, service.Demand{})
				if err != nil {
					t.Fatal(err)
				}
				if got := shot.Revision().Number; got != before+1 || revision != got {
					t.Errorf("%s: got revision %d, reported as %d, want %d", namespace, got, revision, before+1)
				}
				if got, want := shot.Flag("a").Description, fmt.Sprint("run ", runs); got != want {
					t.Errorf("%s: stored by %q, want %q", namespace, got, want)
				}
			}
		})
	}
}

// The same for authentications, which have no namespace.
func TestLostAtCommitOfAuthentications(t *testing.T) {
	for cut, want := range map[int32]int{cutBeforeCommit: 2, cutAfterCommit: 1} {
		db, f := openFaulty(t)
		f.next.Store(cut)
		runs := 0
		err := db.UpdateAuthentications(t.Context(), service.Write{}, func(ctx context.Context, tx service.AuthenticationTx) error {
			runs++
			return tx.PutAuthentication(ctx, &service.Authentication{ID: "a", TokenHash: "h"})
		})
		if err != nil || runs != want {
			t.Errorf("got %v after %d runs, want success after %d", err, runs, want)
		}
		set, _, err := db.Authentications(t.Context(), service.Demand{}, "")
		if err != nil || len(set.All()) != 1 || set.Revision().Number != 1 {
			t.Errorf("got %v, %v, want one at revision 1", set, err)
		}
	}
}

// The same for counts of evaluations, which are attempted again: also when the rows that were stored have been merged with
// those of another instance, or added to an hour, in the meantime.
func TestLostAtCommitOfCounts(t *testing.T) {
	keep := count.Keep{Minutes: 48 * time.Hour, Hours: 60 * 24 * time.Hour, Days: 730 * 24 * time.Hour}
	for _, test := range []struct {
		cut   int32
		until time.Duration // the next attempt
	}{
		{0, time.Minute}, {cutBeforeCommit, time.Minute}, {cutAfterCommit, time.Minute},
		{cutBeforeCommit, 10 * time.Minute}, {cutAfterCommit, 10 * time.Minute}, {cutAfterCommit, 3 * time.Hour}, {cutAfterCommit, 50 * time.Hour},
	} {
		t.Run(fmt.Sprintf("cut %d, next attempt after %s", test.cut, test.until), func(t *testing.T) {
			db, f := openFaulty(t)
			now := time.Date(2026, 6, 28, 21, 40, 0, 0, time.UTC)
			instance := func() (*count.Counter, func(times int)) {
				c := count.NewCounter(db, keep, func() time.Time { return now })
				flags := guidon.NewSnapshot(&guidon.Namespace{Key: "shop"}, guidon.Revision{}, []*guidon.Flag{flagtest.BooleanFlag("f", true)}, nil)
				return c, func(times int) {
					for range times {
						c.Boolean("shop", flags.Compiled("f"), &guidon.BooleanResult{Enabled: true, Reason: guidon.ReasonMatch}, nil)
					}
				}
			}
			one, evaluate := instance()
			other, evaluateOther := instance()
			must := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			must(other.RollUp(t.Context()))
			evaluateOther(10)
			must(other.Flush(t.Context()))
			evaluate(100)
			f.next.Store(test.cut)
			if err := one.Flush(t.Context()); (err != nil) != (test.cut > 0) {
				t.Fatalf("got %v", err)
			}
			evaluate(1000)
			now = now.Add(test.until)
			must(other.RollUp(t.Context()))
			must(one.Flush(t.Context()))
			must(one.Flush(t.Context()))
			now = now.Add(24 * time.Hour)
			must(other.RollUp(t.Context()))
			all, err := one.Series(t.Context(), "shop", []string{"f"}, count.Range{From: now.Add(-4 * 24 * time.Hour), Step: count.StepDay})
			must(err)
			got := uint64(0)
			for _, point := range all["f"].Points {
				got += point.Sum()
			}
			if got != 1110 {
				t.Errorf("got %d evaluations, want 1110", got)
			}
		})
	}
}

// If the outcome cannot be determined, Update soon returns an error that says so.
func TestUnknownOutcome(t *testing.T) {
	db, f := openFaulty(t)
	db.patience = 50 * time.Millisecond
	f.next.Store(cutBeforeCommit)
	_, err := db.Update(t.Context(), "default", service.Write{}, func(ctx context.Context, tx service.Tx) error {
		f.dsn = filepath.Join(t.TempDir(), "nowhere", "a.db") // for new connections
		return tx.PutFlag(ctx, &guidon.Flag{Key: "a"})
	})
	if !errors.Is(err, guidon.Unavailable) || guidon.PublicMessage(err) != messageUnknown {
		t.Errorf("got %v, want an unknown outcome", err)
	}
}

// wasCommitted must not change anything.
func TestWasCommittedStoresNothing(t *testing.T) {
	db, _ := openFaulty(t)
	for _, p := range []*proof{
		{namespace: "default", revision: guidon.Revision{Number: 1, Stamp: 1}},
		{namespace: "nowhere", revision: guidon.Revision{Number: 1, Stamp: 1}},
	} {
		committed, err := db.wasCommitted(t.Context(), p)
		if err != nil || committed {
			t.Errorf("%v: got %v, %v, want false", p, committed, err)
		}
	}
	heads, err := db.Heads(t.Context(), []string{"default", "nowhere"})
	if err != nil || len(heads) != 1 || heads["default"].Number != 1 {
		t.Errorf("got %v, %v, want the seed alone", heads, err)
	}
}

package limit_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/limit"
	"github.com/guidonhq/guidon/internal/bubble"
)

const mib = 1 << 20

// TestLanes fills the share for large reservations; small ones still find room.
func TestLanes(t *testing.T) {
	p := limit.NewPool(4 * mib)
	if !p.TryAcquire(2 * mib) {
		t.Fatal("no room in an empty pool")
	}
	if p.TryAcquire(2 * mib) {
		t.Error("4 MiB fit into the 3 MiB for large reservations")
	}
	for range mib / limit.SmallBudget {
		if !p.TryAcquire(limit.SmallBudget) {
			t.Fatal("no room for a small reservation while large ones fill their share")
		}
	}
	if p.TryAcquire(1) {
		t.Error("the share for small reservations has no limit")
	}
	p.Release(2 * mib)
	if !p.TryAcquire(3 * mib) {
		t.Error("a released reservation left no room")
	}
	want := limit.PoolStats{Size: 4 * mib, Used: 4 * mib}
	if diff := cmp.Diff(want, p.Stats()); diff != "" {
		t.Errorf("stats (-want +got):\n%s", diff)
	}
}

// TestOversized reserves more than the pool has: the reservation takes the whole share
// for large ones, and releases what it took.
func TestOversized(t *testing.T) {
	p := limit.NewPool(4 * mib)
	if !p.TryAcquire(100 * mib) {
		t.Fatal("no room for an oversized reservation in an empty pool")
	}
	if p.TryAcquire(mib) {
		t.Error("room for another reservation next to an oversized one")
	}
	p.Release(100 * mib)
	if got := p.Stats().Used; got != 0 {
		t.Errorf("%d bytes in use after everything was released", got)
	}
}

func TestWait(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := limit.NewPool(4 * mib)
		p.TryAcquire(3 * mib)
		go func() {
			time.Sleep(500 * time.Millisecond)
			p.Release(3 * mib)
		}()
		if err := p.Acquire(t.Context(), 2*mib); err != nil {
			t.Errorf("room after half a second: got %v, want no error", err)
		}
		err := p.Acquire(t.Context(), 2*mib)
		if !errors.Is(err, guidon.Unavailable) {
			t.Errorf("no room: got %v, want Unavailable", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if err := p.Acquire(ctx, 2*mib); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("canceled caller: got %v, want DeadlineExceeded", err)
		}
		want := limit.PoolStats{Size: 4 * mib, Used: 2 * mib, Rejected: 1}
		if diff := cmp.Diff(want, p.Stats()); diff != "" {
			t.Errorf("stats (-want +got):\n%s", diff)
		}
	})
}

func TestNil(t *testing.T) {
	var p *limit.Pool
	if err := p.Acquire(t.Context(), 1<<40); err != nil || !p.TryAcquire(1<<40) {
		t.Error("a nil pool has a limit")
	}
	p.Release(1 << 40)
}

func TestReservation(t *testing.T) {
	p := limit.NewPool(4 * mib)
	r := p.NewReservation()
	for _, step := range []struct{ raise, used int64 }{{100, 100}, {50, 100}, {mib, mib}, {3 * mib, 3 * mib}, {9 * mib, 3 * mib}} {
		if err := r.Raise(t.Context(), step.raise); err != nil {
			t.Fatal(err)
		}
		if got := p.Stats().Used; got != step.used {
			t.Errorf("raised to %d: %d bytes in use, want %d", step.raise, got, step.used)
		}
	}
	r.Release()
	r.Release()
	if got := p.Stats().Used; got != 0 {
		t.Errorf("%d bytes in use after the release", got)
	}
}

// TestReservationRejected raises a reservation beyond the room that is left: it does
// not wait and stays unchanged.
func TestReservationRejected(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := limit.NewPool(4 * mib)
		p.TryAcquire(2 * mib)
		r := p.NewReservation()
		if err := r.Raise(t.Context(), mib/2); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if err := r.Raise(t.Context(), 2*mib); !errors.Is(err, guidon.Unavailable) {
			t.Errorf("got %v, want Unavailable", err)
		}
		if waited := time.Since(began); waited > 0 {
			t.Errorf("a reservation that is not empty waited %v for more", waited)
		}
		want := limit.PoolStats{Size: 4 * mib, Used: 2*mib + mib/2, Rejected: 1}
		if diff := cmp.Diff(want, p.Stats()); diff != "" {
			t.Errorf("stats (-want +got):\n%s", diff)
		}
	})
}

// TestReservationResized changes one reservation within a share and across both.
func TestReservationResized(t *testing.T) {
	p := limit.NewPool(4 * mib)
	r := p.NewReservation()
	for _, n := range []int64{3 * mib, mib, 2 * mib, 100, 50, limit.SmallBudget, 9 * mib, 0, mib, 0} {
		if err := r.Resize(t.Context(), n); err != nil {
			t.Fatalf("resize to %d: %v", n, err)
		}
		if got, want := p.Stats().Used, min(n, 3*mib); got != want {
			t.Errorf("resized to %d: %d bytes in use, want %d", n, got, want)
		}
	}
	if !p.TryAcquire(3*mib) || !p.TryAcquire(limit.SmallBudget) || r.Try(limit.SmallBudget*100) {
		t.Fatal("the shares differ from those of a new pool")
	}
	if got := r.Size(); got != 0 {
		t.Errorf("%d bytes reserved after a failed Try, want 0", got)
	}
}

// TestReservationReleasedWhileOthersWait releases a large reservation while a caller
// waits for a small one.
func TestReservationReleasedWhileOthersWait(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := limit.NewPool(4 * mib)
		r := p.NewReservation()
		if !r.Try(mib) {
			t.Fatal("no room in an empty pool")
		}
		for range mib / limit.SmallBudget {
			p.TryAcquire(limit.SmallBudget)
		}
		done := make(chan error)
		go func() { done <- p.Acquire(t.Context(), 1) }()
		synctest.Wait()
		r.Release()
		if got := p.Stats().Used; got != mib {
			t.Errorf("%d bytes in use, want %d", got, mib)
		}
		if err := <-done; !errors.Is(err, guidon.Unavailable) {
			t.Errorf("got %v, want Unavailable", err)
		}
	})
}

// TestReservationWithoutPool: the zero Reservation has no limit.
func TestReservationWithoutPool(t *testing.T) {
	var r limit.Reservation
	for _, n := range []int64{1, 1 << 40, 1 << 41, 2} {
		if err := r.Resize(t.Context(), n); err != nil || !r.Try(n+1) {
			t.Errorf("resize to %d: %v", n, err)
		}
	}
	r.Release()
}

package guidon_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"weak"

	"github.com/guidonhq/guidon"
)

// TestDerivation: a derivation is computed once per snapshot, even if many goroutines
// call Of concurrently.
func TestDerivation(t *testing.T) {
	var made atomic.Int32
	count := guidon.NewDerivation(func(s *guidon.Snapshot) *int {
		made.Add(1)
		n := len(s.Flags())
		return &n
	})
	other := guidon.NewDerivation(func(*guidon.Snapshot) *int { return new(int) })
	first := guidon.NewSnapshot(&guidon.Namespace{Key: "n"}, guidon.Revision{Number: 1}, nil, nil)
	next := first.Apply(guidon.SnapshotDelta{Revision: guidon.Revision{Number: 2}, Flags: []*guidon.Flag{{Key: "f"}}})
	for i, s := range []*guidon.Snapshot{first, next} {
		values := make([]*int, 16)
		var wg sync.WaitGroup
		for j := range values {
			wg.Go(func() { values[j] = count.Of(s) })
		}
		wg.Wait()
		for _, value := range values {
			if value != values[0] || *value != i {
				t.Errorf("got %d at %p, want %d at %p", *value, value, i, values[0])
			}
		}
		if other.Of(s) == values[0] {
			t.Error("two derivations share a value")
		}
	}
	if got := made.Load(); got != 2 {
		t.Errorf("computed %d times for 2 snapshots", got)
	}
}

// TestDerivationOfTheSameState: the next snapshot has values of its own even if only
// its revision differs.
func TestDerivationOfTheSameState(t *testing.T) {
	revision := guidon.NewDerivation(func(s *guidon.Snapshot) int64 { return s.Revision().Number })
	s := guidon.NewSnapshot(&guidon.Namespace{Key: "n"}, guidon.Revision{Number: 1}, nil, nil)
	for want := range int64(3) {
		if got := revision.Of(s); got != want+1 {
			t.Errorf("got %d, want %d", got, want+1)
		}
		s = s.Apply(guidon.SnapshotDelta{Revision: guidon.Revision{Number: want + 2}})
	}
}

// TestDerivationIsCollected: values derived from an unreachable snapshot are
// garbage collected.
func TestDerivationIsCollected(t *testing.T) {
	body := guidon.NewDerivation(func(*guidon.Snapshot) *[1 << 16]byte { return new([1 << 16]byte) })
	old := guidon.NewSnapshot(&guidon.Namespace{Key: "n"}, guidon.Revision{Number: 1}, nil, nil)
	next := old.Apply(guidon.SnapshotDelta{Revision: guidon.Revision{Number: 2}})
	gone, kept := weak.Make(body.Of(old)), weak.Make(body.Of(next))
	runtime.KeepAlive(old)
	runtime.GC()
	if gone.Value() != nil {
		t.Error("the value outlives its snapshot")
	}
	if kept.Value() == nil {
		t.Error("the value does not live as long as its snapshot")
	}
	runtime.KeepAlive(next)
}

// TestFlagDerivation: a flag has one value until it changes, even if many goroutines
// call Of concurrently.
func TestFlagDerivation(t *testing.T) {
	names := guidon.NewFlagDerivation(func(f *guidon.CompiledFlag) *string { return new(f.Flag().Name) })
	other := guidon.NewFlagDerivation(func(*guidon.CompiledFlag) *string { return new(string) })
	flag := func(key, name string) *guidon.Flag { return &guidon.Flag{Key: key, Name: name} }
	first := guidon.NewSnapshot(&guidon.Namespace{Key: "n"}, guidon.Revision{Number: 1}, []*guidon.Flag{flag("kept", "Kept"), flag("f", "Old")}, nil)
	next := first.Apply(guidon.SnapshotDelta{Revision: guidon.Revision{Number: 2}, Flags: []*guidon.Flag{flag("f", "New")}})
	of := func(s *guidon.Snapshot, key string) *string {
		values := make([]*string, 16)
		var wg sync.WaitGroup
		for i := range values {
			wg.Go(func() {
				if i%2 == 0 {
					other.Of(s.Compiled(key))
				}
				values[i] = names.Of(s.Compiled(key))
			})
		}
		wg.Wait()
		for _, value := range values {
			if value != values[0] {
				t.Fatalf("%s has two values", key)
			}
		}
		if other.Of(s.Compiled(key)) == values[0] {
			t.Errorf("%s: two derivations share a value", key)
		}
		return values[0]
	}
	if before, after := of(first, "kept"), of(next, "kept"); before != after || *before != "Kept" {
		t.Errorf("an unchanged flag: got %q at %p and %q at %p, want one value", *before, before, *after, after)
	}
	if before, after := of(first, "f"), of(next, "f"); *before != "Old" || *after != "New" {
		t.Errorf("a changed flag: got %q and %q", *before, *after)
	}
}

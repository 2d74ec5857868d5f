package guidon_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/guidonhq/guidon"
)

// allocated returns the bytes that one call of f allocates, on average of some calls.
func allocated(f func(i int)) uint64 {
	const calls = 100
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range calls {
		f(i)
	}
	runtime.ReadMemStats(&after)
	return (after.TotalAlloc - before.TotalAlloc) / calls
}

// TestApplyCost: with ten times as many flags, a change of one costs at most twice as much.
func TestApplyCost(t *testing.T) {
	const few, many = 10_000, 100_000
	cost := map[int]map[string]uint64{}
	for _, n := range []int{few, many} {
		s := benchSnapshot(n)
		s.SegmentUsers("") // computes them
		users := s.SegmentUsers(benchSegmentKey(0)).Len()
		cost[n] = map[string]uint64{
			"change a flag": allocated(func(i int) {
				s.Apply(guidon.SnapshotDelta{Flags: []*guidon.Flag{benchFlag(i * 97 % n)}})
			}),
			"create a flag": allocated(func(i int) {
				s.Apply(guidon.SnapshotDelta{Flags: []*guidon.Flag{benchFlag(n + i)}})
			}),
			"delete a flag": allocated(func(i int) {
				s.Apply(guidon.SnapshotDelta{DeletedFlags: []string{benchFlag(i * 97 % n).Key}})
			}),
			"change a segment without flags": allocated(func(i int) {
				s.Apply(guidon.SnapshotDelta{Segments: []*guidon.Segment{{Key: "new", Created: guidon.Position{Sequence: 20}}}})
			}),
			"change a flag and find the users of its segment": allocated(func(i int) {
				next := s.Apply(guidon.SnapshotDelta{Flags: []*guidon.Flag{benchFlag(i*96%n + 1)}})
				if got := next.SegmentUsers(benchSegmentKey(0)).Len(); got != users {
					t.Fatalf("got %d users, want %d", got, users)
				}
			}),
		}
	}
	for what, before := range cost[few] {
		if after := cost[many][what]; after > 2*before {
			t.Errorf("%s: %d bytes with %d flags, %d with %d", what, before, few, after, many)
		}
	}
}

// flagKeysInOrder is a derivation for TestFlagsDerivationRandomly.
var flagKeysInOrder = guidon.NewFlagsDerivation(map[string]*guidon.CompiledFlag{}, func(before map[string]*guidon.CompiledFlag, changes []guidon.FlagChange) map[string]*guidon.CompiledFlag {
	after := make(map[string]*guidon.CompiledFlag, len(before))
	for key, f := range before {
		after[key] = f
	}
	for _, c := range changes {
		if c.Before != nil {
			if key := c.Before.Flag().Key; after[key] != c.Before {
				panic(fmt.Sprintf("the flag %q is not the one that was changed", key))
			}
			delete(after, c.Before.Flag().Key)
		}
		if c.After != nil {
			after[c.After.Flag().Key] = c.After
		}
	}
	return after
})

// TestFlagsDerivationRandomly: what is derived from an earlier value equals what is derived
// from nothing, whether the value has been read after each change or not, and also for
// several snapshots that follow the same one.
func TestFlagsDerivationRandomly(t *testing.T) {
	for seed := range uint64(5) {
		w := newWorld(seed)
		w.flagKeys = 300
		for range 2_000 {
			w.revision++
			w.change()
		}
		w.takeDelta()
		s := w.snapshot()
		for step := range 200 {
			for range w.random.IntN(5) + 1 {
				w.revision++
				w.change()
			}
			delta := w.takeDelta()
			s.Apply(guidon.SnapshotDelta{DeletedFlags: flagKeys(s)[:2]}) // another successor
			if s = s.Apply(delta); w.random.IntN(3) == 0 {
				checkDerived(t, fmt.Sprintf("seed %d, step %d", seed, step), s, w.snapshot())
				checkDerived(t, fmt.Sprintf("seed %d, step %d, at a time", seed, step), s.At(instant(1+w.random.IntN(timesOfRules))), w.snapshot())
			}
		}
	}
}

func checkDerived(t *testing.T, at string, got, want *guidon.Snapshot) {
	t.Helper()
	derived := flagKeysInOrder.Of(got)
	if len(derived) != len(want.Flags()) {
		t.Fatalf("%s: derived from %d flags, want %d", at, len(derived), len(want.Flags()))
	}
	for key, f := range derived {
		if f != got.Compiled(key) {
			t.Fatalf("%s: derived from an earlier flag %q", at, key)
		}
	}
	for i := range 6 {
		key := fmt.Sprintf("segment-%d", i)
		if !slices.Equal(slices.Collect(got.SegmentUsers(key).All()), slices.Collect(want.SegmentUsers(key).All())) {
			t.Fatalf("%s: other users of %s", at, key)
		}
	}
}

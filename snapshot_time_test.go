package guidon_test

import (
	"math/rand/v2"
	"reflect"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/flagtest"
)

// timesOfRules is how many different times the rules of random flags have.
const timesOfRules = 6

// instant returns the i-th of the times, or zero for 0.
func instant(i int) time.Time {
	if i == 0 {
		return time.Time{}
	}
	return flagtest.FuzzedStart.Add(time.Duration(i) * time.Hour)
}

// during returns a rollout of true for everyone, from the i-th to the j-th instant.
func during(i, j int) *guidon.Rollout {
	r := flagtest.Threshold(100, true)
	r.Conditions = guidon.Conditions{From: instant(i), Until: instant(j)}.OrNil()
	return r
}

// scheduled returns a snapshot of a boolean flag with the key "f", which is false unless a
// rollout holds.
func scheduled(rollouts ...*guidon.Rollout) *guidon.Snapshot {
	return flagtest.SnapshotOf(flagtest.BooleanFlag("f", false, rollouts...))
}

func enabled(t *testing.T, s *guidon.Snapshot) bool {
	t.Helper()
	result, err := s.Boolean("f", "user", nil)
	if err != nil {
		t.Fatal(err)
	}
	return result.Enabled
}

// TestAt: a rule holds from the first instant to, and without, the last one, to the
// nanosecond. The epoch is named by the boundary that has passed.
func TestAt(t *testing.T) {
	type state struct {
		Enabled     bool
		Epoch, Next time.Time
	}
	first, second, third := instant(1), instant(2), instant(3)
	tests := []struct {
		name  string
		s     *guidon.Snapshot
		at    time.Time
		holds state
	}{
		{"before from", scheduled(during(1, 2)), first.Add(-1), state{false, time.Unix(0, 0).UTC(), first}},
		{"at from", scheduled(during(1, 2)), first, state{true, first, second}},
		{"before until", scheduled(during(1, 2)), second.Add(-1), state{true, first, second}},
		{"at until", scheduled(during(1, 2)), second, state{false, second, time.Time{}}},
		{"only from, before", scheduled(during(1, 0)), first.Add(-1), state{false, time.Unix(0, 0).UTC(), first}},
		{"only from, long after", scheduled(during(1, 0)), third, state{true, first, time.Time{}}},
		{"only until, long before", scheduled(during(0, 3)), time.Time{}, state{true, time.Unix(0, 0).UTC(), third}},
		{"only until, at it", scheduled(during(0, 3)), third, state{false, third, time.Time{}}},
		{"two rules, at the end of one and the start of the other", scheduled(during(1, 2), during(2, 3)), second, state{true, second, third}},
		{"two rules, after both", scheduled(during(1, 2), during(2, 3)), third, state{false, third, time.Time{}}},
		{"no times", scheduled(during(0, 0)), third, state{true, time.Unix(0, 0).UTC(), time.Time{}}},
		{"in another time zone", scheduled(during(1, 2)), first.In(time.FixedZone("", 3600)), state{true, first, second}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for how, s := range map[string]*guidon.Snapshot{"At": tt.s.At(tt.at), "Preview": tt.s.Preview(tt.at)} {
				got := state{enabled(t, s), time.Unix(s.Epoch(), 0).UTC(), s.Next()}
				if diff := cmp.Diff(tt.holds, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", how, diff)
				}
			}
		})
	}
}

// TestAtKeeps: a snapshot computes each epoch once as long as the time does not go back, and
// is itself that of the first one. A clock that is set back, and a preview, get their own.
func TestAtKeeps(t *testing.T) {
	s := scheduled(during(1, 2), during(3, 0))
	if s.At(instant(1).Add(-1)) != s {
		t.Error("before the first boundary: not the snapshot itself")
	}
	current := make([]*guidon.Snapshot, 32)
	var wg sync.WaitGroup
	for i := range current {
		wg.Go(func() { current[i] = s.At(instant(1).Add(time.Duration(i) * time.Minute)) })
	}
	wg.Wait()
	for _, got := range current {
		if got != current[0] || got == s {
			t.Fatal("concurrent calls in one epoch return different snapshots")
		}
	}
	if preview := s.Preview(instant(3)); !enabled(t, preview) || preview.Epoch() != instant(3).Unix() {
		t.Errorf("preview: got enabled %v in epoch %d", enabled(t, preview), preview.Epoch())
	}
	if s.At(instant(1)) != current[0] || s.Preview(instant(1)) != current[0] || current[0].At(instant(1)) != current[0] {
		t.Error("the snapshot of the epoch is not kept")
	}
	if enabled(t, current[0].At(instant(2))) {
		t.Error("the snapshot of an epoch does not give the next one")
	}
	if back := s.At(instant(1)); !enabled(t, back) || back.Epoch() != instant(1).Unix() {
		t.Errorf("after the clock is set back: got enabled %v in epoch %d", enabled(t, back), back.Epoch())
	}
}

// TestAtWithoutTimes: a snapshot without times is that of all epochs, without an allocation.
func TestAtWithoutTimes(t *testing.T) {
	s := scheduled(flagtest.Threshold(100, true))
	if s.Timed() || s.At(instant(1)) != s || s.Preview(instant(1)) != s || !s.Next().IsZero() {
		t.Error("it depends on the time")
	}
	ignored := flagtest.VariantFlag("f") // its rollouts are not evaluated
	ignored.Rollouts = []*guidon.Rollout{during(1, 2)}
	if flagtest.SnapshotOf(ignored).Timed() {
		t.Error("a rollout of a variant flag has boundaries")
	}
	timed := scheduled(during(1, 2))
	timed.At(instant(1))
	for name, s := range map[string]*guidon.Snapshot{"without times": s, "in one epoch": timed} {
		if allocations := testing.AllocsPerRun(100, func() { s.At(instant(1)) }); allocations > 0 {
			t.Errorf("%s: %v allocations", name, allocations)
		}
	}
}

// TestAtAfterApply: times come and go with flags.
func TestAtAfterApply(t *testing.T) {
	flag := func(rollouts ...*guidon.Rollout) guidon.SnapshotDelta {
		return guidon.SnapshotDelta{Flags: []*guidon.Flag{flagtest.BooleanFlag("f", false, rollouts...)}}
	}
	s := scheduled().Apply(flag(during(1, 0)))
	if !s.Timed() || enabled(t, s) || !enabled(t, s.At(instant(1))) {
		t.Error("the changed flag has no boundary")
	}
	if late := s.At(instant(1)).Apply(flag(during(2, 0))).At(instant(1)); enabled(t, late) || late.Next() != instant(2) {
		t.Errorf("moved from: got enabled %v until %v", enabled(t, late), late.Next())
	}
	if early := scheduled(during(3, 0)).Apply(flag(during(1, 0))).At(instant(2)); !enabled(t, early) {
		t.Error("a boundary that has passed when the flag is changed has no effect")
	}
	if s.Apply(flag(during(0, 0))).Timed() || s.Apply(guidon.SnapshotDelta{DeletedFlags: []string{"f"}}).Timed() {
		t.Error("the time of a former flag remains")
	}
}

// TestBoundaries: each second in which rules begin or end, and each minute around it, answers are
// the same as in the instant before, except at boundaries, which the snapshot before states.
func TestBoundaries(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	instants := instantsOfRules()
	inSeconds, inMinutes := 0, 0
	for range 2_000 {
		data := make([]byte, 400)
		for i := range data {
			data[i] = byte(random.Uint32()) // #nosec G115 -- the low byte is meant
		}
		input := flagtest.NewTargetedInput(data)
		flag := input.Flag()
		s := flagtest.SnapshotOf(flag, input.Segments("5")...)
		if !s.Timed() {
			continue
		}
		before, in := answersAt(s, instants[0].Add(-1))
		for _, at := range instants {
			if almost, now := answersAt(s, at.Add(-1)); now != in || !reflect.DeepEqual(before, almost) {
				t.Fatalf("an answer or the epoch changes between %v and the instant before:\n%s", at, flagtest.Text(flag))
			}
			after, now := answersAt(s, at)
			if begins := in.Next().Equal(at); begins != (now.Epoch() == at.Unix()) || begins == (now == in) {
				t.Fatalf("at %v the epoch is %d, after %d until %v:\n%s", at, now.Epoch(), in.Epoch(), in.Next(), flagtest.Text(flag))
			}
			if !reflect.DeepEqual(before, after) {
				if now == in {
					t.Fatalf("an answer changes at %v, which is no boundary:\n%s", at, flagtest.Text(flag))
				}
				if during := at.Sub(flagtest.FuzzedStart); during >= 0 && during < time.Minute {
					inSeconds++
				} else {
					inMinutes++
				}
			}
			before, in = after, now
		}
	}
	if inSeconds < 200 || inMinutes < 100 {
		t.Errorf("answers changed at only %d seconds and %d minutes, so the test shows little", inSeconds, inMinutes)
	}
}

// instantsOfRules returns the seconds at which rules of targeted inputs may begin or end, with
// some more, and the minutes at which most of their ramps change.
func instantsOfRules() (instants []time.Time) {
	for i := range 3 * flagtest.FuzzedMinutes {
		minute := flagtest.FuzzedStart.Add(time.Duration(i-flagtest.FuzzedMinutes) * time.Minute)
		instants = append(instants, minute)
		for second := 1; minute.Equal(flagtest.FuzzedStart) && second < flagtest.FuzzedTimes+2; second++ {
			instants = append(instants, minute.Add(time.Duration(second)*time.Second))
		}
	}
	return instants
}

// answersAt returns the answers of the only flag for some entities, and the snapshot that gives them.
func answersAt(s *guidon.Snapshot, now time.Time) (answers []any, at *guidon.Snapshot) {
	at = s.At(now)
	for id := range 10 {
		context := map[string]string{"p0": "5", "p1": "x"}
		if at.Flag("flag").Type == guidon.VariantFlag {
			variant, err := at.Variant("flag", strconv.Itoa(id), context)
			answers = append(answers, variant, err == nil)
			continue
		}
		boolean, err := at.Boolean("flag", strconv.Itoa(id), context)
		answers = append(answers, boolean, err == nil)
	}
	return answers, at
}

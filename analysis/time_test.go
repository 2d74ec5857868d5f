package analysis_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/internal/flagtest"
)

var hour = time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)

// hours returns the i-th hour after the time, or zero for 0.
func hours(i int) time.Time {
	if i == 0 {
		return time.Time{}
	}
	return hour.Add(time.Duration(i) * time.Hour)
}

// during returns a rollout of true for a share of everyone, from the i-th to the j-th hour.
func during(percentage float32, i, j int) *guidon.Rollout {
	r := flagtest.Threshold(percentage, true)
	r.Conditions = guidon.Conditions{From: hours(i), Until: hours(j)}.OrNil()
	return r
}

func TestTimesWords(t *testing.T) {
	second := hour.Add(30 * time.Second)
	for _, test := range []struct {
		from, until time.Time
		want        string
	}{
		{time.Time{}, time.Time{}, ""},
		{hour, time.Time{}, "from 1 December 2026 09:00 UTC"},
		{time.Time{}, second, "until 1 December 2026 09:00:30 UTC"},
		{hour, second, "from 1 December 2026 09:00 UTC until 1 December 2026 09:00:30 UTC"},
		{hour.In(time.FixedZone("", 3600)), time.Time{}, "from 1 December 2026 09:00 UTC"},
	} {
		if got := analysis.TimesWords(&guidon.Conditions{From: test.from, Until: test.until}); got != test.want {
			t.Errorf("from %v until %v: got %q, want %q", test.from, test.until, got, test.want)
		}
	}
}

// TestTimelineOf: boundaries are in order and each once, with all rules that begin or end there.
func TestTimelineOf(t *testing.T) {
	f := flagtest.BooleanFlag("f", false, during(10, 2, 3), during(20, 1, 2), during(30, 0, 3), during(40, 0, 0))
	all := []analysis.Boundary{
		{At: hours(1), Rules: []analysis.RuleBoundary{{Index: 1}}},
		{At: hours(2), Rules: []analysis.RuleBoundary{{Index: 0}, {Index: 1, Ends: true}}},
		{At: hours(3), Rules: []analysis.RuleBoundary{{Index: 0, Ends: true}, {Index: 2, Ends: true}}},
	}
	for epoch, want := range map[time.Time][]analysis.Boundary{
		time.Unix(0, 0):            all,
		hours(1).Add(-time.Second): all,
		hours(1):                   all[1:],
		hours(2):                   all[2:],
		hours(3):                   nil,
	} {
		got, more := analysis.TimelineOf(f, epoch.Unix())
		if diff := cmp.Diff(want, got); diff != "" || more {
			t.Errorf("after %v (-want +got):\n%s more: %t", epoch, diff, more)
		}
	}
	f.Type = guidon.VariantFlag
	if got, _ := analysis.TimelineOf(f, 0); got != nil {
		t.Errorf("rollouts of a variant flag: got %v", got)
	}
}

// rising returns a threshold that reaches the percentage in so many hours.
func rising(percentage float32, hours int) *guidon.Rollout {
	r := flagtest.Threshold(percentage, true)
	r.Threshold.Ramp = &guidon.Ramp{Start: flagtest.FuzzedStart, Over: time.Duration(hours) * time.Hour}
	return r
}

// TestTimelineOfRamps: a ramp is in the timeline where it changes the buckets of its share. Not all
// changes of many ramps are.
func TestTimelineOfRamps(t *testing.T) {
	got, more := analysis.TimelineOf(flagtest.BooleanFlag("f", false, rising(4, 10)), 0)
	var want []analysis.Boundary
	for i, percentage := range []float32{0.04, 1.04, 2.04, 3.04} { // the first of each bucket
		at := flagtest.FuzzedStart.Add(time.Duration(6*(25*i+1)) * time.Minute)
		want = append(want, analysis.Boundary{At: at, Rules: []analysis.RuleBoundary{{Index: 0, Percentage: &percentage}}})
	}
	if diff := cmp.Diff(want, got); diff != "" || more {
		t.Errorf("(-want +got):\n%s more: %t", diff, more)
	}
	var many []*guidon.Rollout
	for i := range 20 {
		r := rising(100, 24)
		r.Threshold.Ramp.Start = r.Threshold.Ramp.Start.Add(time.Duration(i) * time.Minute)
		many = append(many, r)
	}
	if got, more := analysis.TimelineOf(flagtest.BooleanFlag("f", false, many...), 0); len(got) != 1000 || !more {
		t.Errorf("got %d boundaries, more: %t, want 1000 and more", len(got), more)
	}
}

// TestLater: an effect lists the boundaries of both states at which it differs from that before.
func TestLater(t *testing.T) {
	type effects = map[string][]string
	for _, test := range []struct {
		name          string
		at            time.Time
		before, after []*guidon.Rollout
		want          effects
	}{
		{"no times", hour, nil, []*guidon.Rollout{during(25, 0, 0)}, effects{"now": {"25% of all entities go from off to on"}}},
		{"a rule that begins", hour, nil, []*guidon.Rollout{during(25, 1, 0)}, effects{"10:00": {"25% of all entities go from off to on"}}},
		{"it has begun", hours(1), nil, []*guidon.Rollout{during(25, 1, 0)}, effects{"now": {"25% of all entities go from off to on"}}},
		{"a rule that ends", hour, nil, []*guidon.Rollout{during(25, 0, 1)}, effects{"now": {"25% of all entities go from off to on"}, "10:00": nil}},
		{"a rule that would have ended", hour, []*guidon.Rollout{during(25, 0, 1)}, []*guidon.Rollout{during(25, 0, 0)},
			effects{"10:00": {"25% of all entities go from off to on"}}},
		{"the same at a boundary", hour, []*guidon.Rollout{during(10, 1, 0)}, []*guidon.Rollout{during(10, 1, 2)},
			effects{"11:00": {"10% of all entities go from on to off"}}},
		{"moved", hour, []*guidon.Rollout{during(100, 1, 0)}, []*guidon.Rollout{during(100, 2, 0)},
			effects{"10:00": {"all entities go from on to off"}, "11:00": nil}},
		{"unchanged", hour, []*guidon.Rollout{during(10, 1, 2)}, []*guidon.Rollout{during(10, 1, 2)}, effects{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			state := func(rollouts []*guidon.Rollout) *guidon.Snapshot {
				return flagtest.SnapshotOf(flagtest.BooleanFlag("f", false, rollouts...)).At(test.at)
			}
			e, err := analysis.EffectOf(t.Context(), state(test.before), state(test.after), "f")
			if err != nil {
				t.Fatal(err)
			}
			got := effects{}
			if now := moves(e); len(now) > 0 {
				got["now"] = now
			}
			for _, l := range e.Later {
				got[l.At.Format("15:04")] = moves(l.Effect)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// moves returns who gets something else by the effect, in words.
func moves(e *analysis.Effect) (words []string) {
	for i := range e.Groups {
		for j := range e.Groups[i].Moves {
			words = append(words, e.Describe(&e.Groups[i], &e.Groups[i].Moves[j]))
		}
	}
	return words
}

// TestLaterLimit: an effect is computed for the next 20 boundaries.
func TestLaterLimit(t *testing.T) {
	var rollouts []*guidon.Rollout
	for i := range 15 {
		rollouts = append(rollouts, during(50, 2*i+1, 2*i+2))
	}
	before := flagtest.SnapshotOf(flagtest.BooleanFlag("f", false))
	e, err := analysis.EffectOf(t.Context(), before, flagtest.SnapshotOf(flagtest.BooleanFlag("f", false, rollouts...)), "f")
	if err != nil || len(e.Later) != 20 || !e.Later[19].At.Equal(hours(20)) {
		t.Errorf("got %d later effects, %v, want 20", len(e.Later), err)
	}
	e, err = analysis.EffectOf(t.Context(), before, flagtest.SnapshotOf(flagtest.BooleanFlag("f", false, rising(100, 100), during(50, 2, 3))), "f")
	if err != nil || len(e.Later) == 0 {
		t.Fatal(e, err)
	}
	var at []time.Duration
	for _, later := range e.Later {
		at = append(at, later.At.Sub(flagtest.FuzzedStart))
	}
	if diff := cmp.Diff([]time.Duration{time.Hour, 2 * time.Hour, 3 * time.Hour, 27 * time.Hour, 51 * time.Hour, 75 * time.Hour, 100 * time.Hour}, at); diff != "" {
		t.Errorf("the effects of a ramp (-want +got):\n%s", diff)
	}
}

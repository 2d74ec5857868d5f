package guidon_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/flagtest"
)

// minute returns the instant so many minutes after the start of most ramps.
func minute(i int) time.Time { return flagtest.FuzzedStart.Add(time.Duration(i) * time.Minute) }

// linear returns a ramp that begins at minute 0.
func linear(from float32, over time.Duration) *guidon.Ramp {
	return &guidon.Ramp{Start: minute(0), Initial: from, Over: over}
}

// stepped is linear for 20 % and then 40 %, for 5 minutes each.
func stepped(from float32) *guidon.Ramp {
	r := linear(from, 0)
	r.Steps = []guidon.RampStep{{Percentage: 20, For: 5 * time.Minute}, {Percentage: 40, For: 5 * time.Minute}}
	return r
}

// confirmed returns the ramp with the need of a confirmation every 5 minutes.
func confirmed(r *guidon.Ramp, lapse guidon.RampLapse, last time.Time) *guidon.Ramp {
	r.Confirm = &guidon.RampConfirm{Every: 5 * time.Minute, Lapse: lapse, Last: last}
	return r
}

func paused(r *guidon.Ramp, at int) *guidon.Ramp {
	r.Paused = minute(at)
	return r
}

func reversed(r *guidon.Ramp, at int) *guidon.Ramp {
	r.Reversed = minute(at)
	return r
}

func delayed(r *guidon.Ramp, by time.Duration) *guidon.Ramp {
	r.Delay = by
	return r
}

// rampShares are shares with different numbers of buckets.
var rampShares = []struct {
	name   string
	flag   func(r *guidon.Ramp, target float32) *guidon.Flag
	bucket func(percentage float32) float64 // at which the share ends
}{
	{"threshold", func(r *guidon.Ramp, target float32) *guidon.Flag {
		t := flagtest.Threshold(target, true)
		t.Threshold.Ramp = r
		return flagtest.BooleanFlag("f", false, t)
	}, func(percentage float32) float64 { return math.Ceil(float64(percentage)) }},
	{"portion", func(r *guidon.Ramp, target float32) *guidon.Flag {
		portion := flagtest.SegmentRollout(true, guidon.OrSegments)
		portion.Conditions = &guidon.Conditions{Everyone: true, Portion: &guidon.Portion{Percentage: target, Ramp: r}}
		return flagtest.BooleanFlag("f", false, portion)
	}, func(percentage float32) float64 { return math.Round(1000 * float64(percentage)) }},
	{"portion of a layer, with coarse buckets", func(r *guidon.Ramp, target float32) *guidon.Flag {
		rule := flagtest.Rule(flagtest.Shares{100})
		rule.Conditions = &guidon.Conditions{Everyone: true, Portion: &guidon.Portion{
			Start: 12.5, Percentage: target, Split: guidon.Split{Hash: guidon.FliptHash}, Ramp: r,
		}}
		return flagtest.VariantFlag("f", rule)
	}, func(percentage float32) float64 { return min(math.Floor(float64((12.5+percentage)*10)), 1000) }},
	{"threshold of a layer, with fine buckets", func(r *guidon.Ramp, target float32) *guidon.Flag {
		t := flagtest.Threshold(target, true)
		t.Threshold.Start, t.Threshold.Split, t.Threshold.Ramp = 33.333, &guidon.Split{Hash: guidon.FliptFineHash}, r
		return flagtest.BooleanFlag("f", false, t)
	}, func(percentage float32) float64 { return min(math.Round(1000*float64(33.333+percentage)), 100_000) }},
}

// rampTo returns a snapshot of a boolean flag with the key "f", of which a threshold follows the
// ramp.
func rampTo(target float32, r *guidon.Ramp) *guidon.Snapshot {
	return flagtest.SnapshotOf(rampShares[0].flag(r, target))
}

func percentageAt(r *guidon.Ramp, target float32, at time.Time) float32 {
	return r.PercentageAt(at.Unix(), target)
}

// TestRampPercentage: the percentages of ramps, minute by minute.
func TestRampPercentage(t *testing.T) {
	const long = 1_000_000
	type percentages map[int]float32 // by minute
	for _, tt := range []struct {
		name   string
		ramp   *guidon.Ramp
		target float32
		want   percentages
	}{
		{"linear over 72 hours", linear(5, 72*time.Hour), 100,
			percentages{-long: 5, -1: 5, 0: 5, 43: 5, 44: 5.95, 86: 5.95, 87: 6.9, 36 * 60: 52.5, 72*60 - 1: 99.05, 72 * 60: 100, long: 100}},
		{"linear over 3 minutes", linear(0, 3*time.Minute), 100, percentages{-1: 0, 0: 0, 1: 100. / 3, 2: 200. / 3, 3: 100}},
		{"linear over a minute", linear(5, time.Minute), 100, percentages{-1: 5, 0: 5, 1: 100}},
		{"linear over 150 minutes", linear(0, 150*time.Minute), 100, percentages{1: 0, 2: 1, 3: 2, 4: 2, 5: 3, 149: 99, 150: 100}},
		{"down", linear(100, 4*time.Minute), 0, percentages{-1: 100, 0: 100, 1: 75, 2: 50, 3: 25, 4: 0, long: 0}},
		{"stepped", stepped(2), 60, percentages{-1: 2, 0: 20, 4: 20, 5: 40, 9: 40, 10: 60, long: 60}},
		{"stepped from nothing", stepped(0), 60, percentages{-1: 0, 0: 20}},
		{"delayed", delayed(stepped(2), 3*time.Minute), 60, percentages{-1: 2, 2: 2, 3: 20, 7: 20, 8: 40, 12: 40, 13: 60}},
		{"paused", paused(linear(0, 20*time.Minute), 10), 100, percentages{9: 45, 10: 50, 11: 50, long: 50}},
		{"paused before the start", paused(linear(5, 20*time.Minute), -1), 100, percentages{-2: 5, 0: 5, long: 5}},
		{"paused after the end", paused(linear(5, 20*time.Minute), 21), 100, percentages{19: 95.25, 20: 100, long: 100}},
		{"reversed", reversed(linear(10, 20*time.Minute), 10), 100, percentages{9: 50.5, 10: 55, 11: 50.5, 19: 14.5, 20: 10, 21: 10, long: 10}},
		{"reversed after the end", reversed(stepped(10), 12), 60,
			percentages{9: 40, 10: 60, 12: 60, 13: 40, 17: 40, 18: 20, 22: 20, 23: 10, long: 10}},
		{"reversed before the start", reversed(stepped(10), -1), 60, percentages{-1: 10, 0: 10, long: 10}},
		{"reversed down", reversed(linear(100, 4*time.Minute), 3), 0, percentages{3: 25, 4: 50, 5: 75, 6: 100, long: 100}},
		{"held", confirmed(linear(0, 20*time.Minute), guidon.HoldRamp, time.Time{}), 100, percentages{4: 20, 5: 20, 6: 20, long: 20}},
		{"fallen back", confirmed(stepped(10), guidon.BackRamp, time.Time{}), 60, percentages{-1: 10, 0: 20, 4: 20, 5: 10, long: 10}},
		{"fallen back after a confirmation", confirmed(stepped(10), guidon.BackRamp, minute(3)), 60, percentages{4: 20, 5: 40, 7: 40, 8: 10, 10: 10}},
		{"at its end when not confirmed", confirmed(stepped(10), guidon.BackRamp, minute(5)), 60, percentages{9: 40, 10: 60, long: 60}},
		{"confirmed before the start", confirmed(stepped(10), guidon.BackRamp, minute(-9)), 60, percentages{0: 20, 4: 20, 5: 10}},
		{"confirmed during a delay", delayed(confirmed(stepped(10), guidon.BackRamp, minute(2)), 4*time.Minute), 60,
			percentages{3: 10, 4: 20, 8: 20, 9: 10}},
		{"paused before it lapsed", paused(confirmed(stepped(10), guidon.BackRamp, time.Time{}), 4), 60, percentages{4: 20, 5: 20, long: 20}},
		{"reversed before it lapsed", reversed(confirmed(stepped(10), guidon.BackRamp, time.Time{}), 4), 60, percentages{4: 20, 5: 20, 8: 20, 9: 10}},
		{"reversed while held", reversed(confirmed(linear(0, 20*time.Minute), guidon.HoldRamp, time.Time{}), 8), 100,
			percentages{5: 20, 8: 20, 9: 15, 13: 0, long: 0}},
		{"reversed after it fell back", reversed(confirmed(stepped(10), guidon.BackRamp, time.Time{}), 8), 60, percentages{8: 10, 9: 10, long: 10}},
		{"without a ramp", nil, 60, percentages{-long: 60, long: 60}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := percentages{}
			for i := range tt.want {
				got[i] = percentageAt(tt.ramp, tt.target, minute(i))
				if late := percentageAt(tt.ramp, tt.target, minute(i+1).Add(-time.Second)); late != got[i] {
					t.Errorf("minute %d begins with %v %% and ends with %v %%", i, got[i], late)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestRampBoundaries: a ramp has boundaries where it changes the buckets.
func TestRampBoundaries(t *testing.T) {
	threshold, portion := rampShares[0].flag, rampShares[1].flag
	together := rampShares[0].flag(linear(0, time.Minute), 100)
	together.Rollouts = append(together.Rollouts, threshold(stepped(0), 40).Rollouts...)
	for _, tt := range []struct {
		name string
		flag *guidon.Flag
		want []int // minutes
	}{
		{"1 % of 100 buckets", threshold(linear(0, 72*time.Hour), 1), []int{44}},
		{"the last of 100 %", threshold(linear(99.2, 2*time.Minute), 100), []int{2}},
		{"1 % down", threshold(linear(1, 72*time.Hour), 0), []int{72 * 60}},
		{"0.004 % of fine buckets", portion(linear(0, 100*time.Minute), 0.004), []int{13, 38, 63, 88}},
		{"steps", threshold(stepped(10), 60), []int{0, 5, 10}},
		{"steps, reversed", threshold(reversed(stepped(10), 7), 60), []int{0, 5, 10, 15}},
		{"to where it is", threshold(linear(60, time.Hour), 60), nil},
		{"paused before the start", threshold(paused(stepped(10), -1), 60), nil},
		{"paused", threshold(paused(stepped(10), 5), 60), []int{0, 5}},
		{"fallen back", portion(confirmed(stepped(10), guidon.BackRamp, time.Time{}), 60), []int{0, 5}},
		{"held", portion(confirmed(stepped(10), guidon.HoldRamp, minute(1)), 60), []int{0, 5}},
		{"two at the same minutes", together, []int{0, 1, 5}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []int
			for _, at := range tt.flag.Boundaries() {
				got = append(got, int(time.Unix(at, 0).Sub(minute(0))/time.Minute))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestRampThatHasEnded: a ramp whose end has passed, as after an import, has its target.
func TestRampThatHasEnded(t *testing.T) {
	s := rampTo(100, linear(0, 72*time.Hour)).At(minute(0).AddDate(1, 0, 0))
	if !enabled(t, s) || !s.Next().IsZero() {
		t.Errorf("got enabled %v, with a boundary at %v", enabled(t, s), s.Next())
	}
}

// TestRampBehindOff: a ramp goes on while the flag is off.
func TestRampBehindOff(t *testing.T) {
	rule := flagtest.Rule(flagtest.Shares{100})
	rule.Conditions = &guidon.Conditions{Everyone: true, Portion: &guidon.Portion{Percentage: 100, Ramp: linear(0, 10*time.Minute)}}
	on := flagtest.VariantFlag("f", rule)
	off := flagtest.Disabled(flagtest.Copy(on))
	s := flagtest.SnapshotOf(on)
	var got []int
	for i, f := range []*guidon.Flag{on, off, on} {
		s = s.Apply(guidon.SnapshotDelta{Flags: []*guidon.Flag{f}}).At(minute(1 + 4*i))
		matched := 0
		for id := range 1000 {
			if result, err := s.Variant("f", fmt.Sprint(id), nil); err != nil {
				t.Fatal(err)
			} else if result.Match {
				matched++
			}
		}
		got = append(got, int(math.Round(float64(matched)/100)))
	}
	if diff := cmp.Diff([]int{1, 0, 9}, got); diff != "" {
		t.Errorf("tenths that match while on, off and on again (-want +got):\n%s", diff)
	}
}

// TestRampEntities: entities only join while a ramp goes on, and only leave while it runs back.
func TestRampEntities(t *testing.T) {
	for _, share := range rampShares {
		s := flagtest.SnapshotOf(share.flag(reversed(linear(10, 150*time.Minute), 120), 80))
		before, moves := rampMembers(t, s.At(minute(-1))), 0
		for i := range 260 {
			after := rampMembers(t, s.At(minute(i)))
			for id := range after {
				if moved := before[id] != after[id]; moved && after[id] != (i <= 120) {
					t.Errorf("%s: entity %d at minute %d: in the share is %v", share.name, id, i, after[id])
				} else if moved {
					moves++
				}
			}
			before = after
		}
		if moves < 150 {
			t.Errorf("%s: only %d moves", share.name, moves)
		}
	}
}

// rampMembers returns whether each of some entities is in the share of the flag.
func rampMembers(t *testing.T, s *guidon.Snapshot) (members [200]bool) {
	t.Helper()
	for id := range members {
		variant, err := s.Variant("f", fmt.Sprint(id), nil)
		boolean, wrong := s.Boolean("f", fmt.Sprint(id), nil)
		if err != nil && wrong != nil {
			t.Fatal(err, wrong)
		}
		members[id] = variant.Match || boolean.Enabled
	}
	return members
}

// rampAction is what somebody does with a ramp.
type rampAction struct {
	name string
	do   func(*guidon.Ramp, time.Time) (*guidon.Ramp, error)
}

var rampActions = []rampAction{
	{"pause", (*guidon.Ramp).Pause}, {"resume", (*guidon.Ramp).Resume},
	{"reverse", (*guidon.Ramp).Reverse}, {"confirm", (*guidon.Ramp).Confirmed},
}

// TestRampActions: what each action does in each phase, at minute 7 of the ramp. Either way it
// leaves the ramp alone.
func TestRampActions(t *testing.T) {
	const notRunning, notPaused, ended, unconditional = "the ramp is not running", "the ramp is not paused", "the ramp has ended", "the ramp needs no confirmation"
	const waiting, running, pausing, lapsed, reversing = guidon.RampWaiting, guidon.RampRunning, guidon.RampPaused, guidon.RampLapsed, guidon.RampReversing
	soon := func(r *guidon.Ramp) *guidon.Ramp { return delayed(r, 8*time.Minute) }
	for _, tt := range []struct {
		name  string
		ramp  *guidon.Ramp
		phase guidon.RampPhase
		after [4]any // the phase after pause, resume, reverse and confirm, or the error
	}{
		{"waiting", soon(confirmed(stepped(10), guidon.BackRamp, time.Time{})), waiting, [4]any{pausing, notPaused, notRunning, waiting}},
		{"running", confirmed(stepped(10), guidon.BackRamp, minute(3)), running, [4]any{pausing, notPaused, reversing, running}},
		{"running without confirmations", stepped(10), running, [4]any{pausing, notPaused, reversing, unconditional}},
		{"at its start", delayed(stepped(10), 7*time.Minute), running, [4]any{pausing, notPaused, reversing, unconditional}},
		{"paused", paused(confirmed(stepped(10), guidon.BackRamp, time.Time{}), 4), pausing, [4]any{notRunning, running, reversing, pausing}},
		{"paused now", paused(stepped(10), 7), pausing, [4]any{notRunning, running, reversing, unconditional}},
		{"paused later", paused(stepped(10), 8), running, [4]any{pausing, notPaused, reversing, unconditional}},
		{"paused before the start", paused(stepped(10), -1), pausing, [4]any{notRunning, waiting, notRunning, unconditional}},
		{"held", confirmed(stepped(10), guidon.HoldRamp, minute(2)), lapsed, [4]any{notRunning, notPaused, reversing, running}},
		{"fallen back", confirmed(stepped(10), guidon.BackRamp, minute(2)), lapsed, [4]any{notRunning, notPaused, notRunning, waiting}},
		{"reversed", reversed(confirmed(stepped(10), guidon.BackRamp, time.Time{}), 4), reversing, [4]any{notRunning, notPaused, notRunning, reversing}},
		{"reversed while paused", reversed(paused(stepped(10), 4), 7), reversing, [4]any{notRunning, notPaused, notRunning, unconditional}},
		{"reversed to its start", reversed(stepped(10), 1), reversing, [4]any{notRunning, notPaused, notRunning, unconditional}},
		{"ended", confirmed(linear(10, 7*time.Minute), guidon.BackRamp, minute(2)), guidon.RampEnded, [4]any{ended, notPaused, reversing, ended}},
		{"ended without confirmations", linear(10, 5*time.Minute), guidon.RampEnded, [4]any{ended, notPaused, reversing, unconditional}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			now := minute(8).Add(-1)
			if got := tt.ramp.Phase(now); got != tt.phase {
				t.Fatalf("the phase is %d, want %d", got, tt.phase)
			}
			for i, action := range rampActions {
				before := tt.ramp.Clone()
				next, err := action.do(tt.ramp, now)
				if diff := cmp.Diff(before, tt.ramp); diff != "" {
					t.Errorf("%s changes the ramp that it gets (-before +after):\n%s", action.name, diff)
				}
				text, refused := tt.after[i].(string)
				flagtest.CheckError(t, err, guidon.FailedPrecondition, text)
				if !refused && err == nil && next.Phase(now) != tt.after[i] {
					t.Errorf("%s: the phase is %d, want %d", action.name, next.Phase(now), tt.after[i])
				}
			}
		})
	}
}

// TestRampResult: the members that actions set, in whole minutes.
func TestRampResult(t *testing.T) {
	now := minute(8).Add(-1)
	confirmedAt := func(r *guidon.Ramp, last int, delay time.Duration) *guidon.Ramp {
		return delayed(confirmed(r, guidon.HoldRamp, minute(last)), delay)
	}
	for _, tt := range []struct {
		name       string
		action     rampAction
		ramp, want *guidon.Ramp
	}{
		{"pause", rampActions[0], confirmedAt(stepped(10), 3, 0), paused(confirmedAt(stepped(10), 3, 0), 7)},
		{"resume", rampActions[1], paused(confirmedAt(stepped(10), 3, time.Minute), 5), confirmedAt(stepped(10), 7, 3*time.Minute)},
		{"resume before the start", rampActions[1], delayed(paused(stepped(10), 2), time.Hour), delayed(stepped(10), time.Hour+5*time.Minute)},
		{"reverse", rampActions[2], confirmedAt(stepped(10), 3, 0), reversed(confirmedAt(stepped(10), 7, 0), 7)},
		{"reverse while paused", rampActions[2], paused(stepped(10), 5), reversed(delayed(stepped(10), 2*time.Minute), 7)},
		{"reverse while held", rampActions[2], confirmedAt(stepped(10), 1, 0), reversed(confirmedAt(stepped(10), 7, 2*time.Minute), 7)},
		{"confirm", rampActions[3], confirmedAt(stepped(10), 3, 0), confirmedAt(stepped(10), 7, 0)},
		{"confirm while held", rampActions[3], confirmedAt(stepped(10), 1, 0), confirmedAt(stepped(10), 7, 2*time.Minute)},
		{"confirm while reversed", rampActions[3], reversed(confirmedAt(stepped(10), 3, 0), 4), reversed(confirmedAt(stepped(10), 7, 0), 4)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.action.do(tt.ramp, now)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// walk is a ramp that goes on minute by minute, and is acted on directly: it remembers where it
// is instead of computing that from times.
type walk struct {
	percentages               []float32 // from the start to the end
	initial                   float32
	position                  int // minutes from the start; negative at the initial percentage
	paused, reversing, lapsed bool
	every, unconfirmed        int // minutes; every is 0 if it needs no confirmation
	back                      bool
}

func (w *walk) end() int { return len(w.percentages) - 1 }

func (w *walk) percentage() float32 {
	if w.position < 0 {
		return w.initial
	}
	return w.percentages[w.position]
}

func (w *walk) phase() guidon.RampPhase {
	switch {
	case w.reversing:
		return guidon.RampReversing
	case w.position == w.end():
		return guidon.RampEnded
	case w.paused:
		return guidon.RampPaused
	case w.lapsed:
		return guidon.RampLapsed
	case w.position < 0:
		return guidon.RampWaiting
	}
	return guidon.RampRunning
}

// tick is the next minute.
func (w *walk) tick() {
	switch w.phase() {
	case guidon.RampReversing:
		w.position = max(w.position-1, -1)
	case guidon.RampWaiting:
		w.position++
	case guidon.RampRunning:
		w.unconfirmed++
		if w.lapsed = w.every > 0 && w.unconfirmed >= w.every && w.position+1 < w.end(); !w.lapsed {
			w.position++
		} else if w.back {
			w.position = -1
		}
	}
}

// act does the action with the index in rampActions, and reports whether that is possible.
func (w *walk) act(action int) (possible bool) {
	phase := w.phase()
	switch rampActions[action].name {
	case "pause":
		if possible = phase == guidon.RampWaiting || phase == guidon.RampRunning; possible {
			w.paused = true
		}
		return possible
	case "resume":
		if possible = phase == guidon.RampPaused; possible {
			w.paused = false
		}
	case "reverse":
		if possible = !w.reversing && w.position >= 0; possible {
			w.reversing = true
		}
	case "confirm":
		if possible = w.every > 0 && phase != guidon.RampEnded; possible {
			w.lapsed = false
		}
	}
	if possible {
		w.unconfirmed = 0
	}
	return possible
}

// randomRamp returns a ramp that has not begun, and its walk. All of its percentages are in one
// direction.
func randomRamp(random *rand.Rand) (r *guidon.Ramp, target float32, w *walk) {
	r, w = &guidon.Ramp{Start: minute(random.IntN(10))}, &walk{}
	percentages := make([]float32, 3+random.IntN(4))
	for i := range percentages {
		percentages[i] = float32(random.IntN(301)) / 3
	}
	slices.Sort(percentages)
	if random.IntN(3) == 0 {
		slices.Reverse(percentages)
	}
	last := len(percentages) - 1
	r.Initial, target = percentages[0], percentages[last]
	if random.IntN(2) == 0 {
		over := 1 + random.IntN([]int{10, 120, 300}[random.IntN(3)])
		r.Over = time.Duration(over) * time.Minute
		n, done := min(over, 100), 0
		for i := range over {
			for n*i >= (done+1)*over {
				done++
			}
			w.percentages = append(w.percentages, float32(float64(r.Initial)+(float64(target)-float64(r.Initial))*float64(done)/float64(n)))
		}
	} else {
		for _, p := range percentages[1:last] {
			length := 1 + random.IntN(60)
			r.Steps = append(r.Steps, guidon.RampStep{Percentage: p, For: time.Duration(length) * time.Minute})
			w.percentages = append(w.percentages, slices.Repeat([]float32{p}, length)...)
		}
	}
	w.percentages = append(w.percentages, target)
	if random.IntN(2) == 0 {
		w.every, w.back = 1+random.IntN(60), random.IntN(2) == 0
		r.Confirm = &guidon.RampConfirm{Every: time.Duration(w.every) * time.Minute}
		if w.back {
			r.Confirm.Lapse = guidon.BackRamp
		}
	}
	w.initial, w.position = r.Initial, int(minute(-1).Sub(r.Start)/time.Minute)
	return r, target, w
}

// TestRampWalk compares ramps, which are acted on at random, with ones that step minute by minute.
func TestRampWalk(t *testing.T) {
	actions := map[string]int{}
	for seed := range uint64(1_500) {
		random := rand.New(rand.NewPCG(seed, 5))
		r, target, w := randomRamp(random)
		rarely := 2 + random.IntN(80)
		checkRampBoundaries(t, r, target)
		changes := rampChanges{last: w.initial}
		for i := -1; i < 600; i++ {
			now := minute(i).Add(time.Duration(random.Int64N(int64(time.Minute))))
			if got := percentageAt(r, target, now); got != w.percentage() || r.Phase(now) != w.phase() {
				t.Errorf("at minute %d: %v %% in phase %d, want %v %% in phase %d", i, got, r.Phase(now), w.percentage(), w.phase())
			}
			changes.check(t, r, target, w)
			for random.IntN(rarely) == 0 { // sometimes several in a minute
				action := []int{0, 0, 1, 1, 1, 2, 3, 3}[random.IntN(8)] // a reversal is final
				next, err := rampActions[action].do(r, now)
				if possible := w.act(action); possible != (err == nil) {
					t.Errorf("%s at minute %d: %v, want success: %v", rampActions[action].name, i, err, possible)
				}
				if err == nil {
					actions[rampActions[action].name]++
					if before, after := percentageAt(r, target, now), percentageAt(next, target, now); before != after {
						t.Errorf("%s at minute %d: %v %% becomes %v %%", rampActions[action].name, i, before, after)
					}
					r = next
					checkRampBoundaries(t, r, target)
				} else if !errors.Is(err, guidon.FailedPrecondition) {
					t.Error(err)
				}
			}
			if t.Failed() {
				t.Fatalf("seed %d: %s", seed, flagtest.Text(r))
			}
			w.tick()
		}
	}
	for _, action := range rampActions {
		if actions[action.name] < 500 {
			t.Errorf("only %d times: %s", actions[action.name], action.name)
		}
	}
}

// rampChanges are how often a ramp changed in each direction.
type rampChanges struct {
	last           float32
	forward, again int
}

// check checks the change to the current minute: it is within the ramp, a reversed ramp only
// returns, and a linear one changes at most 100 times in each direction.
func (c *rampChanges) check(t *testing.T, r *guidon.Ramp, target float32, w *walk) {
	t.Helper()
	now, up := w.percentage(), r.Initial <= target
	if now < min(r.Initial, target) || now > max(r.Initial, target) {
		t.Errorf("%v %% is not between %v %% and %v %%", now, r.Initial, target)
	}
	switch grows := now > c.last; {
	case now == c.last:
	case w.phase() == guidon.RampLapsed:
		c.forward = 0 // it begins again
	case w.phase() == guidon.RampReversing:
		if c.again++; grows == up {
			t.Errorf("from %v %% to %v %% while it runs back", c.last, now)
		}
	default:
		if c.forward++; grows != up {
			t.Errorf("from %v %% to %v %% while it goes on", c.last, now)
		}
	}
	if r.Over > 0 && max(c.forward, c.again) > 100 {
		t.Errorf("it changes %d times, and %d times while it runs back", c.forward, c.again)
	}
	c.last = now
}

// checkRampBoundaries checks that the boundaries are the minutes in which the buckets of a share
// change, or it becomes or ceases to be 100 %, without the compiled types.
func checkRampBoundaries(t *testing.T, r *guidon.Ramp, target float32) {
	t.Helper()
	percentages := make([]float32, 1300)
	for i := range percentages {
		percentages[i] = percentageAt(r, target, minute(i-1))
	}
	for _, share := range rampShares {
		var want []int64
		before, whole := share.bucket(r.Initial), r.Initial >= 100
		for i, percentage := range percentages {
			after := share.bucket(percentage)
			if after != before || whole != (percentage >= 100) {
				want = append(want, minute(i-1).Unix())
			}
			before, whole = after, percentage >= 100
		}
		if got := share.flag(r, target).Boundaries(); !slices.Equal(want, got) {
			t.Errorf("boundaries of a %s: got %v, want %v", share.name, got, want)
		}
	}
}

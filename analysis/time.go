package analysis

import (
	"context"
	"slices"
	"time"

	"github.com/guidonhq/guidon"
)

// InstantWords returns the instant in words, such as "1 December 2026 09:00 UTC", or "" if it is
// zero.
func InstantWords(at time.Time) string {
	switch at = at.UTC(); {
	case at.IsZero():
		return ""
	case at.Second() == 0:
		return at.Format("2 January 2006 15:04 UTC")
	}
	return at.Format("2 January 2006 15:04:05 UTC")
}

// TimesWords returns when a rule holds in words, such as "from 1 December 2026 09:00 UTC", or ""
// if it always does.
func TimesWords(c *guidon.Conditions) string {
	from, until := InstantWords(c.From), InstantWords(c.Until)
	switch {
	case from != "" && until != "":
		return "from " + from + " until " + until
	case from != "":
		return "from " + from
	case until != "":
		return "until " + until
	}
	return ""
}

// RampWords returns what the ramp, which leads to the target, does at an instant, in words such as
// "12% now, 100% on 4 December 2026 09:00 UTC". It returns "" if r is nil.
func RampWords(r *guidon.Ramp, target float32, at time.Time) string {
	if r == nil {
		return ""
	}
	text := PercentWords(r.PercentageAt(at.Unix(), target)) + " now"
	coming := ", " + PercentWords(target) + " on " + InstantWords(r.End())
	switch r.Phase(at) {
	case guidon.RampPaused:
		return text + ", paused"
	case guidon.RampLapsed:
		return text + ", not confirmed by " + InstantWords(r.Deadline())
	case guidon.RampReversing:
		return text + ", back to " + PercentWords(r.Initial) + " on " + InstantWords(r.End())
	case guidon.RampEnded:
		return text + ", since " + InstantWords(r.End())
	case guidon.RampWaiting:
		coming = ", starting on " + InstantWords(r.Begin()) + coming
	}
	if deadline := r.Deadline(); !deadline.IsZero() {
		coming += ", if it is confirmed by " + InstantWords(deadline)
	}
	return text + coming
}

// forceWords returns when a rule that is not in force in the epoch is, in words.
func forceWords(c *guidon.Conditions, epoch int64) string {
	if c.Until.IsZero() || epoch < c.Until.Unix() {
		return "it holds " + TimesWords(c)
	}
	return "it held " + TimesWords(c)
}

// Limits of the boundaries for which an effect is computed, and of those at which only ramps change
// shares.
const (
	maxLater = 20
	maxRamps = 5
)

// comingBoundaries returns the boundaries of the flags, of which each may be nil, after the epoch,
// in order.
func comingBoundaries(epoch int64, flags ...*guidon.Flag) (coming []int64) {
	for _, f := range flags {
		if f != nil {
			coming = append(coming, f.Boundaries()...)
		}
	}
	slices.Sort(coming)
	coming = slices.Compact(coming)
	first, _ := slices.BinarySearch(coming, epoch+1)
	return coming[first:]
}

// withRequired returns the flag with the key, which may be missing, and those that it or one of its rules
// requires, now or at another time.
func withRequired(s *guidon.Snapshot, key string) (flags []*guidon.Flag) {
	if f := s.Flag(key); f != nil {
		flags = append(flags, f)
	}
	for i := 0; i < len(flags); i++ {
		for _, r := range flags[i].Requirements() {
			if f := s.Flag(r.FlagKey); f != nil && !slices.Contains(flags, f) {
				flags = append(flags, f)
			}
		}
	}
	return flags
}

// effectBoundaries returns the next boundaries of the flags. Of those at which only ramps change
// shares, it returns the first and the last, and some between.
func effectBoundaries(epoch int64, flags ...*guidon.Flag) []int64 {
	times := map[int64]bool{}
	for _, f := range flags {
		if f == nil {
			continue
		}
		for _, c := range f.EachConditions() {
			times[c.From.Unix()], times[c.Until.Unix()] = true, true
		}
	}
	coming := comingBoundaries(epoch, flags...)
	ramps := slices.DeleteFunc(slices.Clone(coming), func(at int64) bool { return times[at] })
	if len(ramps) > maxRamps {
		some := map[int64]bool{}
		for i := range maxRamps {
			some[ramps[i*(len(ramps)-1)/(maxRamps-1)]] = true
		}
		coming = slices.DeleteFunc(coming, func(at int64) bool { return !times[at] && !some[at] })
	}
	return coming[:min(len(coming), maxLater)]
}

// LaterEffect is the effect from an instant on, which differs from that before it.
type LaterEffect struct {
	At time.Time
	*Effect
}

// later finds what the effect is at the next boundaries of the flag, and of those that it requires, in
// both states.
func (e *Effect) later(ctx context.Context, before, after *guidon.Snapshot, flagKey string) error {
	flags := slices.Concat(withRequired(before, flagKey), withRequired(after, flagKey))
	coming := effectBoundaries(max(before.Epoch(), after.Epoch()), flags...)
	latest := e.describe()
	for _, boundary := range coming {
		at := time.Unix(boundary, 0).UTC()
		next, err := effectOf(ctx, before.Preview(at), after.Preview(at), flagKey)
		if err != nil {
			return err
		}
		if words := next.describe(); !slices.Equal(words, latest) {
			e.Later, latest = append(e.Later, LaterEffect{at, next}), words
		}
	}
	return nil
}

// describe returns the moves in words.
func (e *Effect) describe() (all []string) {
	if everyone := e.DescribeAll(); everyone != "" {
		return []string{everyone}
	}
	for i := range e.Groups {
		for j := range e.Groups[i].Moves {
			all = append(all, e.Describe(&e.Groups[i], &e.Groups[i].Moves[j]))
		}
	}
	return all
}

// Boundary is an instant at which rules or rollouts of a flag begin or end, or their shares change.
type Boundary struct {
	At    time.Time
	Rules []RuleBoundary
}

// RuleBoundary is a rule or rollout that begins or ends, or whose ramp changes its share.
type RuleBoundary struct {
	Index      int
	Ends       bool
	Percentage *float32 // from then on; nil unless it changes
}

// maxTimeline limits a timeline.
const maxTimeline = 1000

// TimelineOf returns the next boundaries of the flag after the epoch, in order, and whether there
// are more.
func TimelineOf(f *guidon.Flag, epoch int64) (boundaries []Boundary, more bool) {
	coming := comingBoundaries(epoch, f)
	for _, at := range coming[:min(len(coming), maxTimeline)] {
		b := Boundary{At: time.Unix(at, 0).UTC()}
		for i, c := range f.EachConditions() {
			if !c.From.IsZero() && c.From.Unix() == at {
				b.Rules = append(b.Rules, RuleBoundary{Index: i})
			}
			if !c.Until.IsZero() && c.Until.Unix() == at {
				b.Rules = append(b.Rules, RuleBoundary{Index: i, Ends: true})
			}
			if to, changes := rampTo(f, i, at); changes {
				b.Rules = append(b.Rules, RuleBoundary{Index: i, Percentage: &to})
			}
		}
		boundaries = append(boundaries, b)
	}
	return boundaries, len(coming) > maxTimeline
}

// rampTo returns the percentage of the rule from the instant on, and whether its ramp changes it
// then.
func rampTo(f *guidon.Flag, index int, at int64) (percentage float32, changes bool) {
	ramp, target := f.Ramp(index)
	if ramp == nil {
		return 0, false
	}
	percentage = (*ramp).PercentageAt(at, *target)
	return percentage, percentage != (*ramp).PercentageAt(at-1, *target)
}

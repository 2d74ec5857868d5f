package guidon

import (
	"iter"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Time is a part of the state, and not of the evaluation: a snapshot is compiled for an epoch,
// in which no answer changes. The boundaries of a namespace are the instants at which the
// compiled form of a flag changes. An epoch is named by the boundary that it starts with, in
// Unix seconds, and is 0 before the first one.

// InForce reports whether a rule with the conditions is in force in the epoch.
func (c *Conditions) InForce(epoch int64) bool {
	return (c.From.IsZero() || c.From.Unix() <= epoch) && (c.Until.IsZero() || epoch < c.Until.Unix())
}

// Boundaries returns the instants, in Unix seconds, at which the compiled form of the flag
// changes, sorted and each once.
func (f *Flag) Boundaries() []int64 {
	boundaries := f.boundaries()
	slices.Sort(boundaries)
	return slices.Compact(boundaries)
}

// LastBoundary returns the last of them, or 0 if there are none.
func (f *Flag) LastBoundary() int64 { return slices.Max(append(f.boundaries(), 0)) }

// boundaries returns the boundaries of the flag, in no order.
func (f *Flag) boundaries() (boundaries []int64) {
	for i, c := range f.EachConditions() {
		if p := c.Portion; p != nil {
			boundaries = append(boundaries, p.Ramp.boundaries(newPortionBucketer(p.Split, f.Key), p.Start, p.Percentage)...)
		}
		if t := f.threshold(i); t != nil {
			boundaries = append(boundaries, t.Ramp.boundaries(newThresholdBucketer(t, f.Key), t.Start, t.Percentage)...)
		}
		for _, at := range [...]time.Time{c.From, c.Until} {
			if !at.IsZero() {
				boundaries = append(boundaries, at.Unix())
			}
		}
	}
	return boundaries
}

// threshold returns the threshold of the rule with the index, or nil if it has none.
func (f *Flag) threshold(i int) *RolloutThreshold {
	if f.Type != BooleanFlag {
		return nil
	}
	return f.Rollouts[i].Threshold
}

// Ramp returns the ramp of the rule, or the rollout of a boolean flag, with the index, and the
// percentage that it leads to. Both are those of the flag itself, and nil if it has no share.
func (f *Flag) Ramp(i int) (ramp **Ramp, target *float32) {
	if t := f.threshold(i); t != nil {
		return &t.Ramp, &t.Percentage
	}
	if p := f.conditions(i).Portion; p != nil {
		return &p.Ramp, &p.Percentage
	}
	return nil, nil
}

// Ramped returns the indexes of the rules, or rollouts of a boolean flag, whose share has a ramp.
func (f *Flag) Ramped() (indexes []int) {
	for i := range f.EachConditions() {
		if ramp, _ := f.Ramp(i); ramp != nil && *ramp != nil {
			indexes = append(indexes, i)
		}
	}
	return indexes
}

// conditions returns those of the rule, or the rollout of a boolean flag, with the index.
func (f *Flag) conditions(i int) *Conditions {
	if f.Type == BooleanFlag {
		return f.Rollouts[i].Stated()
	}
	return f.Rules[i].Stated()
}

// EachConditions yields the conditions of the rules, or of the rollouts of a boolean flag, by
// their index.
func (f *Flag) EachConditions() iter.Seq2[int, *Conditions] {
	return func(yield func(int, *Conditions) bool) {
		for i, r := range f.Rules {
			if f.Type == VariantFlag && !yield(i, r.Stated()) {
				return
			}
		}
		for i, r := range f.Rollouts {
			if f.Type == BooleanFlag && !yield(i, r.Stated()) {
				return
			}
		}
	}
}

// Timed reports whether the answers of flags depend on the time.
func (s *Snapshot) Timed() bool { return len(s.timed) > 0 }

// Epoch returns the epoch for which the flags are compiled.
func (s *Snapshot) Epoch() int64 { return s.epoch }

// Next returns the boundary at which the epoch of the snapshot ends, or zero if it never does.
func (s *Snapshot) Next() time.Time {
	if !s.Timed() {
		return time.Time{}
	}
	_, next := s.timeline().around(s.epoch)
	return next
}

// At returns the snapshot for the epoch of now. It is kept until At is called for another
// epoch; concurrent calls wait for the one that computes it. A snapshot from [NewSnapshot] is
// for the epoch 0, and one from [Snapshot.Apply] for that of the one before.
func (s *Snapshot) At(now time.Time) *Snapshot {
	if !s.Timed() {
		return s
	}
	t := s.timeline()
	epoch, _ := t.around(now.Unix())
	if latest := t.latest.Load(); latest.epoch == epoch {
		return latest
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if latest := t.latest.Load(); latest.epoch == epoch {
		return latest
	}
	latest := t.base.compiledFor(epoch)
	t.latest.Store(latest)
	return latest
}

// Preview is [Snapshot.At] for another instant than now: the snapshot is not kept.
func (s *Snapshot) Preview(at time.Time) *Snapshot {
	if !s.Timed() {
		return s
	}
	t := s.timeline()
	epoch, _ := t.around(at.Unix())
	if latest := t.latest.Load(); latest.epoch == epoch {
		return latest
	}
	return t.base.compiledFor(epoch)
}

// CompiledAt returns the flag with the key compiled for another instant than the others, or nil if
// it does not exist. It is not for evaluation: nothing that it requires is met.
func (s *Snapshot) CompiledAt(key string, at time.Time) *CompiledFlag {
	f := s.Flag(key)
	if f == nil {
		return nil
	}
	return compileFlag(f, s.segmentsByKey, at.Unix())
}

// timeline is what a snapshot and those for its other epochs have in common.
type timeline struct {
	base       *Snapshot
	boundaries []int64 // sorted, each once
	mu         sync.Mutex
	latest     atomic.Pointer[Snapshot] // that At has returned; at first the base
}

var timelines = NewDerivation(func(s *Snapshot) *timeline {
	t := &timeline{base: s}
	for key := range s.timed {
		t.boundaries = append(t.boundaries, s.Flag(key).boundaries()...)
	}
	slices.Sort(t.boundaries)
	t.boundaries = slices.Compact(t.boundaries)
	t.latest.Store(s)
	return t
})

func (s *Snapshot) timeline() *timeline {
	if s.base != nil {
		s = s.base
	}
	return timelines.Of(s)
}

// around returns the epoch of an instant, and the boundary at which that ends, or zero.
func (t *timeline) around(now int64) (epoch int64, next time.Time) {
	i, _ := slices.BinarySearch(t.boundaries, now+1)
	if i > 0 {
		epoch = t.boundaries[i-1]
	}
	if i < len(t.boundaries) {
		next = time.Unix(t.boundaries[i], 0).UTC()
	}
	return epoch, next
}

// compiledFor returns the snapshot with the flags that have boundaries compiled for the epoch.
func (s *Snapshot) compiledFor(epoch int64) *Snapshot {
	if epoch == s.epoch {
		return s
	}
	next := *s
	next.base, next.epoch, next.derived = s, epoch, new(sync.Map)
	next.unreadable = maps.Clone(s.unreadable)
	timed := make([]*CompiledFlag, 0, len(s.timed))
	for key := range s.timed {
		timed = append(timed, s.flagByKey.get(key))
	}
	next.sinceBase = next.applyFlags(nil, timed)
	return &next
}

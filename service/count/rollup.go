package count

import (
	"context"
	"maps"
	"slices"
	"time"
)

// Limits of one transaction, and of what rows may still come for: instances write the minute of now, by
// clocks that differ.
const (
	batch     = 500
	settled   = 2 * time.Minute // before now, a minute gets no further rows
	hourEnded = 5 * time.Minute // after its end, an hour is computed
	alivePace = time.Hour       // counting is off if no roll-up runs for longer
)

// RollUp merges rows of the same minute, computes the hours and days that are over, and deletes what is kept
// no longer. It may be interrupted and repeated at any time. Only one process should run it, but two do no
// harm. The errors are those of [Store].
func (c *Counter) RollUp(ctx context.Context) error {
	r := &rollup{store: c.store, keep: c.keep, now: c.now().UTC()}
	for _, part := range []func(context.Context) error{r.mark, r.merge, r.hours, r.days, r.prune} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
}

type rollup struct {
	store Store
	keep  Keep
	now   time.Time
	marks map[string]time.Time
}

func (r *rollup) set(ctx context.Context, name string, at time.Time) error {
	r.marks[name] = at
	return r.store.SetMark(ctx, name, at)
}

// mark notes that counting is on.
func (r *rollup) mark(ctx context.Context) (err error) {
	if r.marks, err = r.store.Marks(ctx); err != nil {
		return err
	}
	if r.marks[markHours].After(r.now) {
		if err := r.goBack(ctx); err != nil {
			return err
		}
	}
	alive, known := r.marks[markAlive]
	if r.marks[markSince].IsZero() {
		err = r.set(ctx, markSince, r.now)
	} else if known && r.now.Sub(alive) > alivePace {
		err = r.set(ctx, markResumed, r.now)
	}
	if err != nil {
		return err
	}
	return r.set(ctx, markAlive, r.now)
}

// goBack moves the marks of hours and days back to now, because the clock of another instance was ahead: what is counted
// until then would not be added. This clock may be behind instead, so they go no further than minutes are kept.
func (r *rollup) goBack(ctx context.Context) error {
	first, err := r.store.FirstMinute(ctx, time.Time{})
	if err != nil || first.IsZero() {
		return err
	}
	hours := r.endOfHours()
	if kept := first.Truncate(StepHour); kept.After(hours) {
		hours = kept
	}
	for name, end := range map[string]time.Time{markHours: hours, markDays: hours.Truncate(StepDay)} {
		if r.marks[name].After(end) {
			if err := r.set(ctx, name, end); err != nil {
				return err
			}
		}
	}
	return nil
}

// merge leaves one row for each minute and part.
func (r *rollup) merge(ctx context.Context) error {
	from, to := r.marks[markHours], r.now.Add(-settled).Truncate(time.Minute)
	for {
		found, err := r.store.Mergeable(ctx, from, to, batch)
		if err != nil || len(found) == 0 {
			return err
		}
		for _, m := range found {
			if err := r.store.MergeMinute(ctx, m.Namespace, m.At, mergeRows); err != nil {
				return err
			}
		}
	}
}

// mergeRows returns the rows of a minute with those of the same part added.
func mergeRows(rows []Minute) (merged []Minute) {
	for _, row := range rows {
		if last := len(merged) - 1; last >= 0 && merged[last].Part == row.Part {
			merged[last].Counts.merge(row.Counts)
			continue
		}
		merged = append(merged, row)
	}
	return merged
}

// each computes the steps before end that have not been computed yet, in order. next returns the first time from
// another on at which there is something to compute, or zero.
func (r *rollup) each(
	ctx context.Context, mark string, step time.Duration, end time.Time,
	next func(ctx context.Context, from time.Time) (time.Time, error), compute func(ctx context.Context, at time.Time) error,
) error {
	for at := r.marks[mark]; ; at = at.Add(step) {
		found, err := next(ctx, at)
		if err != nil {
			return err
		}
		if at = found.Truncate(step); found.IsZero() || !at.Before(end) {
			break
		}
		if err := compute(ctx, at); err != nil {
			return err
		}
		if err := r.set(ctx, mark, at.Add(step)); err != nil {
			return err
		}
	}
	if r.marks[mark].Before(end) {
		return r.set(ctx, mark, end)
	}
	return nil
}

// endOfHours returns the end of the hours that are over.
func (r *rollup) endOfHours() time.Time { return r.now.Add(-hourEnded).Truncate(time.Hour) }

// hours computes the hours that are over.
func (r *rollup) hours(ctx context.Context) error {
	return r.each(ctx, markHours, StepHour, r.endOfHours(), r.store.FirstMinute, func(ctx context.Context, at time.Time) error {
		parts, err := r.store.MinuteParts(ctx, at, at.Add(StepHour))
		for namespace, list := range parts {
			if err == nil {
				err = r.hour(ctx, namespace, list, at)
			}
		}
		return err
	})
}

// hour computes an hour of a namespace, one part of its flags after the other. A flag can be in rows that are
// divided and in others.
func (r *rollup) hour(ctx context.Context, namespace string, parts []int, at time.Time) error {
	total, undivided := Numbers{}, newSlot()
	for _, part := range parts {
		slot := newSlot()
		rows, err := r.store.Minutes(ctx, namespace, []int{part}, at, at.Add(time.Hour), func(c Counts) Counts { return c })
		if err != nil {
			return err
		}
		for _, row := range rows {
			slot.add(row)
			total.merge(row.Counts.total())
		}
		if part == 0 {
			undivided = slot
			continue
		}
		undivided.move(slot, part)
		if err := r.put(ctx, Hours, namespace, at, slot); err != nil {
			return err
		}
	}
	undivided.Counts[Namespace] = total
	return r.put(ctx, Hours, namespace, at, undivided)
}

func newSlot() Slot { return Slot{Counts: Counts{}, Times: map[string]Times{}} }

// add adds the counts of the flags.
func (s Slot) add(row Minute) {
	for key, numbers := range row.Counts {
		if key != Namespace {
			s.Counts.of(key).merge(numbers)
			s.Times[key] = s.Times[key].With(row.At)
		}
	}
}

// move moves the flags of a part to another slot.
func (s Slot) move(to Slot, part int) {
	for key, numbers := range s.Counts {
		if partOf(key) != part {
			continue
		}
		to.Counts.of(key).merge(numbers)
		to.Times[key] = to.Times[key].With(s.Times[key].First).With(s.Times[key].Last)
		delete(s.Counts, key)
		delete(s.Times, key)
	}
}

// put sets the slot, in several transactions if the flags are many.
func (r *rollup) put(ctx context.Context, u *Unit, namespace string, at time.Time, s Slot) error {
	for keys := range slices.Chunk(slices.Sorted(maps.Keys(s.Counts)), batch) {
		some := newSlot()
		for _, key := range keys {
			some.Counts[key] = s.Counts[key]
			if t, evaluated := s.Times[key]; evaluated {
				some.Times[key] = t
			}
		}
		if err := r.store.PutSlot(ctx, u, namespace, at, some); err != nil {
			return err
		}
	}
	return nil
}

// days computes the days that are over.
func (r *rollup) days(ctx context.Context) error {
	return r.each(ctx, markDays, StepDay, r.marks[markHours].Truncate(StepDay), r.store.FirstHours, func(ctx context.Context, at time.Time) error {
		namespaces, err := r.store.SeriesNamespaces(ctx, Hours, at)
		for _, namespace := range namespaces {
			if err == nil {
				err = r.day(ctx, namespace, at)
			}
		}
		return err
	})
}

// day computes a day of a namespace.
func (r *rollup) day(ctx context.Context, namespace string, at time.Time) error {
	for after := ""; ; {
		rows, err := r.store.SeriesAfter(ctx, Hours, namespace, at, after, batch)
		if err != nil || len(rows) == 0 {
			return err
		}
		slot := newSlot()
		for _, row := range rows {
			for _, numbers := range row.Slots {
				slot.Counts.of(row.Key).merge(numbers)
			}
		}
		if err := r.store.PutSlot(ctx, Days, namespace, at, slot); err != nil {
			return err
		}
		after = rows[len(rows)-1].Key
	}
}

// prune deletes what is kept no longer, but no minutes and hours that are still to be added.
func (r *rollup) prune(ctx context.Context) error {
	for _, p := range []struct {
		before time.Time
		some   func(ctx context.Context, before time.Time, limit int) (int, error)
	}{
		{earlier(r.marks[markHours], r.now.Add(-r.keep.Minutes).Truncate(StepHour)), r.store.PruneMinutes}, // whole hours, see goBack
		{earlier(r.marks[markDays], r.now.Add(-r.keep.Hours)), r.series(Hours)},
		{r.now.Add(-r.keep.Days), r.series(Days)},
		{r.now.Add(-r.keep.Days), r.store.PruneTimes},
	} {
		for n := batch; n == batch; {
			var err error
			if n, err = p.some(ctx, p.before, batch); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *rollup) series(u *Unit) func(ctx context.Context, before time.Time, limit int) (int, error) {
	return func(ctx context.Context, before time.Time, limit int) (int, error) {
		start, _ := u.Row(before) // the whole row must be older
		return r.store.PruneSeries(ctx, u, start, limit)
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

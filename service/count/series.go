package count

import (
	"context"
	"slices"
	"time"

	"github.com/guidonhq/guidon"
)

// Steps of series.
const (
	StepMinute = time.Minute
	StepHour   = time.Hour
	StepDay    = 24 * time.Hour
)

// MaxPoints limits the points of a series.
const MaxPoints = 400

// Keep is how long counts are kept by minute, hour and day, at least.
type Keep struct{ Minutes, Hours, Days time.Duration }

func (k Keep) of(step time.Duration) time.Duration {
	return map[time.Duration]time.Duration{StepMinute: k.Minutes, StepHour: k.Hours, StepDay: k.Days}[step]
}

// Last returns when the flags were evaluated last, without keys all flags; those that never were are missing.
func (c *Counter) Last(ctx context.Context, namespace string, keys []string) (map[string]time.Time, error) {
	marks, err := c.store.Marks(ctx)
	if err != nil {
		return nil, err
	}
	times, err := c.store.Times(ctx, namespace, keys)
	if err != nil {
		return nil, err
	}
	last := map[string]time.Time{}
	for key, t := range times {
		last[key] = t.Last
	}
	rest := reading{c.store, marks, namespace, keys, func(key string, at time.Time, _ Numbers) { last[key] = at }}
	return last, rest.minutes(ctx, marks[markHours], c.now().Add(StepMinute))
}

// Range selects counts from one time to before another, in steps.
type Range struct {
	From, To time.Time     // zero means 24 hours before To, and now
	Step     time.Duration // StepMinute, StepHour, StepDay, or 0 for the shortest that is kept and gives at most MaxPoints
}

// Series are numbers over time.
type Series struct {
	Range             // in whole steps, as far as counts are kept
	Since   time.Time // counting began; zero if it has not
	Partial bool      // the last step is not over
	Points  []Numbers // one for each step
}

// resolve returns the range in whole steps, without what is not counted or kept. It returns InvalidArgument
// if the range breaks a rule.
func (c *Counter) resolve(q Range, since time.Time) (Range, error) {
	now := c.now().UTC()
	if q.To.IsZero() || q.To.After(now) {
		q.To = now
	}
	if q.From.IsZero() {
		q.From = q.To.Add(-StepDay)
	}
	if !q.From.Before(q.To) {
		return q, guidon.Errorf(guidon.InvalidArgument, "invalid field from: must be before to, and in the past")
	}
	if q.From = q.From.UTC(); q.From.Before(since) {
		q.From = since
	}
	if q.Step == 0 {
		q.Step = c.shortestStep(q, now)
	}
	if kept := now.Add(-c.keep.of(q.Step)); q.From.Before(kept) {
		q.From = kept
	}
	if since.IsZero() || !q.From.Before(q.To) {
		return Range{q.To, q.To, q.Step}, nil
	}
	end := q.To.UTC()
	q.From, q.To = q.From.Truncate(q.Step), end.Truncate(q.Step)
	if q.To.Before(end) {
		q.To = q.To.Add(q.Step)
	}
	if q.To.Sub(q.From)/q.Step > MaxPoints {
		return q, guidon.Errorf(guidon.InvalidArgument, "invalid field step: the range has more than %d steps", MaxPoints)
	}
	return q, nil
}

func (c *Counter) shortestStep(q Range, now time.Time) time.Duration {
	for _, step := range []time.Duration{StepMinute, StepHour} {
		if q.To.Sub(q.From)/step < MaxPoints && !q.From.Before(now.Add(-c.keep.of(step))) {
			return step
		}
	}
	return StepDay
}

// Series returns the series of each flag with one of the keys, of which there are at most 100, and of the
// namespace for the key [Namespace].
func (c *Counter) Series(ctx context.Context, namespace string, keys []string, q Range) (map[string]*Series, error) {
	marks, err := c.store.Marks(ctx)
	if err != nil {
		return nil, err
	}
	if q, err = c.resolve(q, marks[markSince]); err != nil {
		return nil, err
	}
	all := map[string]*Series{}
	for _, key := range keys {
		all[key] = &Series{
			Range: q, Since: marks[markSince], Partial: q.To.After(c.now()), Points: make([]Numbers, q.To.Sub(q.From)/q.Step),
		}
	}
	reading := reading{c.store, marks, namespace, keys, func(key string, at time.Time, n Numbers) {
		if s := all[key]; s != nil {
			s.add(at, n)
		}
	}}
	return all, reading.step(ctx, q.Step, q.From, q.To)
}

func (s *Series) add(at time.Time, n Numbers) {
	point := &s.Points[at.Sub(s.From)/s.Step]
	if *point == nil {
		*point = Numbers{}
	}
	point.merge(n)
}

// reading reads counts of some flags and calls add for each number.
type reading struct {
	store     Store
	marks     map[string]time.Time
	namespace string
	keys      []string
	add       func(key string, at time.Time, n Numbers)
}

// step reads a range in steps: what is computed from rows, and the rest in shorter steps.
func (r *reading) step(ctx context.Context, step time.Duration, from, to time.Time) error {
	if !from.Before(to) {
		return nil
	}
	unit, mark, shorter := Hours, markHours, StepMinute
	switch step {
	case StepMinute:
		return r.minutes(ctx, from, to)
	case StepDay:
		unit, mark, shorter = Days, markDays, StepHour
	}
	computed := r.marks[mark]
	if computed.Before(from) {
		computed = from
	}
	if computed.After(to) {
		computed = to
	}
	if err := r.slots(ctx, unit, from, computed); err != nil {
		return err
	}
	return r.step(ctx, shorter, computed, to)
}

func (r *reading) slots(ctx context.Context, u *Unit, from, to time.Time) error {
	slots := map[time.Time]map[string]time.Time{} // by start of the row and name
	var starts []time.Time
	for at := from; at.Before(to); at = at.Add(u.Step) {
		start, slot := u.Row(at)
		if slots[start] == nil {
			slots[start], starts = map[string]time.Time{}, append(starts, start)
		}
		slots[start][slot] = at
	}
	if len(starts) == 0 {
		return nil
	}
	rows, err := r.store.Series(ctx, u, r.namespace, starts, r.keys)
	for _, row := range rows {
		for slot, numbers := range row.Slots {
			if at, wanted := slots[row.Start][slot]; wanted {
				r.add(row.Key, at, numbers)
			}
		}
	}
	return err
}

func (r *reading) minutes(ctx context.Context, from, to time.Time) error {
	rows, err := r.store.Minutes(ctx, r.namespace, partsOf(r.keys), from, to, selecting(r.keys))
	for _, row := range rows {
		for key, numbers := range row.Counts {
			r.add(key, row.At, numbers)
		}
	}
	return err
}

// partsOf returns the parts with the counts of the flags, without keys of all; nil means all parts.
func partsOf(keys []string) (list []int) {
	if keys == nil {
		return nil
	}
	list = []int{0}
	for _, key := range keys {
		if key == Namespace {
			return nil
		}
		list = append(list, partOf(key))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// selecting returns the function that selects the counts of the flags, without keys of all, and of the namespace.
func selecting(keys []string) func(Counts) Counts {
	if keys == nil {
		return func(c Counts) Counts { return c }
	}
	return func(c Counts) Counts {
		selected := Counts{}
		for _, key := range keys {
			if key == Namespace {
				selected[key] = c.total()
			} else if c[key] != nil {
				selected[key] = c[key]
			}
		}
		return selected
	}
}

// total returns the numbers of the namespace.
func (c Counts) total() Numbers {
	total := Numbers{}
	for key, numbers := range c {
		if key == Namespace {
			total.merge(numbers)
			continue
		}
		for _, n := range numbers {
			total[Evaluations] += n
		}
	}
	return total
}

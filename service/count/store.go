package count

import (
	"context"
	"time"
)

// Minute is what one reporter counted in a namespace within a minute.
type Minute struct {
	Namespace string
	At        time.Time // its start
	Part      int       // of the flags, if they are divided, otherwise 0
	Reporter  string
	Counts    Counts
}

// Unit is the length of the slots of a stored series.
type Unit struct {
	Name string        // as it is stored
	Step time.Duration // of a slot

	// Row returns the start of the row of a slot, and the name of the slot in it.
	Row func(at time.Time) (start time.Time, slot string)
}

// Units of stored series.
var (
	Hours = &Unit{"h", time.Hour, func(at time.Time) (time.Time, string) {
		return at.Truncate(24 * time.Hour), at.Format("15")
	}}
	Days = &Unit{"d", 24 * time.Hour, func(at time.Time) (time.Time, string) {
		return time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC), at.Format("02")
	}}
)

// Row has the slots of a flag, or of the namespace for the key [Namespace]: the hours of a day, or the days
// of a month.
type Row struct {
	Key   string
	Start time.Time
	Slots Counts // by the name of the slot
}

// Times are when a flag was evaluated first and last, in whole minutes.
type Times struct{ First, Last time.Time }

// With returns the times with an evaluation at a further one.
func (t Times) With(at time.Time) Times {
	if t.First.IsZero() || at.Before(t.First) {
		t.First = at
	}
	if at.After(t.Last) {
		t.Last = at
	}
	return t
}

// Slot has what was counted of flags in one slot of their rows.
type Slot struct {
	Counts Counts
	Times  map[string]Times // of the evaluations; nil for slots that are added from others
}

// Marks of a [Store].
const (
	markSince   = "since"   // counting began
	markAlive   = "alive"   // the last roll-up
	markResumed = "resumed" // counting went on after it had been off
	markHours   = "hours"   // before it, hours are computed
	markDays    = "days"    // before it, days are computed
)

// Store keeps counts. All times are in UTC. The errors are those of a store of the service.
type Store interface {
	// AddMinutes stores the rows, all or none, unless a call with the same name has stored rows. It forgets the name of an
	// earlier call.
	AddMinutes(ctx context.Context, rows []Minute, name, earlier string) error
	// AddReport stores the rows. It returns Limited if there is one of the same minute, part and reporter.
	AddReport(ctx context.Context, rows []Minute) error
	// Minutes returns the rows of the namespace from a time on, to before another, oldest first; without parts all of
	// them. keep selects of the counts of each row what is needed.
	Minutes(ctx context.Context, namespace string, parts []int, from, to time.Time, keep func(Counts) Counts) ([]Minute, error)
	// FirstMinute returns the first minute of any namespace from a time on, or the zero time.
	FirstMinute(ctx context.Context, from time.Time) (time.Time, error)
	// MinuteParts returns the parts that have rows from a time on, to before another, by namespace and sorted.
	MinuteParts(ctx context.Context, from, to time.Time) (map[string][]int, error)
	// Mergeable returns the keys of at most limit minutes, from a time on, to before another, in which a part has
	// several rows.
	Mergeable(ctx context.Context, from, to time.Time, limit int) ([]Minute, error)
	// MergeMinute replaces the rows of a minute by those that merge returns.
	MergeMinute(ctx context.Context, namespace string, at time.Time, merge func([]Minute) []Minute) error

	// Series returns the rows of the flags that start at the times.
	Series(ctx context.Context, u *Unit, namespace string, starts []time.Time, keys []string) ([]Row, error)
	// FirstHours returns the first day of any namespace with hours from a time on, or the zero time.
	FirstHours(ctx context.Context, from time.Time) (time.Time, error)
	// SeriesNamespaces returns the namespaces that have rows with the start.
	SeriesNamespaces(ctx context.Context, u *Unit, start time.Time) ([]string, error)
	// SeriesAfter returns at most limit rows with the start, in the order of their keys, after a key.
	SeriesAfter(ctx context.Context, u *Unit, namespace string, start time.Time, key string, limit int) ([]Row, error)
	// PutSlot sets the slot at a time of the flags, and extends their times.
	PutSlot(ctx context.Context, u *Unit, namespace string, at time.Time, s Slot) error

	// Times returns when flags of the namespace were evaluated; without keys those of all that were.
	Times(ctx context.Context, namespace string, keys []string) (map[string]Times, error)

	// Marks returns the times with names.
	Marks(ctx context.Context) (map[string]time.Time, error)
	// SetMark sets a time with a name.
	SetMark(ctx context.Context, name string, at time.Time) error

	// PruneMinutes, PruneSeries and PruneTimes delete at most limit rows from before a time, and return how many.
	PruneMinutes(ctx context.Context, before time.Time, limit int) (int, error)
	PruneSeries(ctx context.Context, u *Unit, before time.Time, limit int) (int, error)
	PruneTimes(ctx context.Context, before time.Time, limit int) (int, error)
}

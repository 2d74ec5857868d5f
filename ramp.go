package guidon

import "time"

// Ramp leads a share from one percentage to another over time: in equal steps over Over, or in
// stated Steps. The percentage of the share is its target. All instants and durations are whole
// minutes.
type Ramp struct {
	Start    time.Time     `json:"start"`
	Initial  float32       `json:"initial,omitempty"` // the percentage before the start
	Over     time.Duration `json:"over,omitempty"`
	Steps    []RampStep    `json:"steps,omitempty"`
	Paused   time.Time     `json:"paused,omitzero"`   // since when it stands still, or zero
	Reversed time.Time     `json:"reversed,omitzero"` // since when it runs back, or zero
	Delay    time.Duration `json:"delay,omitempty"`   // how long it stood still before
	Confirm  *RampConfirm  `json:"confirm,omitempty"` // nil if it goes on by itself
}

// RampStep is a percentage that holds for some time.
type RampStep struct {
	Percentage float32       `json:"percentage"`
	For        time.Duration `json:"for"`
}

// RampConfirm makes a ramp depend on somebody who confirms it again and again.
type RampConfirm struct {
	Every time.Duration `json:"every"`
	Lapse RampLapse     `json:"lapse,omitempty"`
	Last  time.Time     `json:"last,omitzero"` // before the start it counts as the start
}

// RampLapse is what a ramp does that is not confirmed in time. The numbers are those of the wire.
type RampLapse uint8

// What a ramp does that is not confirmed in time.
const (
	HoldRamp RampLapse = 0 // it keeps its percentage
	BackRamp RampLapse = 1 // it returns to its initial one
)

var rampLapseNames = []string{"HOLD", "BACK"}

// String returns the name in files, or the number if it has none.
func (l RampLapse) String() string { return enumName(rampLapseNames, l) }

// Known reports whether the value is one of the constants.
func (l RampLapse) Known() bool { return int(l) < len(rampLapseNames) }

// MarshalText returns the name in files, or an error if it has none.
func (l RampLapse) MarshalText() ([]byte, error) { return marshalEnum(rampLapseNames, l) }

// UnmarshalText sets l by its name in files. Anything else is an error.
func (l *RampLapse) UnmarshalText(text []byte) error { return unmarshalEnum(rampLapseNames, l, text) }

// Clone returns a deep copy, or nil if r is nil.
func (r *Ramp) Clone() *Ramp {
	if r == nil {
		return nil
	}
	clone := *r
	clone.Steps = append([]RampStep(nil), r.Steps...)
	if r.Confirm != nil {
		clone.Confirm = new(*r.Confirm)
	}
	return &clone
}

// PercentageAt returns the percentage of a share with the ramp and the target at an instant, in
// Unix seconds. It is the target if r is nil.
func (r *Ramp) PercentageAt(unix int64, target float32) float32 {
	if r == nil {
		return target
	}
	return r.percentageAt(unix/60, target)
}

// Times are counted in minutes: instants as Unix times, the elapsed time of a ramp from its start
// after all delays. It is negative before.

// maxRampSteps is how often the percentage of a linear ramp changes at most.
const maxRampSteps = 100

// percentageAt is PercentageAt for a minute.
func (r *Ramp) percentageAt(minute int64, target float32) float32 {
	elapsed := r.elapsed(minute)
	switch {
	case elapsed < 0:
		return r.Initial
	case elapsed >= r.length():
		return target
	}
	for _, s := range r.Steps {
		if elapsed < minutes(s.For) {
			return s.Percentage
		}
		elapsed -= minutes(s.For)
	}
	over := minutes(r.Over)
	n := min(over, maxRampSteps)
	from, to := float64(r.Initial), float64(target)
	return float32(from + (to-from)*float64(n*elapsed/over)/float64(n))
}

func minutes(d time.Duration) int64 { return int64(d / time.Minute) }

func minuteOf(t time.Time) int64 { return t.Unix() / 60 }

// Length returns how long the ramp takes from its start if nothing delays it.
func (r *Ramp) Length() time.Duration {
	length := r.Over
	for _, s := range r.Steps {
		length += s.For
	}
	return length
}

func (r *Ramp) length() int64 { return minutes(r.Length()) }

// begin returns the minute of the start after all delays.
func (r *Ramp) begin() int64 { return minuteOf(r.Start) + minutes(r.Delay) }

// elapsed returns how far the ramp is at a minute. A reversed ramp runs back at its own speed.
func (r *Ramp) elapsed(minute int64) int64 {
	if r.Reversed.IsZero() || minute <= minuteOf(r.Reversed) {
		return r.forward(minute)
	}
	return r.turn() - (minute - minuteOf(r.Reversed))
}

// turn returns how far the ramp was when it was reversed.
func (r *Ramp) turn() int64 { return min(r.forward(minuteOf(r.Reversed)), r.length()) }

// forward is elapsed for a ramp that is not reversed.
func (r *Ramp) forward(minute int64) int64 {
	if !r.Paused.IsZero() {
		minute = min(minute, minuteOf(r.Paused))
	}
	switch {
	case !r.lapsed(minute):
		return minute - r.begin()
	case r.Confirm.Lapse == BackRamp:
		return -1
	}
	return r.deadline() - 1 - r.begin() // before a step that begins at the deadline
}

// deadline returns until when the ramp must be confirmed.
func (r *Ramp) deadline() int64 {
	return max(minuteOf(r.Confirm.Last), r.begin()) + minutes(r.Confirm.Every)
}

// lapsed reports whether the ramp was not confirmed in time. One that has reached its end needs
// no confirmation.
func (r *Ramp) lapsed(minute int64) bool {
	return r.Confirm != nil && minute >= r.deadline() && r.deadline() < r.begin()+r.length()
}

// changes returns the minutes at which the percentage may change, in no order.
func (r *Ramp) changes() (minutes []int64) {
	for _, mark := range r.marks() {
		minutes = append(minutes, r.begin()+mark)
		if !r.Reversed.IsZero() {
			minutes = append(minutes, minuteOf(r.Reversed)+r.turn()-mark+1)
		}
	}
	if r.Confirm != nil {
		minutes = append(minutes, r.deadline())
	}
	return minutes
}

// marks returns the elapsed times from which the ramp has another percentage than before.
func (r *Ramp) marks() []int64 {
	marks := []int64{0}
	for _, s := range r.Steps {
		marks = append(marks, marks[len(marks)-1]+minutes(s.For))
	}
	over := minutes(r.Over)
	n := min(over, maxRampSteps)
	for i := range n {
		marks = append(marks, ((i+1)*over+n-1)/n)
	}
	return marks
}

// boundaries returns the instants, in Unix seconds, at which the ramp changes the buckets of its
// share, which has the target and begins at start, or whether it is 100 %: such a share takes all
// without their ids (OFREP contract 11). r may be nil.
func (r *Ramp) boundaries(b Bucketer, start, target float32) (boundaries []int64) {
	if r == nil {
		return nil
	}
	for _, minute := range r.changes() {
		before := newBucketShare(b, start, r.percentageAt(minute-1, target))
		after := newBucketShare(b, start, r.percentageAt(minute, target))
		if before.End != after.End || (before.Percentage < 100) != (after.Percentage < 100) {
			boundaries = append(boundaries, 60*minute)
		}
	}
	return boundaries
}

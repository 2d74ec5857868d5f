package guidon

import "time"

// RampPhase is what a ramp does at an instant.
type RampPhase uint8

// Phases of a ramp.
const (
	RampWaiting   RampPhase = iota // for its start
	RampRunning                    // towards the target
	RampPaused                     // until it is resumed
	RampLapsed                     // it was not confirmed in time
	RampReversing                  // back to the initial percentage, where it stays
	RampEnded                      // at the target
)

// Phase returns what the ramp does at an instant.
func (r *Ramp) Phase(at time.Time) RampPhase {
	minute := minuteOf(at)
	elapsed := r.elapsed(minute)
	switch {
	case !r.Reversed.IsZero() && minute >= minuteOf(r.Reversed):
		return RampReversing
	case elapsed >= r.length():
		return RampEnded
	case !r.Paused.IsZero() && minute >= minuteOf(r.Paused):
		return RampPaused
	case r.lapsed(minute):
		return RampLapsed
	case elapsed < 0:
		return RampWaiting
	}
	return RampRunning
}

// Begin returns when the ramp starts, after all delays.
func (r *Ramp) Begin() time.Time { return time.Unix(60*r.begin(), 0).UTC() }

// End returns when the ramp comes to its target, or back to its initial percentage if it is
// reversed, unless an action changes that.
func (r *Ramp) End() time.Time {
	minute := r.begin() + r.length()
	if !r.Reversed.IsZero() {
		minute = minuteOf(r.Reversed) + r.turn()
	}
	return time.Unix(60*minute, 0).UTC()
}

// Deadline returns until when the ramp must be confirmed, or zero if it need not be.
func (r *Ramp) Deadline() time.Time {
	if r.Confirm == nil || !r.Reversed.IsZero() || r.deadline() >= r.begin()+r.length() {
		return time.Time{}
	}
	return time.Unix(60*r.deadline(), 0).UTC()
}

// Errors of actions that do not fit the phase of a ramp.
var (
	errRampNotRunning    = Errorf(FailedPrecondition, "the ramp is not running")
	errRampNotPaused     = Errorf(FailedPrecondition, "the ramp is not paused")
	errRampEnded         = Errorf(FailedPrecondition, "the ramp has ended")
	errRampUnconditional = Errorf(FailedPrecondition, "the ramp needs no confirmation")
)

// Pause returns the ramp standing still from now on, until it is resumed. Unless it is waiting or
// running, that is FailedPrecondition.
func (r *Ramp) Pause(now time.Time) (*Ramp, error) {
	switch r.Phase(now) {
	case RampEnded:
		return nil, errRampEnded
	case RampWaiting, RampRunning:
		paused := r.Clone()
		paused.Paused = wholeMinute(now)
		return paused, nil
	}
	return nil, errRampNotRunning
}

// Resume returns the ramp going on from where it was paused. Unless it is paused, that is
// FailedPrecondition.
func (r *Ramp) Resume(now time.Time) (*Ramp, error) {
	if r.Phase(now) != RampPaused {
		return nil, errRampNotPaused
	}
	return r.goingOn(now, func(r *Ramp) { r.Paused = time.Time{} }), nil
}

// Reverse returns the ramp running back from where it is. It is FailedPrecondition if it has not
// left its initial percentage, or runs back already.
func (r *Ramp) Reverse(now time.Time) (*Ramp, error) {
	if r.Phase(now) == RampReversing || r.elapsed(minuteOf(now)) < 0 {
		return nil, errRampNotRunning
	}
	reversed := r.goingOn(now, func(r *Ramp) { r.Paused = time.Time{} })
	reversed.Reversed = wholeMinute(now)
	return reversed, nil
}

// Confirmed returns the ramp with a confirmation. One that has lapsed goes on from where it is: at
// its initial percentage it begins again. It is FailedPrecondition if the ramp needs none.
func (r *Ramp) Confirmed(now time.Time) (*Ramp, error) {
	switch {
	case r.Confirm == nil:
		return nil, errRampUnconditional
	case r.Phase(now) == RampEnded:
		return nil, errRampEnded
	}
	return r.goingOn(now, func(*Ramp) {}), nil
}

// goingOn returns the ramp after a change, which counts as a confirmation: it is as far as before,
// and is delayed instead.
func (r *Ramp) goingOn(now time.Time, change func(*Ramp)) *Ramp {
	at := minuteOf(now)
	if !r.Reversed.IsZero() {
		at = min(at, minuteOf(r.Reversed))
	}
	next := r.Clone()
	change(next)
	if next.Confirm != nil {
		next.Confirm.Last = wholeMinute(now)
	}
	next.Delay += time.Duration(next.forward(at)-r.forward(at)) * time.Minute
	return next
}

func wholeMinute(t time.Time) time.Time { return t.UTC().Truncate(time.Minute) }

package service

import (
	"cmp"
	"fmt"
	"time"

	"github.com/guidonhq/guidon"
)

// Limits of a ramp.
const (
	MaxRampSteps  = 100
	MaxRampLength = 366 * 24 * time.Hour
	maxRampDelay  = 100 * MaxRampLength
	rampLengths   = "1 minute and 366 days"
)

// checkRamp checks the ramp, which may be nil, of a portion or threshold that begins at start. It
// returns the ramp in its stored form.
func checkRamp(of string, start float32, stated *guidon.Ramp) (*guidon.Ramp, error) {
	if stated == nil {
		return nil, nil
	}
	r := stated.Clone()
	if r.Start.IsZero() {
		return nil, invalidField("ramp.start", "must not be empty")
	}
	return r, cmp.Or(
		checkMinute("ramp.start", &r.Start), checkRampShare("ramp.from", of, start, r.Initial), checkRampLength(of, start, r),
		checkMinute("ramp.paused", &r.Paused), checkMinute("ramp.reversed", &r.Reversed),
		checkMinutes("ramp.delay", r.Delay, 0, maxRampDelay, "0 and 36,600 days"), checkRampConfirm(r.Confirm), checkRampEnd(r))
}

// checkRampEnd checks that no boundary of the ramp, however it is controlled, is too late to be sent.
func checkRampEnd(r *guidon.Ramp) error {
	latest, after := r.Start, r.Delay+r.Length()
	if r.Reversed.After(latest) {
		latest = r.Reversed
	}
	if c := r.Confirm; c != nil {
		if after += c.Every; c.Last.After(latest) {
			latest = c.Last
		}
	}
	if latest.Add(after).After(lastTime) {
		return invalidField("ramp", "must end before the year 10000")
	}
	return nil
}

// checkRampLength checks how the ramp comes to its target.
func checkRampLength(of string, start float32, r *guidon.Ramp) error {
	switch {
	case (r.Over != 0) == (len(r.Steps) > 0):
		return invalidField("ramp", "needs either over or steps")
	case len(r.Steps) > MaxRampSteps:
		return invalidField("ramp.steps", fmt.Sprintf("must not contain more than %d steps", MaxRampSteps))
	case len(r.Steps) == 0:
		return checkMinutes("ramp.over", r.Over, time.Minute, MaxRampLength, rampLengths)
	}
	for i, s := range r.Steps {
		at := fmt.Sprintf("ramp.steps[%d].", i)
		if err := cmp.Or(
			checkRampShare(at+"percentage", of, start, s.Percentage), checkMinutes(at+"for", s.For, time.Minute, MaxRampLength, rampLengths),
		); err != nil {
			return err
		}
	}
	if r.Length() > MaxRampLength {
		return invalidField("ramp.steps", "must take at most 366 days together")
	}
	return nil
}

func checkRampShare(name, of string, start, percentage float32) error {
	if checkShare(name, start, percentage) == nil {
		return nil
	}
	return invalidField(name, "must be within [0, 100], together with the start of the "+of)
}

func checkRampConfirm(c *guidon.RampConfirm) error {
	if c == nil {
		return nil
	}
	return cmp.Or(checkMinutes("ramp.confirm.every", c.Every, time.Minute, MaxRampLength, rampLengths),
		checkEnum("ramp.confirm.lapse", c.Lapse), checkMinute("ramp.confirm.last", &c.Last))
}

// checkMinute checks an instant, which may be zero, and sets it to its stored form.
func checkMinute(name string, at *time.Time) error {
	*at = at.UTC()
	return checkInstant(name, *at, time.Minute, "minute")
}

// checkMinutes checks that a duration has whole minutes and is between two others.
func checkMinutes(name string, d, least, most time.Duration, words string) error {
	switch {
	case d < least || d > most:
		return invalidField(name, "must be between "+words)
	case d%time.Minute != 0:
		return invalidField(name, "must be whole minutes")
	}
	return nil
}

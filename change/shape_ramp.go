package change

import (
	"reflect"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/internal/clock"
	"github.com/guidonhq/guidon/internal/lists"
)

// ramp returns the member for a ramp.
func ramp[T any](at func(*T) **guidon.Ramp) *value[T] {
	v := whole("ramp", "ramp", at, rampWords)
	v.show = func(t *T) any {
		if *at(t) == nil {
			return ""
		}
		return ramped{"", *at(t)}
	}
	v.set = func(to, from *T) { *at(to) = (*at(from)).Clone() }
	return v
}

// rampWords returns the ramp in words, such as "reached over 72h from 1 December 2026 09:00 UTC", or
// "" if r is nil.
func rampWords(r *guidon.Ramp) string {
	if r == nil {
		return ""
	}
	text := "reached over " + clock.Text(r.Over)
	if len(r.Steps) > 0 {
		steps := lists.Map(r.Steps, func(s guidon.RampStep) string {
			return analysis.PercentWords(s.Percentage) + " for " + clock.Text(s.For)
		})
		text = "reached after " + strings.Join(steps, ", ")
	}
	text += " from " + analysis.InstantWords(r.Start)
	if r.Initial != 0 {
		text += ", starting at " + analysis.PercentWords(r.Initial)
	}
	if r.Delay != 0 {
		text += ", delayed by " + clock.Text(r.Delay)
	}
	if c := r.Confirm; c != nil {
		text += ", confirmed every " + clock.Text(c.Every)
		if c.Lapse == guidon.BackRamp {
			text += " or taken back"
		}
		if !c.Last.IsZero() {
			text += ", last on " + analysis.InstantWords(c.Last)
		}
	}
	if !r.Paused.IsZero() {
		text += ", paused on " + analysis.InstantWords(r.Paused)
	}
	if !r.Reversed.IsZero() {
		text += ", reversed on " + analysis.InstantWords(r.Reversed)
	}
	return text
}

// ramped is a ramp for words, with those of the share that it is of, or none.
type ramped struct {
	share string
	ramp  *guidon.Ramp
}

func (r ramped) words() string {
	if r.share == "" {
		return rampWords(r.ramp)
	}
	return r.share + ", " + rampWords(r.ramp)
}

// action returns what was done with the ramp, such as "paused", or "" if it was edited.
func (r ramped) action(after any) string {
	is, ramps := after.(ramped)
	was := r.ramp
	if !ramps || is.share != r.share || !reflect.DeepEqual(plan(was), plan(is.ramp)) {
		return ""
	}
	what := ""
	if r.share != "" {
		what = "ramp "
	}
	switch {
	case !is.ramp.Reversed.Equal(was.Reversed):
		return what + "reversed"
	case is.ramp.Paused.IsZero() && !was.Paused.IsZero():
		return what + "resumed"
	case !is.ramp.Paused.Equal(was.Paused):
		return what + "paused"
	}
	return what + "confirmed"
}

// plan returns the ramp without what actions change.
func plan(r *guidon.Ramp) *guidon.Ramp {
	r = r.Clone()
	r.Paused, r.Reversed, r.Delay = time.Time{}, time.Time{}, 0
	if r.Confirm != nil {
		r.Confirm.Last = time.Time{}
	}
	return r
}

package servicetest

import (
	"context"
	"fmt"
	"slices"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/flagtest"
	"github.com/guidonhq/guidon/service"
)

// controlRamp does something with the ramp of a flag.
func (m *model) controlRamp(s *space) attempt {
	key := m.flagKey()
	for _, other := range flagKeys { // one that has a ramp, if possible
		if f := s.current().flags[other]; f != nil && len(f.Ramped()) > 0 && m.one(2) {
			key = other
		}
	}
	have, action := s.current().flags[key], service.RampAction(1+m.random.IntN(6)) // #nosec G115 -- few
	rule := m.random.IntN(4)
	if have != nil && len(have.Ramped()) > 0 && !m.one(6) {
		rule = 1 + pick(m, have.Ramped())
	}
	return attempt{
		space: s, name: fmt.Sprintf("ControlRamp %s of rule %d of %s at %s", service.RampActions()[action-1], rule, key, m.now),
		run: func(ctx context.Context, w service.Write) (int64, error) {
			return revisionOf(m.service.ControlRamp(ctx, w, s.key, key, rule, action, nil))
		},
		expect: func() expectation { return m.rampControlled(s, have, rule, action) },
	}
}

// rampControlled returns what the action makes of a flag, which may be nil: the percentage stays the same for now,
// unless the ramp is finished.
func (m *model) rampControlled(s *space, have *guidon.Flag, rule int, action service.RampAction) expectation {
	m.t.Helper()
	if have == nil {
		return failure(guidon.NotFound)
	}
	ramped := have.Ramped()
	if rule == 0 && len(ramped) == 1 {
		rule = ramped[0] + 1
	}
	if !slices.Contains(ramped, rule-1) {
		return failure(guidon.InvalidArgument)
	}
	next, f := s.current().clone(), flagtest.Copy(have)
	ramp, target := f.Ramp(rule - 1)
	was := **ramp
	percentage := was.PercentageAt(m.now.Unix(), *target)
	if !mayControl(&was, action, m) {
		return failure(guidon.FailedPrecondition)
	}
	next.flags[f.Key] = f
	got := m.read(s).flags[f.Key]
	if got == nil || !slices.Equal(ramped, got.Ramped()) && action < service.StopRamp {
		m.fail("the ramp is gone")
	}
	switch action {
	case service.StopRamp:
		*ramp, *target = nil, percentage
		return expectation{next: next}
	case service.FinishRamp:
		*ramp = nil
		return expectation{next: next}
	}
	is, _ := got.Ramp(rule - 1)
	if now := (*is).PercentageAt(m.now.Unix(), *target); now != percentage {
		m.fail("the ramp was at %v and is at %v: %+v, %+v", percentage, now, was, **is)
	}
	for minutes := range 40 {
		later := m.now.Unix() + int64(minutes)*60*37
		now := (*is).PercentageAt(later, *target)
		switch {
		case action == service.PauseRamp && now != percentage && was.Confirm == nil:
			m.fail("the ramp is paused at %v, and later at %v: %+v", percentage, now, **is)
		case action == service.ReverseRamp && minutes == 39 && now != was.Initial && later > m.now.Unix()+int64(was.Length().Seconds()):
			m.fail("the ramp is reversed and stays at %v: %+v", now, **is)
		}
	}
	*ramp = *is
	return expectation{next: next}
}

// mayControl reports whether the action fits what the ramp does now.
func mayControl(r *guidon.Ramp, action service.RampAction, m *model) bool {
	phase := r.Phase(m.now)
	switch action {
	case service.PauseRamp:
		return phase == guidon.RampWaiting || phase == guidon.RampRunning
	case service.ResumeRamp:
		return phase == guidon.RampPaused
	case service.ReverseRamp:
		begun := !m.now.Before(r.Begin()) && (r.Paused.IsZero() || !r.Paused.Before(r.Begin())) && !(phase == guidon.RampLapsed && r.Confirm.Lapse == guidon.BackRamp)
		return phase != guidon.RampReversing && begun
	case service.ConfirmRamp:
		return r.Confirm != nil && phase != guidon.RampEnded
	}
	return true
}

package convert

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/internal/lists"
)

// RampOf returns the ramp, or nil if m is nil.
func RampOf(m *flipt.Ramp) *guidon.Ramp {
	if m == nil {
		return nil
	}
	r := &guidon.Ramp{
		Start: timeOf(m.GetStart()), Initial: m.GetInitial(), Over: m.GetOver().AsDuration(),
		Steps: lists.Map(m.GetSteps(), func(s *flipt.RampStep) guidon.RampStep {
			return guidon.RampStep{Percentage: s.GetPercentage(), For: s.GetDuration().AsDuration()}
		}),
		Paused: timeOf(m.GetPaused()), Reversed: timeOf(m.GetReversed()), Delay: m.GetDelay().AsDuration(),
	}
	if c := m.GetConfirm(); c != nil {
		r.Confirm = &guidon.RampConfirm{
			Every: c.GetEvery().AsDuration(), Lapse: Enum[guidon.RampLapse](c.GetLapse()), Last: timeOf(c.GetLast()),
		}
	}
	return r
}

// WireRamp returns the message of the ramp, or nil if r is nil.
func WireRamp(r *guidon.Ramp) *flipt.Ramp {
	if r == nil {
		return nil
	}
	m := &flipt.Ramp{
		Start: Timestamp(r.Start), Initial: r.Initial, Over: wireDuration(r.Over),
		Steps: lists.Map(r.Steps, func(s guidon.RampStep) *flipt.RampStep {
			return &flipt.RampStep{Percentage: s.Percentage, Duration: wireDuration(s.For)}
		}),
		Paused: Timestamp(r.Paused), Reversed: Timestamp(r.Reversed), Delay: wireDuration(r.Delay),
	}
	if c := r.Confirm; c != nil {
		m.Confirm = &flipt.RampConfirm{Every: wireDuration(c.Every), Lapse: flipt.RampLapse(c.Lapse), Last: Timestamp(c.Last)}
	}
	return m
}

func wireDuration(d time.Duration) *durationpb.Duration {
	if d == 0 {
		return nil
	}
	return durationpb.New(d)
}

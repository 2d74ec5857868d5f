package service

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/change"
)

// RampAction is what can be done with a ramp. The numbers are those of the wire.
type RampAction uint8

// Actions on ramps.
const (
	UnknownRampAction RampAction = 0
	PauseRamp         RampAction = 1
	ResumeRamp        RampAction = 2
	ReverseRamp       RampAction = 3
	ConfirmRamp       RampAction = 4
	StopRamp          RampAction = 5 // the percentage of the moment stays
	FinishRamp        RampAction = 6 // the target is reached
)

// RampActions returns the names of the actions in commands, from PauseRamp on.
func RampActions() []string {
	return []string{"pause", "resume", "reverse", "confirm", "stop", "finish"}
}

// ControlRamp changes the ramp of the rule with the number, from 1; 0 means that of the only rule
// with one. It returns NotFound if the flag does not exist, InvalidArgument if the rule has no
// ramp, and FailedPrecondition if the action does not fit what the ramp does.
func (s *Service) ControlRamp(
	ctx context.Context, w Write, namespace, key string, rule int, action RampAction, unlessChangedSince *int64,
) (*WriteResult, int64, error) {
	return s.switchFlag(ctx, w, namespace, key, unlessChangedSince, func(_ context.Context, tx Tx, f *guidon.Flag) (bool, error) {
		i, err := controlRamp(f, rule, action, s.now())
		if err != nil {
			return false, err
		}
		f.UpdatedAt = tx.Now()
		if f.Type == guidon.BooleanFlag {
			f.Rollouts[i].UpdatedAt = tx.Now()
		} else {
			f.Rules[i].UpdatedAt = tx.Now()
		}
		return true, nil
	})
}

// PreviewRamp returns the effect on the users of the flag if [Service.ControlRamp] changes it now.
// The errors are those of ControlRamp.
func (v View) PreviewRamp(ctx context.Context, key string, rule int, action RampAction) (*analysis.Effect, error) {
	f, err := v.Flag(key)
	if err != nil {
		return nil, err
	}
	changed := change.Clone(f)
	if _, err := controlRamp(changed, rule, action, v.instant()); err != nil {
		return nil, err
	}
	return analysis.EffectOf(ctx, v.Snapshot, v.with(changed), key)
}

// controlRamp changes the ramp of a rule of the flag, and returns the rule's index.
func controlRamp(f *guidon.Flag, rule int, action RampAction, now time.Time) (index int, err error) {
	i, err := rampedRule(f, rule)
	if err != nil {
		return 0, err
	}
	ramp, percentage := f.Ramp(i)
	var next *guidon.Ramp
	switch action {
	case PauseRamp:
		next, err = (*ramp).Pause(now)
	case ResumeRamp:
		next, err = (*ramp).Resume(now)
	case ReverseRamp:
		next, err = (*ramp).Reverse(now)
	case ConfirmRamp:
		next, err = (*ramp).Confirmed(now)
	case StopRamp:
		*percentage = (*ramp).PercentageAt(now.Unix(), *percentage)
	case FinishRamp:
	default:
		err = invalidField("action", "must be one of "+strings.Join(RampActions(), ", "))
	}
	if err == nil {
		*ramp = next
	}
	return i, err
}

// rampedRule returns the index of the rule with the number, which must have a ramp; 0 means the
// only one that has.
func rampedRule(f *guidon.Flag, number int) (index int, err error) {
	ramped := f.Ramped()
	switch {
	case number == 0 && len(ramped) == 1:
		return ramped[0], nil
	case number == 0 && len(ramped) > 1:
		return 0, invalidField("rule", "must be given, because several rules have ramps")
	case slices.Contains(ramped, number-1):
		return number - 1, nil
	case number == 0:
		return 0, guidon.Errorf(guidon.InvalidArgument, "flag %q has no ramp", f.Key)
	}
	return 0, guidon.Errorf(guidon.InvalidArgument, "rule %d of flag %q has no ramp", number, f.Key)
}

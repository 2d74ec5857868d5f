package service_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// ramped has a flag whose only rule reaches 100 % in 100 minutes from nine on, and one with a
// portion that does.
func ramped() string {
	return strings.NewReplacer("NINE", nine.Format(time.RFC3339)).Replace(`version: guidon/1
namespace: {key: shop, name: Shop}
flags:
  - key: f
    name: F
    type: BOOLEAN_FLAG_TYPE
    rollouts: [{threshold: {percentage: 100, value: true, ramp: {start: NINE, over: 1h40m, confirm: {every: 30m, lapse: BACK}}}}]
  - key: two
    name: Two
    type: BOOLEAN_FLAG_TYPE
    rollouts:
      - {segment: {value: true}, everyone: true, portion: {percentage: 50, ramp: {start: NINE, from: 10, steps: [{percentage: 20, for: 1h}]}}}
      - {threshold: {percentage: 100, value: true, ramp: {start: NINE, over: 1h}}}
      - {threshold: {percentage: 100, value: true}}
  - {key: none, name: None, type: BOOLEAN_FLAG_TYPE}
`)
}

// TestControlRamp goes through the life of a ramp: each action is one revision, and none changes
// the percentage at once but finish.
func TestControlRamp(t *testing.T) {
	now := nine
	s := newTimed(t, &now)
	mustImport(t, s, ramped(), service.ImportCreate)
	percentage := func() float32 {
		v := view(t, s, "shop")
		return v.Snapshot.Compiled("f").Threshold(0).Percentage
	}
	for _, step := range []struct {
		after  time.Duration // since nine
		action service.RampAction
		want   float32 // after the action
	}{
		{10 * time.Minute, service.PauseRamp, 10},
		{60 * time.Minute, service.ResumeRamp, 10}, // which delays it by 50 minutes
		{85 * time.Minute, service.ConfirmRamp, 35},
		{116 * time.Minute, service.ConfirmRamp, 0}, // too late by a minute: it has gone back
		{127 * time.Minute, service.ReverseRamp, 10},
		{132 * time.Minute, service.ConfirmRamp, 5},
		{132 * time.Minute, service.StopRamp, 5},
	} {
		now = nine.Add(step.after)
		before, updated := percentage(), view(t, s, "shop").Snapshot.Flag("f").UpdatedAt
		r, _, err := s.ControlRamp(t.Context(), service.Write{}, "shop", "f", 1, step.action, nil)
		if err != nil || len(r.Changes) != 1 {
			t.Fatalf("%v, action %d: got %+v, %v", step.after, step.action, r, err)
		}
		if got := percentage(); got != step.want || got != before {
			t.Errorf("%v, action %d: got %v, before %v, want %v", step.after, step.action, got, before, step.want)
		}
		if f := view(t, s, "shop").Snapshot.Flag("f"); !f.UpdatedAt.After(updated) || !f.Rollouts[0].UpdatedAt.Equal(f.UpdatedAt) {
			t.Errorf("%v, action %d: updated at %v, the rollout at %v, before at %v", step.after, step.action, f.UpdatedAt, f.Rollouts[0].UpdatedAt, updated)
		}
	}
	if diff := cmp.Diff(&guidon.RolloutThreshold{Percentage: 5, Value: true}, view(t, s, "shop").Snapshot.Flag("f").Rollouts[0].Threshold); diff != "" {
		t.Errorf("stopped (-want +got):\n%s", diff)
	}
	if _, _, err := s.ControlRamp(t.Context(), service.Write{}, "shop", "two", 2, service.FinishRamp, nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&guidon.RolloutThreshold{Percentage: 100, Value: true}, view(t, s, "shop").Snapshot.Flag("two").Rollouts[1].Threshold); diff != "" {
		t.Errorf("finished (-want +got):\n%s", diff)
	}
}

// TestPreviewRamp: the effect of an action is that at the time of the view, and changes nothing.
func TestPreviewRamp(t *testing.T) {
	now := nine.Add(20 * time.Minute)
	s := newTimed(t, &now)
	mustImport(t, s, ramped(), service.ImportCreate)
	for action, want := range map[service.RampAction]bool{service.FinishRamp: true, service.StopRamp: false, service.PauseRamp: false} {
		e, err := view(t, s, "shop").PreviewRamp(t.Context(), "f", 0, action)
		if err != nil || (len(e.Groups) > 0) != want || want == (len(e.Later) > 0) && action != service.FinishRamp {
			t.Errorf("action %d: got %+v, %v, want an effect now: %v", action, e, err, want)
		}
	}
	if ramp, _ := view(t, s, "shop").Snapshot.Flag("f").Ramp(0); *ramp == nil {
		t.Error("a preview removed the ramp")
	}
}

// TestControlRampErrors: what does not fit changes nothing.
func TestControlRampErrors(t *testing.T) {
	now := nine.Add(time.Minute)
	s := newTimed(t, &now)
	mustImport(t, s, ramped(), service.ImportCreate)
	stale := int64(0)
	for _, tt := range []struct {
		name, key string
		rule      int
		action    service.RampAction
		since     *int64
		code      guidon.Code
		want      string
	}{
		{"no action", "f", 1, service.UnknownRampAction, nil, guidon.InvalidArgument, "invalid field action: must be one of pause, resume, reverse, confirm, stop, finish"},
		{"an unknown action", "f", 1, 7, nil, guidon.InvalidArgument, "invalid field action: must be one of pause, resume, reverse, confirm, stop, finish"},
		{"no such flag", "lost", 1, service.PauseRamp, nil, guidon.NotFound, `flag "shop/lost" not found`},
		{"no ramp", "none", 0, service.PauseRamp, nil, guidon.InvalidArgument, `flag "none" has no ramp`},
		{"several ramps", "two", 0, service.PauseRamp, nil, guidon.InvalidArgument, "invalid field rule: must be given, because several rules have ramps"},
		{"a rule without one", "two", 3, service.PauseRamp, nil, guidon.InvalidArgument, `rule 3 of flag "two" has no ramp`},
		{"no such rule", "two", 4, service.PauseRamp, nil, guidon.InvalidArgument, `rule 4 of flag "two" has no ramp`},
		{"a negative rule", "two", -1, service.PauseRamp, nil, guidon.InvalidArgument, `rule -1 of flag "two" has no ramp`},
		{"not paused", "f", 0, service.ResumeRamp, nil, guidon.FailedPrecondition, "the ramp is not paused"},
		{"nothing to confirm", "two", 1, service.ConfirmRamp, nil, guidon.FailedPrecondition, "the ramp needs no confirmation"},
		{"changed since", "f", 0, service.PauseRamp, &stale, guidon.FailedPrecondition, ""},
	} {
		before := revision(t, s, "shop")
		_, _, err := s.ControlRamp(t.Context(), service.Write{}, "shop", tt.key, tt.rule, tt.action, tt.since)
		if guidon.CodeOf(err) != tt.code || tt.want != "" && err.Error() != tt.want {
			t.Errorf("%s: got %v (%v), want %s", tt.name, err, guidon.CodeOf(err), tt.want)
		}
		if after := revision(t, s, "shop"); after != before {
			t.Errorf("%s: revision %d after %d", tt.name, after, before)
		}
	}
}

// TestRampErrors: a ramp that is saved is in whole minutes and within its bounds.
func TestRampErrors(t *testing.T) {
	s := newService(t)
	mustImport(t, s, "namespace: {key: shop, name: Shop}\nflags: [{key: f, name: F, type: BOOLEAN_FLAG_TYPE}]", service.ImportCreate)
	valid := guidon.Ramp{Start: nine, Over: time.Hour}
	stepped := guidon.Ramp{Start: nine, Steps: []guidon.RampStep{{Percentage: 5, For: time.Hour}}}
	const within = ": must be within [0, 100], together with the start of the threshold"
	for _, tt := range []struct {
		name string
		ramp guidon.Ramp
		edit func(*guidon.Ramp)
		want string
	}{
		{"linear", valid, func(*guidon.Ramp) {}, ""},
		{"stepped", stepped, func(*guidon.Ramp) {}, ""},
		{"in another zone", valid, func(r *guidon.Ramp) { r.Start = nine.In(time.FixedZone("", 3600)) }, ""},
		{"until the end of time", valid, func(r *guidon.Ramp) { r.Start = time.Date(9999, 12, 31, 23, 0, 0, 0, time.UTC) }, "ramp: must end before the year 10000"},
		{"reversed then", valid, func(r *guidon.Ramp) { r.Reversed = time.Date(9999, 12, 31, 23, 0, 0, 0, time.UTC) }, "ramp: must end before the year 10000"},
		{"confirmed then", valid, func(r *guidon.Ramp) {
			r.Confirm = &guidon.RampConfirm{Every: time.Hour, Last: time.Date(9999, 12, 31, 23, 0, 0, 0, time.UTC)}
		}, "ramp: must end before the year 10000"},
		{"no start", valid, func(r *guidon.Ramp) { r.Start = time.Time{} }, "ramp.start: must not be empty"},
		{"seconds", valid, func(r *guidon.Ramp) { r.Start = nine.Add(time.Second) }, "ramp.start: must be a whole minute"},
		{"long ago", valid, func(r *guidon.Ramp) { r.Start = time.Unix(0, 0) }, "ramp.start: must be between the years 2000 and 9999"},
		{"from below 0", valid, func(r *guidon.Ramp) { r.Initial = -1 }, "ramp.from" + within},
		{"from above 100", valid, func(r *guidon.Ramp) { r.Initial = 75.5 }, "ramp.from" + within},
		{"neither", valid, func(r *guidon.Ramp) { r.Over = 0 }, "ramp: needs either over or steps"},
		{"both", stepped, func(r *guidon.Ramp) { r.Over = time.Hour }, "ramp: needs either over or steps"},
		{"too short", valid, func(r *guidon.Ramp) { r.Over = time.Second }, "ramp.over: must be between 1 minute and 366 days"},
		{"too long", valid, func(r *guidon.Ramp) { r.Over = 367 * 24 * time.Hour }, "ramp.over: must be between 1 minute and 366 days"},
		{"half a minute", valid, func(r *guidon.Ramp) { r.Over += 30 * time.Second }, "ramp.over: must be whole minutes"},
		{"an empty step", stepped, func(r *guidon.Ramp) { r.Steps[0].For = 0 }, "ramp.steps[0].for: must be between 1 minute and 366 days"},
		{"a step above 100", stepped, func(r *guidon.Ramp) { r.Steps[0].Percentage = 101 }, "ramp.steps[0].percentage" + within},
		{"steps of two years", stepped, func(r *guidon.Ramp) {
			r.Steps = []guidon.RampStep{{For: 300 * 24 * time.Hour}, {For: 300 * 24 * time.Hour}}
		}, "ramp.steps: must take at most 366 days together"},
		{"too many steps", stepped, func(r *guidon.Ramp) { r.Steps = make([]guidon.RampStep, 101) }, "ramp.steps: must not contain more than 100 steps"},
		{"paused at a second", valid, func(r *guidon.Ramp) { r.Paused = nine.Add(time.Second) }, "ramp.paused: must be a whole minute"},
		{"reversed at a second", valid, func(r *guidon.Ramp) { r.Reversed = nine.Add(time.Second) }, "ramp.reversed: must be a whole minute"},
		{"delayed by -1", valid, func(r *guidon.Ramp) { r.Delay = -time.Minute }, "ramp.delay: must be between 0 and 36,600 days"},
		{"confirmed always", valid, func(r *guidon.Ramp) { r.Confirm = &guidon.RampConfirm{} }, "ramp.confirm.every: must be between 1 minute and 366 days"},
		{"an unknown lapse", valid, func(r *guidon.Ramp) { r.Confirm = &guidon.RampConfirm{Every: time.Hour, Lapse: 2} }, `ramp.confirm.lapse: `},
		{"confirmed at a second", valid, func(r *guidon.Ramp) { r.Confirm = &guidon.RampConfirm{Every: time.Hour, Last: nine.Add(1)} }, "ramp.confirm.last: must be a whole minute"},
	} {
		r := tt.ramp.Clone()
		tt.edit(r)
		in := service.RolloutInput{FlagKey: "f", Rollout: guidon.Rollout{Rank: 1, Threshold: &guidon.RolloutThreshold{Percentage: 50, Value: true, Start: 25, Ramp: r}}}
		created, _, err := s.CreateRollout(t.Context(), service.Write{}, "shop", in)
		if tt.want != "" {
			if guidon.CodeOf(err) != guidon.InvalidArgument || !strings.HasPrefix(err.Error(), "invalid field "+tt.want) {
				t.Errorf("%s: got %v, want invalid field %s", tt.name, err, tt.want)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		in.ID, in.Threshold = created.ID, &guidon.RolloutThreshold{Percentage: 100, Value: true}
		if _, _, err := s.UpdateRollout(t.Context(), service.Write{}, "shop", in); guidon.CodeOf(err) != guidon.FailedPrecondition {
			t.Errorf("%s: an update that does not state the ramp: got %v", tt.name, err)
		}
		stored := view(t, s, "shop").Snapshot.Flag("f").Rollout(created.ID).Threshold.Ramp
		r.Start = r.Start.UTC()
		if diff := cmp.Diff(r, stored); diff != "" {
			t.Errorf("%s: stored (-want +got):\n%s", tt.name, diff)
		}
		if _, err := s.DeleteRollout(t.Context(), service.Write{}, "shop", "f", created.ID); err != nil {
			t.Fatal(err)
		}
	}
}

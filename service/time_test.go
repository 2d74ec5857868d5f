package service_test

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// nine is in the future, so that states are not from before their namespace.
var nine = time.Now().UTC().Truncate(time.Hour).Add(9 * time.Hour)

// scheduled returns a document with a flag that is on from the time on.
func scheduled(from string) string {
	return `version: guidon/1
namespace: {key: shop, name: Shop}
flags:
  - {key: f, name: F, type: BOOLEAN_FLAG_TYPE, rollouts: [{threshold: {percentage: 100, value: true}, from: ` + from + `}]}
`
}

// newTimed returns a service whose clock shows now. If that is nil, reading it fails the test.
func newTimed(t *testing.T, now *time.Time) *service.Service {
	t.Helper()
	return service.NewService(newStore(t), func() time.Time {
		if now.IsZero() {
			t.Error("the clock is read")
		}
		return *now
	})
}

func evaluated(t *testing.T, v service.View, key string) bool {
	t.Helper()
	result, err := v.Snapshot.Boolean(key, "user", nil)
	if err != nil {
		t.Fatal(err)
	}
	return result.Enabled
}

// TestViewInTime: a view is of the epoch of the clock, which is read only if answers depend on
// it. A state that is named by a time is of that time, and one named by its revision of now.
func TestViewInTime(t *testing.T) {
	var now time.Time
	s := newTimed(t, &now)
	mustImport(t, s, scheduled("null"), service.ImportCreate)
	if !evaluated(t, view(t, s, "shop"), "f") || view(t, s, "shop").Epoch != 0 {
		t.Error("without times: not on in the epoch 0")
	}
	mustImport(t, s, scheduled(nine.Format(time.RFC3339)), service.ImportUpdate)
	now = nine
	last := strconv.FormatInt(revision(t, s, "shop"), 10)
	for at, want := range map[time.Duration]bool{-1: false, 0: true, time.Hour: true} {
		now = nine.Add(at)
		current, byRevision := view(t, s, "shop"), viewAt(t, s, "shop@"+last)
		if evaluated(t, current, "f") != want || evaluated(t, byRevision, "f") != want || (current.Epoch == nine.Unix()) != want {
			t.Errorf("%v after from: got %v, by revision %v, in epoch %d", at, evaluated(t, current, "f"), evaluated(t, byRevision, "f"), current.Epoch)
		}
		now = time.Time{}
		if evaluated(t, viewAt(t, s, "shop@"+nine.Add(-time.Millisecond).Format(time.RFC3339Nano)), "f") || !evaluated(t, viewAt(t, s, "shop@"+nine.Format(time.RFC3339)), "f") {
			t.Error("a state that is named by a time is not of that time")
		}
		now = nine.Add(at)
	}
}

// TestPreviewInTime: the effect of an edit is that at the time of the view, also if the edit
// brings or removes times.
func TestPreviewInTime(t *testing.T) {
	now := nine.Add(time.Minute)
	s := newTimed(t, &now)
	mustImport(t, s, scheduled("null"), service.ImportCreate)
	for from, changes := range map[time.Time]bool{nine: false, nine.Add(time.Hour): true} {
		edited := service.NewDocumentFlag(view(t, s, "shop").Snapshot.Flag("f"))
		edited.Rollouts[0].Conditions = &guidon.Conditions{From: from}
		e, err := view(t, s, "shop").PreviewFlag(t.Context(), "f", edited)
		if err != nil || (len(e.Groups) > 0) != changes {
			t.Errorf("from %v: got %+v, %v, want an effect: %v", from, e, err, changes)
		}
	}
}

// TestTimesOfRules: what is saved is in whole seconds of UTC, and ends after it begins.
func TestTimesOfRules(t *testing.T) {
	const early, fraction = "must be between the years 2000 and 9999", "must be a whole second"
	s := newService(t)
	mustImport(t, s, "namespace: {key: shop, name: Shop}\nflags: [{key: f, name: F, type: BOOLEAN_FLAG_TYPE}]\nsegments: [{key: g, name: G}]", service.ImportCreate)
	for name, c := range map[string]struct {
		from, until time.Time
		want        string
	}{
		"both":               {nine, nine.Add(time.Second), ""},
		"another zone":       {nine.In(time.FixedZone("", -3600)), time.Time{}, ""},
		"only until":         {time.Time{}, nine, ""},
		"until is from":      {nine, nine, "invalid field until: must be after from"},
		"until before from":  {nine, nine.Add(-time.Second), "invalid field until: must be after from"},
		"fraction of from":   {nine.Add(time.Millisecond), time.Time{}, "invalid field from: " + fraction},
		"fraction of until":  {time.Time{}, nine.Add(1), "invalid field until: " + fraction},
		"long ago":           {time.Date(1999, 12, 31, 23, 59, 59, 0, time.UTC), time.Time{}, "invalid field from: " + early},
		"too far":            {nine, time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), "invalid field until: " + early},
		"not even a year":    {time.Unix(1<<62, 0), time.Time{}, "invalid field from: " + early},
		"nor a negative one": {time.Unix(-1<<62, 0), time.Time{}, "invalid field from: " + early},
	} {
		times := guidon.Conditions{From: c.from, Until: c.until}
		for kind, in := range map[string]service.RolloutInput{
			"threshold": {FlagKey: "f", Rollout: guidon.Rollout{Rank: 1, Threshold: &guidon.RolloutThreshold{Percentage: 5}, Conditions: times.OrNil()}},
			"segment":   {FlagKey: "f", SegmentKey: "g", Rollout: guidon.Rollout{Rank: 1, Segment: &guidon.RolloutSegment{}, Conditions: times.OrNil()}},
		} {
			r, _, err := s.CreateRollout(t.Context(), service.Write{}, "shop", in)
			if c.want != "" {
				if guidon.CodeOf(err) != guidon.InvalidArgument || err.Error() != c.want {
					t.Errorf("%s, %s: got %v, want %s", name, kind, err, c.want)
				}
				continue
			}
			if err != nil {
				t.Fatalf("%s, %s: %v", name, kind, err)
			}
			stored := view(t, s, "shop").Snapshot.Flag("f").Rollout(r.ID)
			if stored.Stated().From != c.from.UTC() || stored.Stated().Until != c.until.UTC() {
				t.Errorf("%s, %s: stored as %v until %v", name, kind, stored.Stated().From, stored.Stated().Until)
			}
			unaware := in
			unaware.ID, unaware.Conditions = r.ID, nil
			_, _, err = s.UpdateRollout(t.Context(), service.Write{}, "shop", unaware)
			if !errors.Is(err, guidon.FailedPrecondition) {
				t.Errorf("%s, %s: an update without the times: got %v", name, kind, err)
			}
			if _, err := s.DeleteRollout(t.Context(), service.Write{}, "shop", "f", r.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestImportOfTimes: an import changes only the times that differ.
func TestImportOfTimes(t *testing.T) {
	s := newService(t)
	mustImport(t, s, scheduled(nine.Format(time.RFC3339)), service.ImportCreate)
	before := view(t, s, "shop").Snapshot.Flag("f").Rollouts[0]
	if again := mustImport(t, s, scheduled(nine.In(time.FixedZone("", 3600)).Format(time.RFC3339)), service.ImportUpdate); len(again.Changes) > 0 {
		t.Errorf("the same instant: %d changes", len(again.Changes))
	}
	mustImport(t, s, scheduled(nine.Add(time.Hour).Format(time.RFC3339)), service.ImportUpdate)
	after := view(t, s, "shop").Snapshot.Flag("f").Rollouts[0]
	if after.ID != before.ID || !after.Stated().From.Equal(nine.Add(time.Hour)) || after.UpdatedAt.Equal(before.UpdatedAt) {
		t.Errorf("got rule %s from %v updated at %v, before that at %v", after.ID, after.Stated().From, after.UpdatedAt, before.UpdatedAt)
	}
}

package service_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// TestEdit makes several changes in one revision, with one record for each object. Flags
// may refer to segments of the same call, and segments of deleted flags can be deleted.
func TestEdit(t *testing.T) {
	s := newService(t)
	mustImport(t, s, edited, service.ImportCreate)
	start := revision(t, s, "default")
	menu := documentFlag(t, s, "menu")
	menu.Name, menu.Rollouts[0].Segment.SegmentKeys, menu.Rollouts[1].Segment.SegmentKeys = "New menu", []string{"fresh"}, []string{"fresh"}
	result, at, err := s.Edit(t.Context(), ann, "", service.Edits{
		Flags: []service.FlagEdit{
			{Delete: "banner", UnlessChangedSince: &start},
			{Put: menu, UnlessChangedSince: &start},
			{Put: documentFlag(t, s, "checkout")},
			{Put: &guidon.Flag{Key: "new", Name: "New", Type: guidon.BooleanFlag}},
			{Delete: "none"},
		},
		Segments: []service.SegmentEdit{
			{Delete: "guests", UnlessChangedSince: &start},
			{Put: &guidon.Segment{Key: "fresh", Name: "Fresh"}, UnlessChangedSince: &start},
			{Delete: "no-segment"},
		},
	})
	if err != nil || at != start+1 {
		t.Fatalf("got revision %d, %v", at, err)
	}
	want := &service.WriteResult{
		Namespace: "default", Revision: start + 1, Unchanged: 3,
		Changes: []*service.ObjectChange{
			{Kind: "segment", Key: "fresh", Action: "create"}, {Kind: "flag", Key: "menu", Action: "update"}, {Kind: "flag", Key: "new", Action: "create"},
			{Kind: "flag", Key: "banner", Action: "delete"}, {Kind: "segment", Key: "guests", Action: "delete"},
		},
	}
	if diff := cmp.Diff(want, result); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	var wantLog []string
	for i, c := range want.Changes {
		wantLog = append(wantLog, fmt.Sprintf("%d.%d %s %s %s", start+1, i, c.Action, c.Kind, c.Key))
	}
	if diff := cmp.Diff(wantLog, logged(changes(t, s, "default", start))); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	if got := flag(t, s, "default", "menu"); got.Name != "New menu" || got.Rollouts[0].Segment.SegmentKeys[0] != "fresh" {
		t.Errorf("got the flag %+v", got)
	}
}

// TestEditTurnOff turns flags off in one revision: a boolean flag as TurnFlagOff does, a
// variant flag by its enabled. Those that are off are not written.
func TestEditTurnOff(t *testing.T) {
	s := newService(t)
	mustImport(t, s, edited, service.ImportCreate)
	start := revision(t, s, "default")
	edits := service.Edits{Flags: []service.FlagEdit{
		{TurnOff: "banner", UnlessChangedSince: &start}, {Delete: "menu"}, {TurnOff: "checkout", UnlessChangedSince: &start},
	}}
	result, at, err := s.Edit(t.Context(), ann, "", edits)
	want := &service.WriteResult{Namespace: "default", Revision: start + 1, Changes: []*service.ObjectChange{
		{Kind: "flag", Key: "banner", Action: "update"}, {Kind: "flag", Key: "checkout", Action: "update"}, {Kind: "flag", Key: "menu", Action: "delete"},
	}}
	if diff := cmp.Diff(want, result); diff != "" || err != nil || at != start+1 {
		t.Fatalf("revision %d, %v (-want +got):\n%s", at, err, diff)
	}
	if got := len(changes(t, s, "default", start)); got != 3 {
		t.Errorf("got %d records, want 3", got)
	}
	if enabled(t, s, "banner", "ann") {
		t.Error("banner is on")
	}
	banner, checkout := flag(t, s, "default", "banner"), flag(t, s, "default", "checkout")
	if len(banner.Rollouts) != 2 || banner.Rollouts[0].Description != service.OffDescription {
		t.Errorf("got the rollouts %+v", banner.Rollouts)
	}
	if checkout.Enabled || len(checkout.Rules) != 1 || !checkout.UpdatedAt.After(checkout.CreatedAt) {
		t.Errorf("got %+v", checkout)
	}
	edits.Flags = []service.FlagEdit{{TurnOff: "banner"}, {TurnOff: "checkout"}}
	again, _, err := s.Edit(t.Context(), ann, "", edits)
	if diff := cmp.Diff(&service.WriteResult{Namespace: "default", Revision: start + 1, Unchanged: 2}, again); diff != "" || err != nil {
		t.Errorf("again: %v (-want +got):\n%s", err, diff)
	}
	edits.Flags = []service.FlagEdit{{TurnOn: "banner"}, {TurnOn: "checkout"}}
	on, _, err := s.Edit(t.Context(), ann, "", edits)
	want = &service.WriteResult{Namespace: "default", Revision: start + 2, Changes: want.Changes[:2]}
	if diff := cmp.Diff(want, on); diff != "" || err != nil {
		t.Errorf("on: %v (-want +got):\n%s", err, diff)
	}
	if checkout := flag(t, s, "default", "checkout"); !checkout.Enabled || !enabled(t, s, "banner", "ann") {
		t.Errorf("got %+v", checkout)
	}
}

// TestEditProblems: all problems of all edits are reported together, and nothing changes.
func TestEditProblems(t *testing.T) {
	old, now, future := int64(1), int64(2), int64(7)
	many := make([]service.FlagEdit, service.MaxEdits)
	for i := range many {
		many[i].Delete = fmt.Sprint("flag-", i)
	}
	for _, test := range []struct {
		name  string
		edits service.Edits
		code  guidon.Code
		want  []string
	}{
		{"nothing", service.Edits{}, guidon.InvalidArgument, []string{"invalid field flags and segments: must not be empty"}},
		{
			"too many", service.Edits{Flags: many, Segments: []service.SegmentEdit{{Delete: "unused"}}},
			guidon.TooLarge, []string{"101 flags and segments are more than the limit of 100"},
		},
		{
			"the edits themselves", service.Edits{
				Flags: []service.FlagEdit{
					{}, {Put: &guidon.Flag{Key: "menu", Name: "Menu"}, Delete: "menu"}, {Delete: "banner"}, {Delete: "banner"},
					{Put: &guidon.Flag{Key: "a b", Name: "A"}, UnlessChangedSince: &now}, {Delete: "\x00", UnlessChangedSince: &old},
				},
				Segments: []service.SegmentEdit{{}, {Put: &guidon.Segment{Key: "new"}}, {Delete: "new"}},
			}, guidon.InvalidArgument, []string{
				`segments[0] "": invalid field put or delete: must not be empty`,
				`segments[1] "new": invalid field name: must not be empty`,
				`segments[2] "new": segment "new" is not unique`,
				`flags[0] "": invalid field put, delete, turnOff or turnOn: must not be empty`,
				`flags[1] "menu": invalid field put, delete, turnOff or turnOn: only one can be present`,
				`flags[3] "banner": flag "banner" is not unique`,
				`flags[4] "a b": invalid field key: contains invalid characters`,
			},
		},
		{
			"references", service.Edits{
				Flags: []service.FlagEdit{{Put: &guidon.Flag{Key: "banner", Name: "Banner", Type: guidon.BooleanFlag, Rollouts: []*guidon.Rollout{
					{Segment: &guidon.RolloutSegment{SegmentKeys: []string{"unused"}}}, {Segment: &guidon.RolloutSegment{SegmentKeys: []string{"none"}}}}}}},
				Segments: []service.SegmentEdit{{Delete: "unused"}, {Delete: "staff"}, {Delete: "guests"}},
			}, guidon.InvalidArgument, []string{
				`flags[0] "banner": rollouts[0]: segment "unused" not found`,
				`flags[0] "banner": rollouts[1]: segment "none" not found`,
				`segments[1] "staff": segment "default/staff" is in use by flag "checkout" (rule 1)`,
				`segments[2] "guests": segment "default/guests" is in use by flag "menu" (rules 1, 2)`,
			},
		},
		{
			"turning off", service.Edits{
				Flags: []service.FlagEdit{
					{TurnOff: "checkout"}, {TurnOff: "none"}, {TurnOff: "banner", Delete: "banner"}, {TurnOff: "checkout"}, {TurnOff: "menu", UnlessChangedSince: &old},
				},
				Segments: []service.SegmentEdit{{Delete: "staff"}},
			}, guidon.InvalidArgument, []string{
				`flags[1] "none": flag "default/none" not found`,
				`flags[2] "banner": invalid field put, delete, turnOff or turnOn: only one can be present`,
				`flags[3] "checkout": flag "checkout" is not unique`,
				`segments[0] "staff": segment "default/staff" is in use by flag "checkout" (rule 1)`,
				`flag "default/menu" was created in revision 2 by anonymous at TIME, after revision 1`,
			},
		},
		{
			"several users", service.Edits{Segments: []service.SegmentEdit{{Delete: "guests"}}}, guidon.InvalidArgument,
			[]string{`segments[0] "guests": segment "default/guests" is in use by flag "banner" (rule 1), flag "menu" (rules 1, 2)`},
		},
		{
			"conflicts", service.Edits{
				Flags: []service.FlagEdit{
					{Delete: "menu", UnlessChangedSince: &old}, {Delete: "banner", UnlessChangedSince: &now}, {Delete: "checkout", UnlessChangedSince: &future},
				},
				Segments: []service.SegmentEdit{{Delete: "unused", UnlessChangedSince: &old}},
			}, guidon.FailedPrecondition, []string{
				`segment "default/unused" was created in revision 2 by anonymous at TIME, after revision 1`,
				`flag "default/menu" was created in revision 2 by anonymous at TIME, after revision 1`,
				`flag "default/checkout": the namespace is at revision 2, before 7`,
			},
		},
		{
			"problems and conflicts", service.Edits{Flags: []service.FlagEdit{
				{Put: &guidon.Flag{Key: "menu"}, UnlessChangedSince: &old}, {Delete: "banner", UnlessChangedSince: new(int64(-1))},
			}}, guidon.InvalidArgument, []string{
				`flags[0] "menu": invalid field name: must not be empty`,
				`flags[1] "banner": invalid field unlessChangedSince: must not be negative`,
				`flag "default/menu" was created in revision 2 by anonymous at TIME, after revision 1`,
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newService(t)
			mustImport(t, s, edited, service.ImportCreate)
			before := exported(t, s, "default")
			_, _, err := s.Edit(t.Context(), service.Write{}, "", test.edits)
			if diff := cmp.Diff(test.want, strings.Split(problem(err), "\n")); diff != "" || !errors.Is(err, test.code) {
				t.Errorf("got %v, want %v (-want +got):\n%s", err, test.code, diff)
			}
			if diff := cmp.Diff(before, exported(t, s, "default")); diff != "" || revision(t, s, "default") != 2 {
				t.Errorf("something has changed (-before +after):\n%s", diff)
			}
		})
	}
}

// TestEditManyProblems: so many problems that not all are listed are still counted.
func TestEditManyProblems(t *testing.T) {
	s := newService(t)
	mustImport(t, s, edited, service.ImportCreate)
	old := int64(1)
	var edits service.Edits
	for i := range 60 {
		edits.Flags = append(edits.Flags, service.FlagEdit{Put: &guidon.Flag{Key: fmt.Sprint("flag-", i)}})
	}
	edits.Flags = append(edits.Flags, service.FlagEdit{Delete: "menu", UnlessChangedSince: &old})
	_, _, err := s.Edit(t.Context(), service.Write{}, "", edits)
	lines := strings.Split(problem(err), "\n")
	if len(lines) != 51 || lines[50] != "and 11 more problems" {
		t.Errorf("got %d lines, the last of which is %q", len(lines), lines[len(lines)-1])
	}
}

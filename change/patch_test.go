package change_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/internal/flagtest"
)

func flags(keys ...string) []*guidon.Flag {
	var out []*guidon.Flag
	for _, key := range keys {
		out = append(out, &guidon.Flag{Key: key})
	}
	return out
}

func segments(keys ...string) []*guidon.Segment {
	var out []*guidon.Segment
	for _, key := range keys {
		out = append(out, &guidon.Segment{Key: key})
	}
	return out
}

func TestPatchValidate(t *testing.T) {
	rule := &guidon.Flag{Key: "f", Rules: []*guidon.Rule{{SegmentKeys: []string{"kept", "s"}}}}
	rollout := &guidon.Flag{Key: "f", Rollouts: []*guidon.Rollout{
		{Threshold: &guidon.RolloutThreshold{}}, {Segment: &guidon.RolloutSegment{SegmentKeys: []string{"s"}}},
	}}
	for _, test := range []struct {
		name  string
		patch change.Patch
		want  string // the error; empty if there is none
	}{
		{"nothing", change.Patch{}, ""},
		{"everything once", change.Patch{
			Put:    change.Objects{Namespace: &guidon.Namespace{Key: "a"}, Segments: segments("a", "b"), Flags: flags("a", "b")},
			Delete: change.Keys{Segments: []string{"c", "d"}, Flags: []string{"c", "d"}},
		}, ""},
		{"a flag and a segment with the same key", change.Patch{
			Put: change.Objects{Flags: flags("a")}, Delete: change.Keys{Segments: []string{"a"}},
		}, ""},
		{"a flag that refers to a segment of the patch", change.Patch{
			Put: change.Objects{Segments: segments("s"), Flags: []*guidon.Flag{rule}},
		}, ""},

		{"a flag put twice", change.Patch{Put: change.Objects{Flags: flags("a", "b", "a")}}, `patch: flag "a" is put twice`},
		{"a segment put twice", change.Patch{Put: change.Objects{Segments: segments("a", "a")}}, `patch: segment "a" is put twice`},
		{"a flag deleted twice", change.Patch{Delete: change.Keys{Flags: []string{"a", "a"}}}, `patch: flag "a" is deleted twice`},
		{"a segment deleted twice", change.Patch{Delete: change.Keys{Segments: []string{"a", "a"}}}, `patch: segment "a" is deleted twice`},
		{"a flag put and deleted", change.Patch{
			Put: change.Objects{Flags: flags("a")}, Delete: change.Keys{Flags: []string{"b", "a"}},
		}, `patch: flag "a" is both put and deleted`},
		{"a segment put and deleted", change.Patch{
			Put: change.Objects{Segments: segments("a")}, Delete: change.Keys{Segments: []string{"a"}},
		}, `patch: segment "a" is both put and deleted`},
		{"a rule that refers to a deleted segment", change.Patch{
			Put: change.Objects{Flags: []*guidon.Flag{rule}}, Delete: change.Keys{Segments: []string{"s"}},
		}, `patch: flag "f" refers to segment "s", which is deleted`},
		{"a rollout that refers to a deleted segment", change.Patch{
			Put: change.Objects{Flags: []*guidon.Flag{rollout}}, Delete: change.Keys{Segments: []string{"s"}},
		}, `patch: flag "f" refers to segment "s", which is deleted`},
		{"a missing flag", change.Patch{Put: change.Objects{Flags: []*guidon.Flag{{}, nil}}}, "patch: put.flags[1] must not be null"},
		{"a missing segment", change.Patch{Put: change.Objects{Segments: []*guidon.Segment{nil}}}, "patch: put.segments[0] must not be null"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := test.patch.Validate()
			switch {
			case test.want == "" && err != nil:
				t.Errorf("got %v, want no error", err)
			case test.want != "" && (err == nil || err.Error() != test.want || guidon.CodeOf(err) != guidon.InvalidArgument):
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

// TestPatchJSON: a patch that was stored as JSON is the same, whatever its objects
// contain.
func TestPatchJSON(t *testing.T) {
	for name, patch := range map[string]change.Patch{
		"nothing": {},
		"everything": {
			Put: change.Objects{
				Namespace: flagtest.FilledNamespace("shop"),
				Segments:  []*guidon.Segment{flagtest.FilledSegment("a")},
				Flags:     flagtest.FilledFlags(),
			},
			Delete: change.Keys{Segments: []string{"b"}, Flags: []string{"b"}},
		},
		"only a put":      {Put: change.Objects{Flags: flags("a")}},
		"only a deletion": {Delete: change.Keys{Flags: []string{"a"}}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, f := range patch.Put.Flags {
				f.Created = guidon.Position{} // not in the stored form: the store sets it
			}
			for _, g := range patch.Put.Segments {
				g.Created = guidon.Position{}
			}
			text, err := json.Marshal(patch)
			if err != nil {
				t.Fatal(err)
			}
			var got change.Patch
			if err := json.Unmarshal(text, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(patch, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", text, diff)
			}
		})
	}
	if text, err := json.Marshal(change.Patch{Delete: change.Keys{Flags: []string{"a"}}}); err != nil || string(text) != `{"delete":{"flags":["a"]}}` {
		t.Errorf("got %s, %v; want only the deletion", text, err)
	}
}

// TestPatchJSONUnknownKind: objects of an unknown kind are not lost without notice.
func TestPatchJSONUnknownKind(t *testing.T) {
	for _, text := range []string{`{"put":{"webhooks":[{"key":"a"}]}}`, `{"delete":{"webhooks":["a"]}}`, `{"rename":{}}`} {
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.DisallowUnknownFields()
		var got change.Patch
		if err := decoder.Decode(&got); err == nil {
			t.Errorf("%s: no error, got %+v", text, got)
		}
	}
}

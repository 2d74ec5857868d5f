package service_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/internal/flagtest"
	"github.com/guidonhq/guidon/service"
)

// TestDocumentObjects: the objects of an exported document have the content of those that
// were exported.
func TestDocumentObjects(t *testing.T) {
	for seed := range uint64(20) {
		flags, segments := flagtest.NewSource(seed).State(20)
		v := service.View{Snapshot: guidon.NewSnapshot(&guidon.Namespace{Key: "shop", Name: "Shop"}, guidon.Revision{}, flags, segments)}
		objects, err := v.Export(false).Document().Objects()
		if err != nil {
			t.Fatal(err)
		}
		c := change.Outline(change.ObjectsOf(v.Snapshot), objects)
		if diff := cmp.Diff(change.Comparison{}, c); diff != "" || len(objects.Flags) != 20 || len(objects.Segments) != len(segments) {
			t.Errorf("seed %d: %d flags, %d segments (-want +got):\n%s", seed, len(objects.Flags), len(objects.Segments), diff)
		}
		// So do documents of single objects.
		one := service.FlagDocument(flags[0])
		one.Segments = service.SegmentDocument(segments[0]).Segments
		if objects, err = one.Objects(); err != nil {
			t.Fatal(err)
		}
		if d := append(change.Compare(flags[0], objects.Flags[0]), change.Compare(segments[0], objects.Segments[0])...); len(d) > 0 {
			t.Errorf("seed %d: %+v", seed, d)
		}
	}
	if service.FlagDocument(nil) != nil || service.SegmentDocument(nil) != nil {
		t.Error("got the document of nothing")
	}
}

// TestDocumentObjectsProblems: an invalid document has no objects. A reference to a segment
// that does not exist is kept.
func TestDocumentObjectsProblems(t *testing.T) {
	_, err := parse(t, `flags:
- {key: a b, name: A}
- {key: c, name: C, rules: [{segment: nowhere, distributions: [{variant: w, rollout: 10}]}]}
`).Objects()
	if !errors.Is(err, guidon.InvalidArgument) || !strings.Contains(err.Error(), `flags[0] "a b"`) || !strings.Contains(err.Error(), "finding variant: w") {
		t.Errorf("got %v", err)
	}
	objects, err := parse(t, `flags:
- {key: b, name: B, type: BOOLEAN_FLAG_TYPE, rollouts: [{segment: {key: elsewhere, value: true}}]}
- {key: c, name: C, rules: [{segment: nowhere}]}
`).Objects()
	if err != nil || objects.Flags[0].Rollouts[0].Segment.SegmentKeys[0] != "elsewhere" || objects.Flags[1].Rules[0].SegmentKeys[0] != "nowhere" {
		t.Errorf("got %+v, %v", objects, err)
	}
}

package page

import (
	"slices"
	"testing"

	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// TestSegmentKeys: segments that a rule leaves out are needed as well.
func TestSegmentKeys(t *testing.T) {
	flags := map[string]*guidonv1.DocumentFlag{
		"variant": {Rules: []*guidonv1.DocumentRule{
			{SegmentKeys: []string{"staff", "all"}, ExceptSegmentKeys: []string{"guests"}}, {SegmentKeys: []string{"all"}},
		}},
		"boolean": {Rollouts: []*guidonv1.DocumentRollout{
			{Rule: &guidonv1.DocumentRollout_Segment{Segment: &guidonv1.DocumentRolloutSegment{SegmentKeys: []string{"staff", "all"}}}},
			{Everyone: true, ExceptSegmentKeys: []string{"guests", "staff"}},
		}},
	}
	for name, f := range flags {
		if got, want := SegmentKeys(f), []string{"staff", "all", "guests"}; !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

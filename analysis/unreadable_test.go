package analysis_test

import (
	"errors"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/internal/flagtest"
)

// TestUnreadable: nothing is said about a flag that cannot be evaluated.
func TestUnreadable(t *testing.T) {
	for name, s := range map[string]*guidon.Snapshot{
		"flag": flagtest.SnapshotOf(guidon.ReadFlag("f", nil)),
		"segment": flagtest.SnapshotOf(
			flagtest.BooleanFlag("f", false, flagtest.SegmentRollout(true, guidon.OrSegments, "g")), guidon.ReadSegment("g", nil),
		),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := analysis.Explain(s, "f", "e", nil); !errors.Is(err, guidon.Unimplemented) {
				t.Errorf("explained: got %v, want %v", err, guidon.Unimplemented)
			}
			if got := analysis.Summarize(s.Compiled("f")); got.Constant || got.State != analysis.OffState {
				t.Errorf("got the summary %+v", got)
			}
		})
	}
}

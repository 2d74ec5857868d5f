package changes

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// TestTruncatedEffects: what is left out is said.
func TestTruncatedEffects(t *testing.T) {
	effect := &guidonv1.FlagEffect{Type: flipt.FlagType_BOOLEAN_FLAG_TYPE, Truncated: true, Groups: []*guidonv1.EffectGroup{{Moves: []*guidonv1.EffectMove{{Summary: "one\x1b"}, {Summary: "two"}}}}}
	var out strings.Builder
	PrintPlan(&out, &guidonv1.PlanResponse{NamespaceKey: "n", EffectsTruncated: true, Effects: []*guidonv1.PlannedEffect{{FlagKey: "f", Effect: effect}}})
	want := `n: 0 to create, 0 to update, 0 to delete, 0 unchanged
  flag f (uses a changed segment)
    effect: "one\x1b"
    effect: two
    effect: there may be more: rules that were not compared, or flags that depend on this one
  there may be effects on more flags than these
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

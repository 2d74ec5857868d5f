package page

import (
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
)

// SegmentKeys returns the keys of the segments that a flag refers to, each once, in order.
func SegmentKeys(f *guidonv1.DocumentFlag) (keys []string) {
	for _, r := range f.GetRules() {
		keys = append(append(keys, r.GetSegmentKeys()...), r.GetExceptSegmentKeys()...)
	}
	for _, r := range f.GetRollouts() {
		keys = append(append(keys, r.GetSegment().GetSegmentKeys()...), r.GetExceptSegmentKeys()...)
	}
	return lists.Distinct(keys)
}

package analysis

import (
	"slices"

	"github.com/guidonhq/guidon"
)

// SegmentUse lists the references to a segment in one flag.
type SegmentUse struct {
	Flag     *guidon.Flag
	Rules    []int // indexes in the flag, ascending; without any if the flag is Unreadable
	Rollouts []int
}

// SegmentUses returns the references to each segment by its key, in the order of the flags.
func SegmentUses(flags []*guidon.Flag) map[string][]SegmentUse {
	all := map[string][]SegmentUse{}
	// use returns the use of the segment in the flag, which is the last one that it has.
	use := func(key string, f *guidon.Flag) *SegmentUse {
		if n := len(all[key]); n == 0 || all[key][n-1].Flag != f {
			all[key] = append(all[key], SegmentUse{Flag: f})
		}
		return &all[key][len(all[key])-1]
	}
	for _, f := range flags {
		if f.Unreadable != nil {
			for key := range f.SegmentKeys() {
				use(key, f)
			}
		}
		for i, r := range f.Rules {
			for _, key := range slices.Concat(r.SegmentKeys, r.Stated().ExceptSegmentKeys) {
				u := use(key, f)
				u.Rules = appendOnce(u.Rules, i)
			}
		}
		for i, r := range f.Rollouts {
			if r.Segment == nil {
				continue
			}
			for _, key := range slices.Concat(r.Segment.SegmentKeys, r.Stated().ExceptSegmentKeys) {
				u := use(key, f)
				u.Rollouts = appendOnce(u.Rollouts, i)
			}
		}
	}
	return all
}

// appendOnce appends the index unless it is the last one.
func appendOnce(list []int, index int) []int {
	if n := len(list); n > 0 && list[n-1] == index {
		return list
	}
	return append(list, index)
}

package analysis

import (
	"slices"
	"strings"

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

// FlagUse lists the requirements of one flag that are about another.
type FlagUse struct {
	Flag  *guidon.Flag
	Whole bool  // the flag itself requires it
	Rules []int // indexes of the rules, or of the rollouts of a boolean flag, that do, ascending
}

// FlagUses returns the flags that require the flag with the key, by their keys.
func FlagUses(s *guidon.Snapshot, key string) (uses []FlagUse) {
	about := func(r guidon.Requirement) bool { return r.FlagKey == key }
	for _, f := range s.Requiring() {
		u := FlagUse{Flag: f, Whole: slices.ContainsFunc(f.Requires, about)}
		for i, c := range f.EachConditions() {
			if slices.ContainsFunc(c.Requires, about) {
				u.Rules = append(u.Rules, i)
			}
		}
		if u.Whole || len(u.Rules) > 0 {
			uses = append(uses, u)
		}
	}
	slices.SortFunc(uses, func(a, b FlagUse) int { return strings.Compare(a.Flag.Key, b.Flag.Key) })
	return uses
}

package evaluation

import (
	"strconv"

	"github.com/guidonhq/guidon"
)

// clientTarget is whom a rule is for, as clients know it: segments only (contract 9.5).
type clientTarget struct {
	segments []*guidon.Segment
	operator guidon.SegmentOperator
}

// clientTargetOf returns whom a rule of a flag that clients get is for, and false if it never
// matches. Groups of constraints, and everyone, become segments with the keys ~1, ~2 and so
// on, which no other segment can have.
func clientTargetOf(s *guidon.Snapshot, keys []string, operator guidon.SegmentOperator, c *guidon.Conditions) (t clientTarget, matches bool) {
	if c.Portion != nil && c.Portion.Percentage <= 0 {
		return t, false
	}
	t.operator = operator
	for _, key := range keys {
		g := s.Segment(key)
		if g == nil {
			return t, false
		}
		t.segments = append(t.segments, g)
	}
	for _, key := range c.ExceptSegmentKeys {
		if s.Segment(key) == nil {
			return t, false
		}
	}
	for i, g := range c.Groups {
		t.segments = append(t.segments, &guidon.Segment{Key: groupKey(i), MatchType: g.MatchType, Constraints: g.Constraints})
	}
	if len(c.Groups) > 0 && len(t.segments) > 1 {
		t.operator = guidon.AndSegments
	}
	if c.Everyone && len(t.segments) == 0 {
		t.segments = []*guidon.Segment{{Key: groupKey(0)}}
	}
	return t, len(t.segments) > 0
}

func groupKey(i int) string { return "~" + strconv.Itoa(i+1) }

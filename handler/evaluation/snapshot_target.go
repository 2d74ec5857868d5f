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

// clientTargetOf returns whom a rule of a flag that clients get is for, if it may match. Groups
// of constraints, and everyone, become segments with the keys ~1, ~2 and so on, which no other
// segment can have.
func clientTargetOf(s *guidon.Snapshot, keys []string, operator guidon.SegmentOperator, c *guidon.Conditions) clientTarget {
	t := clientTarget{operator: operator}
	for _, key := range keys {
		t.segments = append(t.segments, s.Segment(key))
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
	return t
}

func groupKey(i int) string { return "~" + strconv.Itoa(i+1) }

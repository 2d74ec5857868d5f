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

// clientTargetOf returns whom a rule that may match, of a flag that clients get, is for. Groups of
// constraints, and everyone, become segments with the keys ~1, ~2 and so on, which no other
// segment can have.
func clientTargetOf(a *guidon.Audience, operator guidon.SegmentOperator) clientTarget {
	t, groups := clientTarget{operator: operator}, 0
	add := func(g *guidon.Segment) {
		if g.Key == "" {
			groups++
			g = &guidon.Segment{Key: "~" + strconv.Itoa(groups), MatchType: g.MatchType, Constraints: g.Constraints}
		}
		t.segments = append(t.segments, g)
	}
	for _, g := range a.Segments() {
		add(g.Segment())
	}
	switch {
	case len(t.segments) == 0:
		add(&guidon.Segment{})
	case groups > 0 && len(t.segments) > 1:
		t.operator = guidon.AndSegments
	}
	return t
}

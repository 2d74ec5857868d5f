package guidon

import "slices"

// compiledSegment is a segment prepared for evaluation.
type compiledSegment struct {
	segment    *Segment
	conditions []condition
	single     audience // the audience of just this segment, as most are
}

func compileSegment(g *Segment) *compiledSegment {
	c := &compiledSegment{segment: g, conditions: make([]condition, 0, len(g.Constraints))}
	c.single = audience{segments: []*compiledSegment{c}, keys: []string{g.Key}, all: true, unknown: g.Unreadable != nil}
	for _, constraint := range g.Constraints {
		compiled, known := compileConstraint(constraint)
		if !known {
			c.single.unknown = true
		}
		c.conditions = append(c.conditions, compiled)
	}
	return c
}

// matches reports whether the entity belongs to the segment (contract 7.3).
func (c *compiledSegment) matches(entityID string, context map[string]string) bool {
	if len(c.conditions) == 0 {
		return true // for either match type
	}
	// Under ALL the first condition that fails decides, under ANY the first that
	// holds.
	decisive := c.segment.MatchType == MatchAny
	for i := range c.conditions {
		if c.conditions[i].holds(entityID, context) == decisive {
			return decisive
		}
	}
	return !decisive
}

// segmentIndex finds compiled segments by key.
type segmentIndex map[string]*compiledSegment

// audience is the segment set of a rule or rollout (contract 7.4).
type audience struct {
	segments []*compiledSegment
	keys     []string // of all segments
	all      bool     // all segments must match, not just one
	unknown  bool     // a segment has a constraint of an unknown type, or is unreadable
}

// audience returns the set of the segments with the keys. It returns nil if there
// are no keys or if a segment does not exist: such a rule or rollout never matches.
func (x segmentIndex) audience(keys []string, operator SegmentOperator) *audience {
	switch len(keys) {
	case 0:
		return nil
	case 1:
		if g := x[keys[0]]; g != nil {
			return &g.single // shared by all flags
		}
		return nil
	}
	set := &audience{
		segments: make([]*compiledSegment, 0, len(keys)),
		keys:     slices.Clip(keys), // returned to callers, whose appends must not write to the flag
		all:      operator == AndSegments,
	}
	for _, key := range keys {
		g := x[key]
		if g == nil {
			return nil
		}
		set.segments = append(set.segments, g)
		set.unknown = set.unknown || g.single.unknown
	}
	return set
}

// errUnknownConstraint fails the whole request, unlike a value that does not
// parse (contract 7.2).
var errUnknownConstraint = Errorf(InvalidArgument, "unknown constraint type")

// match returns the keys of the segments that the entity belongs to, in the order
// in which they are attached, or nil if the set does not match.
func (a *audience) match(entityID string, context map[string]string) ([]string, error) {
	switch {
	case a.unknown:
		return nil, errUnknownConstraint
	case a.all:
		return a.matchAll(entityID, context), nil
	}
	return a.matchSome(entityID, context), nil
}

func (a *audience) matchAll(entityID string, context map[string]string) []string {
	for _, g := range a.segments {
		if !g.matches(entityID, context) {
			return nil
		}
	}
	return a.keys
}

// matchSome does not stop at the first match, because the result names them all.
func (a *audience) matchSome(entityID string, context map[string]string) []string {
	var matched []string
	for _, g := range a.segments {
		if !g.matches(entityID, context) {
			continue
		}
		switch len(matched) {
		case 0:
			matched = g.single.keys // shared; a second match allocates a new slice
		case 1:
			matched = append(make([]string, 0, len(a.segments)), matched[0], g.segment.Key)
		default:
			matched = append(matched, g.segment.Key)
		}
	}
	return matched
}

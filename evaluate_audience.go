package guidon

import "slices"

// CompiledSegment is a segment prepared for evaluation. It is safe for concurrent use.
type CompiledSegment struct {
	segment    *Segment
	conditions []CompiledConstraint
	exception  bool
	single     Audience // the audience of just this segment, as most are
}

// CompileSegment returns the compiled form of the segment, which must not be modified
// afterwards.
func CompileSegment(g *Segment) *CompiledSegment {
	c := &CompiledSegment{segment: g, conditions: make([]CompiledConstraint, 0, len(g.Constraints))}
	c.single = Audience{segments: []*CompiledSegment{c}, keys: []string{g.Key}, all: true, unknown: g.Unreadable != nil}
	for _, constraint := range g.Constraints {
		compiled, known := CompileConstraint(constraint)
		if !known {
			c.single.unknown = true
		}
		c.conditions = append(c.conditions, compiled)
	}
	return c
}

// Segment returns the segment itself.
func (c *CompiledSegment) Segment() *Segment { return c.segment }

// Constraints returns the compiled forms of the constraints, in their order. The caller
// must not modify them.
func (c *CompiledSegment) Constraints() []CompiledConstraint { return c.conditions }

// Err is [Audience.Err] for the segment alone.
func (c *CompiledSegment) Err() error { return c.single.Err() }

// Matches reports whether the entity belongs to the segment (contract 7.3).
func (c *CompiledSegment) Matches(entityID string, context map[string]string) bool {
	if len(c.conditions) == 0 {
		return true // for either match type
	}
	// Under ALL the first condition that fails decides, under ANY the first that
	// holds.
	decisive := c.segment.MatchType == MatchAny
	for i := range c.conditions {
		if c.conditions[i].Holds(entityID, context) == decisive {
			return decisive
		}
	}
	return !decisive
}

// IsException reports whether the segment has the entities that are not in the one with its key.
func (c *CompiledSegment) IsException() bool { return c.exception }

// opposite returns the compiled form of a segment with the same key and the entities that do
// not belong to c.
func (c *CompiledSegment) opposite() *CompiledSegment {
	g := &Segment{Key: c.segment.Key, MatchType: MatchAny}
	if c.segment.MatchType == MatchAny {
		g.MatchType = MatchAll
	}
	if len(c.conditions) == 0 {
		g.Constraints = []*Constraint{{Type: NumberComparison, Operator: OpEQ}} // never holds
		return CompileSegment(g)
	}
	o := &CompiledSegment{segment: g, exception: true, conditions: make([]CompiledConstraint, len(c.conditions))}
	o.single = Audience{segments: []*CompiledSegment{o}, keys: noKeys, all: true, unknown: c.single.unknown}
	for i := range c.conditions {
		g.Constraints = append(g.Constraints, c.segment.Constraints[i].Opposite())
		o.conditions[i] = c.conditions[i].opposite()
	}
	return o
}

// segmentIndex finds compiled segments by key.
type segmentIndex map[string]*CompiledSegment

// Audience is the segment set of a rule or rollout, none of whose segments is missing
// (contract 7.4). It is safe for concurrent use.
type Audience struct {
	segments []*CompiledSegment
	keys     []string // of all segments
	all      bool     // all segments must match, not just one
	unknown  bool     // a segment has a constraint of an unknown type, or is unreadable
}

// nobody is the audience of a rule or rollout that never matches.
var nobody = &Audience{}

// audience returns the set of the segments with the keys. It returns nobody if there
// are no keys or if a segment does not exist.
func (x segmentIndex) audience(keys []string, operator SegmentOperator) *Audience {
	switch len(keys) {
	case 0:
		return nobody
	case 1:
		if g := x[keys[0]]; g != nil {
			return &g.single // shared by all flags
		}
		return nobody
	}
	set := &Audience{
		segments: make([]*CompiledSegment, 0, len(keys)),
		keys:     slices.Clip(keys), // returned to callers, whose appends must not write to the flag
		all:      operator == AndSegments,
	}
	for _, key := range keys {
		g := x[key]
		if g == nil {
			return nobody
		}
		set.segments = append(set.segments, g)
		set.unknown = set.unknown || g.single.unknown
	}
	return set
}

// noKeys are the keys of an audience without segments.
var noKeys = []string{}

// audienceOf returns the audience of a rule with the conditions. Its groups and exceptions are
// part of it if all of it must match, and otherwise an audience of their own.
func (x segmentIndex) audienceOf(keys []string, operator SegmentOperator, c *Conditions) (audience, also *Audience) {
	audience, also = x.audience(keys, operator), x.besides(c)
	if len(keys) == 0 && (c.Everyone || len(c.Groups) > 0) {
		audience = &Audience{keys: noKeys, all: true}
	}
	switch {
	case also == nil, also == nobody, audience == nobody, !audience.all:
		return audience, also
	}
	all := &Audience{keys: audience.keys, all: true}
	for _, g := range slices.Concat(audience.segments, also.segments) {
		all.add(g)
	}
	return all, nil
}

// besides returns the audience of the groups and of the entities in no exception. It returns
// nil if there is neither, and nobody if a segment does not exist.
func (x segmentIndex) besides(c *Conditions) *Audience {
	if len(c.Groups) == 0 && len(c.ExceptSegmentKeys) == 0 {
		return nil
	}
	a := &Audience{keys: noKeys, all: true}
	for _, g := range c.Groups {
		a.add(CompileSegment(&Segment{MatchType: g.MatchType, Constraints: g.Constraints}))
	}
	for _, key := range c.ExceptSegmentKeys {
		g := x[key]
		if g == nil {
			return nobody
		}
		a.add(g.opposite())
	}
	return a
}

func (a *Audience) add(g *CompiledSegment) {
	a.segments = append(a.segments, g)
	a.unknown = a.unknown || g.single.unknown
}

// errUnknownConstraint fails the whole request, unlike a value that does not
// parse (contract 7.2).
var errUnknownConstraint = Errorf(InvalidArgument, "unknown constraint type")

// Segments returns the segments. The caller must not modify the slice.
func (a *Audience) Segments() []*CompiledSegment { return a.segments }

// Keys returns the keys of the segments. The caller must not modify the slice.
func (a *Audience) Keys() []string { return a.keys }

// All reports whether entities must belong to all of the segments, instead of to one.
func (a *Audience) All() bool { return a.all }

// Err returns the error of every evaluation that gets to the audience, or nil: a segment has
// a constraint of an unknown type, or is [Unreadable].
func (a *Audience) Err() error {
	if a.unknown {
		return errUnknownConstraint
	}
	return nil
}

// Match returns the keys of the segments that the entity belongs to, in the order
// in which they are attached, or nil if the set does not match. The error is that of
// [Audience.Err].
func (a *Audience) Match(entityID string, context map[string]string) ([]string, error) {
	switch {
	case a.unknown:
		return nil, errUnknownConstraint
	case a.all:
		return a.matchAll(entityID, context), nil
	}
	return a.matchSome(entityID, context), nil
}

func (a *Audience) matchAll(entityID string, context map[string]string) []string {
	for _, g := range a.segments {
		if !g.Matches(entityID, context) {
			return nil
		}
	}
	return a.keys
}

// matchSome does not stop at the first match, because the result names them all.
func (a *Audience) matchSome(entityID string, context map[string]string) []string {
	var matched []string
	for _, g := range a.segments {
		if !g.Matches(entityID, context) {
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

package analysis

import "github.com/guidonhq/guidon"

// ExplainSegment reports whether the entity belongs to the segment, which need not be that of
// a snapshot, and compares it with all constraints, by the matchers of the evaluation. Like an
// evaluation, it returns InvalidArgument if a constraint has an unknown type.
func ExplainSegment(g *guidon.Segment, entityID string, context map[string]string) (*ExplainedSegment, error) {
	compiled := guidon.CompileSegment(g)
	if err := compiled.Err(); err != nil {
		return nil, err
	}
	e := &ExplainedSegment{Key: g.Key, Constraints: make([]ExplainedConstraint, len(g.Constraints))}
	e.fill(compiled, entityID, context)
	return e, nil
}

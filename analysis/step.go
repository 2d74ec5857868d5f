package analysis

import (
	"slices"

	"github.com/guidonhq/guidon"
)

// step is a rule or rollout as evaluations use it.
type step struct {
	id          string
	rule        *guidon.Rule // nil for a rollout
	value       bool         // of a rollout
	keys        []string     // of its segments
	stated      *guidon.Conditions
	divider     guidon.Bucketer     // of the distributions of a rule
	share       *guidon.BucketShare // of a threshold that may match, or nil
	guidon.Step                     // without an audience for a threshold, and if evaluations skip the step
}

// stepsOf returns the rules or the rollouts of the flag, by their indexes.
func stepsOf(compiled *guidon.CompiledFlag) (steps []step) {
	f := compiled.Flag()
	if f.Type == guidon.BooleanFlag {
		steps = make([]step, len(f.Rollouts))
		for i, r := range f.Rollouts {
			steps[i] = step{id: r.ID, value: rolloutValue(r), stated: r.Stated()}
			if r.Threshold == nil && r.Segment != nil {
				steps[i].keys = r.Segment.SegmentKeys
			}
		}
	} else {
		steps = make([]step, len(f.Rules))
		for i, r := range f.Rules {
			steps[i] = step{id: r.ID, rule: r, keys: r.SegmentKeys, stated: r.Stated(), divider: compiled.Divider(i)}
		}
	}
	for i, s := range compiled.Steps() {
		if steps[i].Step = s; s.Audience == nil {
			steps[i].share = new(compiled.Threshold(i))
		}
	}
	return steps
}

// never reports whether evaluations skip the step.
func (s *step) never() bool { return s.Audience == nil && s.share == nil }

// fails reports whether evaluations that get to the step fail.
func (s *step) fails() bool { return s.Audience != nil && s.Audience.Err() != nil }

// missing returns the first segment of the step that does not exist, or "".
func (s *step) missing(from *guidon.Snapshot) string {
	for _, key := range slices.Concat(s.keys, s.stated.ExceptSegmentKeys) {
		if from.Segment(key) == nil {
			return key
		}
	}
	return ""
}

// conditional reports whether the step is for others than all entities of its segments.
func (s step) conditional() bool {
	return len(s.stated.Groups) > 0 || len(s.stated.ExceptSegmentKeys) > 0 || s.stated.Portion != nil || s.Conditions != nil
}

// hashesProperty reports whether a bucket of the step, or the answer of a flag that it requires, depends
// on the context.
func (s *step) hashesProperty() bool {
	c := s.Conditions
	return c != nil && readContext(c.Requires) || s.share != nil && s.share.By != "" || s.divider.By != "" || c != nil && c.Portion != nil && c.Portion.By != ""
}

// also returns the segments that must match besides those of the audience.
func (s *step) also() []*guidon.CompiledSegment {
	if s.Conditions == nil || s.Conditions.Also == nil {
		return nil
	}
	return s.Conditions.Also.Segments()
}

// takesAnyone reports whether entities that are in no segments but those without
// constraints match, and so everybody does.
func takesAnyone(s guidon.Step) bool { return s.Conditions == nil && isOpen(s) }

// isOpen is takesAnyone, whatever the portion and the way to divide.
func isOpen(s guidon.Step) bool {
	if c := s.Conditions; c != nil && c.Also != nil {
		return false
	}
	open := func(g *guidon.CompiledSegment) bool { return len(g.Constraints()) == 0 }
	if s.Audience.All() {
		return !slices.ContainsFunc(s.Audience.Segments(), func(g *guidon.CompiledSegment) bool { return !open(g) })
	}
	return slices.ContainsFunc(s.Audience.Segments(), open)
}

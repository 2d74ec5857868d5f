package analysis

import "github.com/guidonhq/guidon"

// step is a rule or rollout as evaluations use it.
type step struct {
	id        string
	rule      *guidon.Rule             // nil for a rollout
	keys      []string                 // of its segments
	audience  *guidon.Audience         // nil for a threshold, and if evaluations skip the step
	threshold *guidon.RolloutThreshold // or nil
	value     bool                     // of a rollout
}

// stepsOf returns the rules or the rollouts of the flag, by their indexes.
func stepsOf(compiled *guidon.CompiledFlag) (steps []step) {
	f := compiled.Flag()
	if f.Type == guidon.BooleanFlag {
		steps = make([]step, len(f.Rollouts))
		for i, r := range f.Rollouts {
			steps[i] = step{id: r.ID, threshold: r.Threshold, value: rolloutValue(r)}
			if r.Threshold == nil && r.Segment != nil {
				steps[i].keys = r.Segment.SegmentKeys
			}
		}
	} else {
		steps = make([]step, len(f.Rules))
		for i, r := range f.Rules {
			steps[i] = step{id: r.ID, rule: r, keys: r.SegmentKeys}
		}
	}
	for i, audience := range compiled.Steps() {
		steps[i].audience = audience
	}
	return steps
}

// never reports whether evaluations skip the step.
func (s *step) never() bool { return s.audience == nil && s.threshold == nil }

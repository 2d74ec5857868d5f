package analysis

import (
	"fmt"
	"strings"
)

// Why returns the reason in words why the rule or rollout is never reached, such as "rule 1
// matches everybody who would get here". It is empty if it is reached. Rules and rollouts
// are counted from 1, and so are constraints.
func (r *Reach) Why(v Vocabulary, s *StepReach) string {
	switch s.Cause {
	case Shadowed:
		return r.shadows(v, s.By)
	case Unsatisfiable:
		return s.contradiction(v)
	case MissingSegment:
		if s.Segment == "" {
			return "it has no segments"
		}
		return fmt.Sprintf("segment %s does not exist", s.Segment)
	case NoBuckets:
		return "its " + v.Pick("percentage", "share") + " is 0"
	}
	return ""
}

// WhyDefault is Why for the default.
func (r *Reach) WhyDefault(v Vocabulary) string {
	if r.Default.Cause == Shadowed {
		return r.shadows(v, r.Default.By)
	}
	return ""
}

func (r *Reach) shadows(v Vocabulary, by []int) string {
	kind := v.step(r.Type)
	switch len(by) {
	case 0:
		return fmt.Sprintf("earlier %ss together take everybody who would get here", kind)
	case 1:
		return fmt.Sprintf("%s %d takes everybody who would get here", kind, by[0]+1)
	}
	numbers := make([]string, len(by))
	for i, index := range by {
		numbers[i] = fmt.Sprint(index + 1)
	}
	return fmt.Sprintf("%ss %s together take everybody who would get here", kind, strings.Join(numbers, ", "))
}

func (s *StepReach) contradiction(v Vocabulary) string {
	if len(s.Conflicts) == 0 {
		return "nobody can match its segments"
	}
	names := make([]string, len(s.Conflicts))
	for i, c := range s.Conflicts {
		names[i] = fmt.Sprintf("%d of segment %s", c.Index+1, c.Segment)
	}
	noun := v.Pick("constraint", "condition")
	if len(names) > 1 {
		noun += "s"
	}
	return fmt.Sprintf("nobody satisfies %s %s", noun, strings.Join(names, ", "))
}

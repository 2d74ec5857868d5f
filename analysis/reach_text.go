package analysis

import (
	"fmt"
	"strings"

	"github.com/guidonhq/guidon/internal/lists"
)

// Why returns the reason in words why the rule is never reached, such as "rule 1 takes
// everybody who would get here". It is empty if it is reached. Rules are counted from 1, and so
// are constraints.
func (r *Reach) Why(s *StepReach) string {
	switch s.Cause {
	case Shadowed:
		return shadows(s.By)
	case Unsatisfiable:
		return s.contradiction()
	case MissingSegment:
		if s.Segment == "" {
			return "it has no segments"
		}
		return fmt.Sprintf("segment %s does not exist", s.Segment)
	case NoBuckets:
		return "its share is 0%"
	case NeverMet:
		return fmt.Sprintf("it requires flag %s, which never gives that answer", s.Unmet)
	case NotYet, Ended:
		return s.Times
	}
	return ""
}

// WhyDefault is Why for the default.
func (r *Reach) WhyDefault() string {
	if r.Default.Cause == Shadowed {
		return shadows(r.Default.By)
	}
	return ""
}

func shadows(by []int) string {
	switch len(by) {
	case 0:
		return "earlier rules together take everybody who would get here"
	case 1:
		return fmt.Sprintf("rule %d takes everybody who would get here", by[0]+1)
	}
	numbers := lists.Map(by, func(index int) string { return fmt.Sprint(index + 1) })
	return fmt.Sprintf("rules %s together take everybody who would get here", strings.Join(numbers, ", "))
}

func (s *StepReach) contradiction() string {
	if len(s.Conflicts) == 0 {
		return "nobody can match it"
	}
	names := lists.Map(s.Conflicts, func(c ConstraintRef) string {
		if c.Group > 0 {
			return fmt.Sprintf("%d of its group %d", c.Index+1, c.Group)
		}
		return fmt.Sprintf("%d of segment %s", c.Index+1, c.Segment)
	})
	noun := "constraint"
	if len(names) > 1 {
		noun += "s"
	}
	return fmt.Sprintf("nobody satisfies %s %s", noun, strings.Join(names, ", "))
}

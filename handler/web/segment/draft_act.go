package segment

import (
	"slices"
	"time"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// actionResult is the outcome of a button, besides the changed draft.
type actionResult struct {
	Problems part.Problems
	AskLast  bool // it would remove the last constraint
}

// act applies the button to the draft. Unknown buttons do nothing.
func (d *draft) act(action page.Action, saved *guidonv1.DocumentSegment, zone *time.Location) (done actionResult) {
	switch action.Verb {
	case "name":
		d.Naming = true
	case "clear":
		d.Constraints, d.Everyone = nil, true
	default:
		done.Problems, done.AskLast = d.Act(action, "", saved.GetConstraints(), zone)
	}
	return done
}

// Act applies the button to the group, whose fields have the prefix. It returns the problems, and
// whether the button would remove the last constraint. Unknown buttons do nothing.
func (g *Group) Act(
	action page.Action, prefix string, saved []*guidonv1.DocumentConstraint, zone *time.Location,
) (problems part.Problems, last bool) {
	if action.Verb == "add" {
		return g.add(len(g.Constraints), newConstraint(zone)), false
	}
	i, one := action.Index(0, len(g.Constraints))
	if !one {
		return nil, false
	}
	c := &g.Constraints[i]
	switch action.Verb {
	case "edit":
		c.Open = true
	case "done":
		problems = c.check(prefix+name(i, ""), saved, zone)
		c.Open = len(problems) > 0
	case "reset":
		if c.From >= 0 {
			*c = constraintOf(saved[c.From], c.From, zone)
		}
	case "remove":
		last = len(g.Constraints) == 1
		if !last {
			g.Constraints = slices.Delete(g.Constraints, i, i+1)
		}
	case "duplicate":
		copied := *c
		copied.From = -1
		problems = g.add(i+1, copied)
	case "up":
		g.move(i, i-1)
	case "down":
		g.move(i, i+1)
	case "move":
		if to, ok := action.Index(1, len(g.Constraints)); ok {
			g.move(i, to)
		}
	case "missing":
		if g.addsMissing(i) {
			problems = g.add(i+1, missing(c, zone))
		}
	}
	return problems, last
}

// add inserts a constraint unless there are too many.
func (g *Group) add(at int, c constraint) (problems part.Problems) {
	if len(g.Constraints) >= maxConstraints {
		problems.Add("constraints", tooMany)
		return problems
	}
	g.Constraints = slices.Insert(g.Constraints, at, c)
	return nil
}

const tooMany = "A segment has 200 constraints at most here. Use lists of values, or a second segment."

// move moves the constraint to another place, if there is one.
func (g *Group) move(from, to int) {
	if to >= 0 && to < len(g.Constraints) {
		c := g.Constraints[from]
		g.Constraints = slices.Insert(slices.Delete(g.Constraints, from, from+1), to, c)
	}
}

// missing returns the constraint that holds if the property of another one is missing.
func missing(c *constraint, zone *time.Location) constraint {
	m := constraint{From: -1, Type: c.Type, Property: c.Property, Operator: whenMissing(c.Type)}
	m.enter(zone)
	return m
}

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
	AskLast  bool   // it would remove the last constraint
	Said     string // the action in words, after it was done
}

// act applies the button to the draft. Unknown buttons do nothing.
func (d *draft) act(action page.Action, saved *guidonv1.DocumentSegment, zone *time.Location) (done actionResult) {
	i, one := action.Index(0, len(d.Constraints))
	switch action.Verb {
	case "name":
		d.Naming = true
	case "add":
		done.Problems = d.add(len(d.Constraints), newConstraint(zone))
	case "clear":
		d.Constraints, d.Everyone = nil, true
	}
	if !one {
		return done
	}
	c := &d.Constraints[i]
	switch action.Verb {
	case "edit":
		c.Open = true
	case "done":
		done.Problems = c.check(i, saved, zone)
		c.Open = len(done.Problems) > 0
	case "reset":
		if c.From >= 0 {
			*c = constraintOf(saved.GetConstraints()[c.From], c.From, zone)
		}
	case "remove":
		done.AskLast = len(d.Constraints) == 1
		if !done.AskLast {
			d.Constraints = slices.Delete(d.Constraints, i, i+1)
		}
	case "duplicate":
		copied := *c
		copied.From = -1
		done.Problems = d.add(i+1, copied)
	case "up":
		d.move(i, i-1)
	case "down":
		d.move(i, i+1)
	case "move":
		if to, ok := action.Index(1, len(d.Constraints)); ok {
			d.move(i, to)
		}
	case "missing":
		if d.addsMissing(i) {
			done.Problems = d.add(i+1, missing(c, zone))
		}
	}
	return done
}

// add inserts a constraint unless there are too many.
func (d *draft) add(at int, c constraint) (problems part.Problems) {
	if len(d.Constraints) >= maxConstraints {
		problems.Add("constraints", tooMany)
		return problems
	}
	d.insert(at, c)
	return nil
}

const tooMany = "A segment has 200 constraints at most here. Use lists of values, or a second segment."

// move moves the constraint to another place, if there is one.
func (d *draft) move(from, to int) {
	if to >= 0 && to < len(d.Constraints) {
		c := d.Constraints[from]
		d.Constraints = slices.Insert(slices.Delete(d.Constraints, from, from+1), to, c)
	}
}

// missing returns the constraint that holds if the property of another one is missing.
func missing(c *constraint, zone *time.Location) constraint {
	m := constraint{From: -1, Type: c.Type, Property: c.Property, Operator: whenMissing(c.Type)}
	m.enter(zone)
	return m
}

package document

import (
	"context"
	"slices"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service"
)

// doubts adds warnings about a document that can be read.
func (l *linter) doubts(d *service.Document) {
	for i, g := range d.Segments {
		path := []service.Step{{Name: "segments", Index: i, Key: g.Key, Keyed: true}}
		if len(g.Constraints) == 0 {
			l.warn(path, "", "the segment has no constraints, so it matches everybody")
		}
		for j, c := range g.Constraints {
			l.constraint(append(slices.Clip(path), service.Step{Name: "constraints", Index: j}), c)
		}
	}
	for i, f := range d.Flags {
		l.unusedLists([]service.Step{{Name: "flags", Index: i, Key: f.Key, Keyed: true}}, f)
	}
}

// constraint adds a warning if the constraint compares nothing, or probably the wrong value.
func (l *linter) constraint(path []service.Step, c *guidon.Constraint) {
	normal, err := service.NormalConstraint(c)
	if err != nil {
		return // reported as an error
	}
	if normal.Type != guidon.EntityIDComparison && guidon.MeansEntity(normal.Property) {
		l.warn(path, "type",
			"it compares the property %s of the context; for the id of the entity, the type must be %s and the property %s",
			guidon.Shorten(normal.Property, maxRaw), guidon.EntityIDComparison, guidon.EntityProperty)
	}
	problem := analysis.ProblemOf(&normal)
	if problem == analysis.NoProblem {
		return
	}
	member := "value"
	if problem == analysis.OperatorUnsupported {
		member = "operator"
	}
	when := "never"
	if normal.Negate {
		when = "always"
	}
	l.warn(path, member, "the constraint %s matches: %s", when, problem)
}

// unusedLists adds warnings about rules of a boolean flag, and rollouts of a variant flag.
func (l *linter) unusedLists(path []service.Step, f *guidon.Flag) {
	switch {
	case f.Type == guidon.BooleanFlag && len(f.Rules) > 0:
		l.warn(path, "rules", "the rules have no effect, because the type of the flag is %s", f.Type)
	case f.Type == guidon.VariantFlag && len(f.Rollouts) > 0:
		l.warn(path, "rollouts", "the rollouts have no effect, because the type of the flag is %s", f.Type)
	}
}

// unreached adds warnings about rules and rollouts that no entity reaches now, except those with
// a percentage of 0, those that require what another flag does not answer now, and those that others leave
// something to later, which is hardly a mistake.
// The document must have no errors.
func (l *linter) unreached(d *service.Document) {
	objects, err := d.Objects()
	if err != nil {
		return
	}
	s := guidon.NewSnapshot(objects.Namespace, guidon.Revision{}, objects.Flags, objects.Segments).At(time.Now())
	for i, f := range d.Flags {
		list, indexes := "rollouts", []int(nil)
		if f.Type == guidon.VariantFlag {
			list, indexes = "rules", ruleIndexes(f.Rules)
		}
		reach, _ := analysis.ReachOf(context.Background(), s, objects.Flags[i].Key)
		changes := s.Compiled(objects.Flags[i].Key).LastBoundary() > s.Epoch()
		for j := range reach.Steps {
			why, cause := reach.Why(&reach.Steps[j]), reach.Steps[j].Cause
			if why == "" || cause == analysis.NoBuckets || cause == analysis.NotYet || cause == analysis.NeverMet || changes && cause == analysis.Shadowed {
				continue
			}
			index := reach.Steps[j].Index
			if indexes != nil {
				index = indexes[index]
			}
			path := []service.Step{{Name: "flags", Index: i, Key: f.Key, Keyed: true}, {Name: list, Index: index}}
			l.warn(path, "", "nobody reaches this: %s", why)
		}
	}
}

// ruleIndexes returns the index in the document of each rule in the order of ranks.
func ruleIndexes(rules []*guidon.Rule) []int {
	at := make(map[*guidon.Rule]int, len(rules))
	for i, r := range rules {
		at[r] = i
	}
	return lists.Map(service.RulesByRank(rules), func(r *guidon.Rule) int { return at[r] })
}

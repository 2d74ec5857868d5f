package segment

import (
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// Group is constraints as they are edited together: those of a segment, or a group of a rule.
type Group struct {
	From        int  // of a rule, the index of the saved group, or -1
	Any         bool // one constraint is enough
	Constraints []constraint
}

// NewGroup returns the group that is added.
func NewGroup(zone *time.Location) Group {
	return Group{From: -1, Constraints: []constraint{newConstraint(zone)}}
}

func groupOf(match flipt.MatchType, saved []*guidonv1.DocumentConstraint, zone *time.Location) Group {
	g := Group{Any: match == flipt.MatchType_ANY_MATCH_TYPE}
	for i, c := range saved {
		g.Constraints = append(g.Constraints, constraintOf(c, i, zone))
	}
	return g
}

// GroupsOf returns the groups of a rule.
func GroupsOf(saved []*flipt.ConstraintGroup) (groups []Group) {
	for i, m := range saved {
		g := groupOf(m.GetMatch(), savedIn(m), time.UTC) // a form enters them in the visitor's zone
		g.From = i
		groups = append(groups, g)
	}
	return groups
}

// savedIn returns the constraints of a group as those of a segment.
func savedIn(m *flipt.ConstraintGroup) (saved []*guidonv1.DocumentConstraint) {
	for _, c := range m.GetConstraints() {
		saved = append(saved, &guidonv1.DocumentConstraint{
			Type: c.GetType(), Property: c.GetProperty(), Operator: c.GetOperator(), Value: c.GetValue(), Negate: c.GetNegate(),
			Description: c.GetDescription(),
		})
	}
	return saved
}

// Enter sets the fields of the values, which the visitor sees in the zone.
func (g *Group) Enter(zone *time.Location) {
	for i := range g.Constraints {
		g.Constraints[i].enter(zone)
	}
}

// Document returns the group as it would be saved in a rule.
func (g *Group) Document() *flipt.ConstraintGroup {
	m := &flipt.ConstraintGroup{Match: g.match()}
	for _, c := range g.Documents() {
		m.Constraints = append(m.Constraints, &flipt.GroupConstraint{
			Type: c.GetType(), Property: c.GetProperty(), Operator: c.GetOperator(), Value: c.GetValue(), Negate: c.GetNegate(),
			Description: c.GetDescription(),
		})
	}
	return m
}

// Documents returns the constraints as they would be saved in a segment.
func (g *Group) Documents() (all []*guidonv1.DocumentConstraint) {
	for i := range g.Constraints {
		all = append(all, g.Constraints[i].document())
	}
	return all
}

// Check returns the problems of the constraints, whose fields have the prefix. Constraints that
// are as they were saved are not checked.
func (g *Group) Check(prefix string, saved []*guidonv1.DocumentConstraint, zone *time.Location) (problems part.Problems) {
	for i := range g.Constraints {
		problems = append(problems, g.Constraints[i].check(prefix+name(i, ""), saved, zone)...)
	}
	return problems
}

// Rows shows the constraints of a group in a form.
type Rows struct {
	*page.Visit
	*Group
	Prefix   string // of the names of the fields; "" for those of a segment
	Label    string // what the constraints belong to, such as "rule 1, "; "" for a segment
	Saved    []*guidonv1.DocumentConstraint
	Known    Known
	Problems part.Problems
	readonly bool
}

// name returns the name of a field of the constraint with the index.
func (r *Rows) name(i int, field string) string { return r.Prefix + name(i, field) }

// button returns the value of a button of the constraint.
func (r *Rows) button(verb string, i int) string {
	return strings.TrimSuffix(verb+":"+strconv.Itoa(i)+":"+r.Prefix, ":")
}

// label returns what the constraint is called.
func (r *Rows) label(i int) string { return r.Label + "constraint " + page.Number(i+1) }

// edited reports whether the constraint with the index differs from the saved one.
func (r *Rows) edited(i int) bool {
	saved := r.savedAs(i)
	return saved == nil || !proto.Equal(r.Constraints[i].document(), saved)
}

// savedAs returns the saved constraint that the constraint was, or nil.
func (r *Rows) savedAs(i int) *guidonv1.DocumentConstraint {
	if from := r.Constraints[i].From; from >= 0 && from < len(r.Saved) {
		return r.Saved[from]
	}
	return nil
}

// isOpen reports whether the constraint is shown as fields.
func (r *Rows) isOpen(i int) bool {
	return !r.readonly && (r.Constraints[i].Open || r.Problems.Within(r.name(i, "")))
}

// warning returns a warning about a comparison that is probably a mistake, or that differs from
// those of other segments, or "".
func (r *Rows) warning(c *constraint) string {
	if c.Type != typeEntity && guidon.MeansEntity(c.Property) {
		return "This compares a property of the context, not the id of the entity. For that, choose the type " + typeName(typeEntity) + "."
	}
	return r.Known.conflict(c, r.Saved)
}

package transfer

import (
	"net/url"
	"slices"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// The scopes of a selection.
const (
	scopeSelected = "selected" // what is ticked
	scopeAll      = "all"      // everything that the source has
	scopeEqual    = "equal"    // and what it does not have is deleted
)

// keeps are the parts that existing flags can keep.
var keeps = []struct{ Value, Text string }{
	{"enabled", "whether they are on"},
	{"percentages", "their shares"},
	{"rules", "their rules"},
}

// selection is the choice of objects to promote, and of the parts that they keep.
type selection struct {
	Scope    string
	Flags    []string
	Segments []string
	Left     []string // segments that are left out, although selected flags need them
	Without  bool     // no segments come along
	Keep     []string
}

// selectionOf returns the selection in a form or an address.
func selectionOf(fields url.Values) selection {
	s := selection{
		Scope: fields.Get(fieldScope), Flags: fields[fieldFlag], Segments: fields[fieldSegment], Left: fields[fieldLeft],
		Without: fields.Get(fieldWithout) != "",
	}
	for _, k := range keeps {
		if slices.Contains(fields[fieldKeep], k.Value) {
			s.Keep = append(s.Keep, k.Value)
		}
	}
	if s.Scope != scopeAll && s.Scope != scopeEqual {
		s.Scope = scopeSelected
	}
	return s
}

// keeps reports whether flags keep the part with the name.
func (s *selection) keeps(name string) bool { return slices.Contains(s.Keep, name) }

// picked reports whether the object is selected.
func (s *selection) picked(kind, key string) bool {
	switch change.Kind(kind) {
	case change.KindFlag:
		return slices.Contains(s.Flags, key)
	case change.KindSegment:
		return slices.Contains(s.Segments, key)
	}
	return false
}

// empty reports whether nothing is selected.
func (s *selection) empty() bool {
	return s.Scope == scopeSelected && len(s.Flags) == 0 && len(s.Segments) == 0
}

// restrict limits the plan to the selected objects.
func (s *selection) restrict(r *guidonv1.PlanRequest) {
	switch s.Scope {
	case scopeEqual:
		r.Mode = guidonv1.PlanMode_REPLACE_PLAN_MODE
	case scopeSelected:
		r.FlagKeys, r.SegmentKeys, r.WithoutSegments = s.Flags, s.Segments, s.Without
	}
}

// preselect selects the segments that the flags of the address need.
func (c *comparison) preselect() {
	for key := range c.needed {
		if c.needs(key) {
			c.Segments = append(c.Segments, key)
		}
	}
}

// tick selects all objects whose rows are shown, or none of them.
func (c *comparison) tick(all bool) {
	lists := map[string]*[]string{string(change.KindFlag): &c.Flags, string(change.KindSegment): &c.Segments}
	for _, row := range c.Review.Rows {
		list := lists[row.GetKind()]
		if list == nil || c.Show != "" && c.Show != row.GetAction() {
			continue
		}
		*list = slices.DeleteFunc(*list, func(key string) bool { return key == row.GetKey() })
		if all {
			*list = append(*list, row.GetKey())
		}
	}
}

// needs reports whether a selected flag needs the segment.
func (c *comparison) needs(segment string) bool {
	return slices.ContainsFunc(c.needed[segment], func(flag string) bool { return slices.Contains(c.Flags, flag) })
}

// resolve finds out which segments were left out: those that the form offered, and selected
// flags need. The others that they need come along, also if the form did not offer them.
func (c *comparison) resolve(form url.Values) {
	if c.Scope != scopeSelected {
		return
	}
	c.Left, c.Without = nil, false
	for _, key := range form[fieldOffered] {
		if c.needs(key) && !slices.Contains(c.Segments, key) {
			c.Left = append(c.Left, key)
		}
	}
	if len(c.Left) == 0 {
		return
	}
	c.Without = true
	for key := range c.needed {
		if c.needs(key) && !slices.Contains(c.Left, key) && !slices.Contains(c.Segments, key) {
			c.Segments = append(c.Segments, key)
		}
	}
	slices.Sort(c.Segments)
}

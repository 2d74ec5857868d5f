package review

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// Limits of the page. All of the plan is applied.
const (
	MaxRows     = 200
	maxOthers   = 50   // flags that are affected besides
	maxWarnings = 50   // that belong to no row
	maxName     = 1024 // bytes; names have at most 255 characters
)

// Row is an object that changes.
type Row struct {
	*guidonv1.PlannedChange
	Name     string
	What     string   // an object that is created, in words
	Effects  []string // on people
	Warnings []string
	Moved    bool       // it is not as it was seen
	Sign     *part.Sign // of a flag as it is now or, if it is created, at the source; nil if that is not known
	NeededBy string     // the flags that need it, in words; "" if none is known
	Pick     bool       // it can be picked
	Picked   bool
}

// ID returns the name of the object in forms, such as "flag/checkout".
func (r Row) ID() string { return r.GetKind() + "/" + r.GetKey() }

// Seen returns the value of the field that identifies the row as it is seen.
func (r Row) Seen() string { return r.ID() + " " + r.GetDigest() }

// Seen returns the digests of the changes that a form was made with, by object, from the values
// of its fields with [Row.Seen].
func Seen(texts []string) map[string]string {
	seen := make(map[string]string)
	for _, text := range texts[:min(len(texts), MaxRows)] {
		if name, digest, ok := strings.Cut(text, " "); ok {
			seen[name] = digest
		}
	}
	return seen
}

// limit returns how many rows are shown.
func (r *Plan) limit() int {
	if r.Limit > 0 {
		return min(r.Limit, MaxRows)
	}
	return MaxRows
}

// order is the order of the groups: changed, new, deleted.
var order = map[string]int{string(change.ActionUpdate): 0, string(change.ActionCreate): 1, string(change.ActionDelete): 2}

// addRows makes the rows of the plan.
func (r *Plan) addRows(seen map[string]string) {
	all := slices.Clone(r.Answer.GetChanges())
	slices.SortStableFunc(all, func(a, b *guidonv1.PlannedChange) int { return cmp.Compare(order[a.GetAction()], order[b.GetAction()]) })
	effects := make(map[string][]string)
	for _, e := range r.Answer.GetEffects() {
		stated, _ := NewEffect(e.GetFlagKey(), e.GetEffect())
		effects[stated.Flag] = stated.Lines
	}
	planned := make(map[string]bool)
	for _, c := range all {
		planned[c.GetKind()+"/"+c.GetKey()] = true
	}
	r.Rows = nil
	for _, c := range all[:min(len(all), r.limit())] {
		row := Row{PlannedChange: c, Name: NameOf(c), What: descriptionOf(c)}
		if c.GetKind() == string(change.KindFlag) {
			row.Effects = effects[c.GetKey()]
		}
		digest, known := seen[row.ID()]
		row.Moved = seen != nil && (known || len(seen) < MaxRows) && digest != c.GetDigest()
		r.Rows = append(r.Rows, row)
	}
	r.addOthers(planned)
	r.addWarnings()
	r.Gone = nil
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		if !planned[name] {
			r.Gone = append(r.Gone, name)
		}
	}
}

// addSigns finds the states of the flags.
func (r *Plan) addSigns(v *page.Visit) error {
	keys := make(map[string][]string) // by namespace
	at := func(row Row) string {
		if row.GetAction() == string(change.ActionCreate) {
			return r.Request.GetSourceNamespaceKey()
		}
		return r.Request.GetNamespaceKey()
	}
	for _, row := range r.Rows {
		if row.GetKind() == string(change.KindFlag) && at(row) != "" {
			keys[at(row)] = append(keys[at(row)], row.GetKey())
		}
	}
	for namespace, some := range keys {
		signs, err := page.SignsOf(v, namespace, some)
		if err != nil {
			return err
		}
		for i, row := range r.Rows {
			if row.GetKind() == string(change.KindFlag) && at(row) == namespace {
				r.Rows[i].Sign = signs[row.GetKey()]
			}
		}
	}
	return nil
}

// addOthers adds the effects on flags that the plan itself does not change.
func (r *Plan) addOthers(planned map[string]bool) {
	r.Others = nil
	for _, e := range r.Answer.GetEffects() {
		if planned[string(change.KindFlag)+"/"+e.GetFlagKey()] || len(r.Others) == maxOthers {
			continue
		}
		if stated, ok := NewEffect(e.GetFlagKey(), e.GetEffect()); ok {
			r.Others = append(r.Others, stated)
		}
	}
}

// addWarnings adds the warnings to the rows that they are about.
func (r *Plan) addWarnings() {
	at := make(map[string]int)
	for i := range r.Rows {
		at[r.Rows[i].ID()] = i
	}
	r.Warnings = nil
	for _, w := range r.Answer.GetWarnings() {
		if i, ok := at[w.GetObjectKind()+"/"+w.GetKey()]; ok {
			r.Rows[i].Warnings = append(r.Rows[i].Warnings, page.Sentence(w.GetText()))
		} else if len(r.Warnings) < maxWarnings {
			r.Warnings = append(r.Warnings, page.Sentence(w.GetText()))
		}
	}
}

// NameOf returns the name of the object.
func NameOf(c *guidonv1.PlannedChange) string {
	for _, d := range []*guidonv1.Document{c.GetAfter(), c.GetBefore()} {
		name := ""
		for _, f := range d.GetFlags() {
			name = f.GetName()
		}
		for _, g := range d.GetSegments() {
			name = g.GetName()
		}
		if c.GetKind() == string(change.KindNamespace) {
			name = d.GetNamespace().GetName()
		}
		if name = page.Printable(name, maxName); name != "" {
			return name
		}
	}
	return c.GetKey()
}

// descriptionOf returns an object that is created in words, or "".
func descriptionOf(c *guidonv1.PlannedChange) string {
	if c.GetAction() != string(change.ActionCreate) {
		return ""
	}
	if flags := c.GetAfter().GetFlags(); len(flags) > 0 {
		return flagText(flags[0])
	}
	if segments := c.GetAfter().GetSegments(); len(segments) > 0 {
		return segmentText(segments[0])
	}
	return "It is created, as a " + c.GetKind() + "."
}

// segmentText returns a segment in words, such as "Segment, any of 2 constraints".
func segmentText(g *guidonv1.DocumentSegment) string {
	match := "all"
	if g.GetMatchType() == flipt.MatchType_ANY_MATCH_TYPE {
		match = "any"
	}
	switch n := len(g.GetConstraints()); n {
	case 0:
		return "Segment without constraints"
	case 1:
		return "Segment with 1 constraint"
	default:
		return "Segment, " + match + " of " + page.Count(n, "constraint")
	}
}

// flagText returns a flag in words, such as "Boolean, off, nobody targeted".
func flagText(f *guidonv1.DocumentFlag) string {
	state := "off"
	if f.GetEnabled() {
		state = "on"
	}
	if f.GetType() == flipt.FlagType_BOOLEAN_FLAG_TYPE {
		if len(f.GetRollouts()) == 0 {
			return "Boolean, " + state + ", nobody targeted"
		}
		return "Boolean, " + page.Count(len(f.GetRollouts()), "rule") + ", " + state + " for everyone else"
	}
	return "Variant flag, " + state + ", " + page.Count(len(f.GetVariants()), "variant") + ", " + page.Count(len(f.GetRules()), "rule")
}

// Counts returns how many flags and segments the plan changes, in words.
func (r *Plan) Counts() string {
	counts := make(map[string]int)
	for _, c := range r.Answer.GetChanges() {
		counts[c.GetKind()]++
	}
	var texts []string
	for _, kind := range []change.Kind{change.KindNamespace, change.KindFlag, change.KindSegment} {
		switch n := counts[string(kind)]; {
		case n == 0:
		case kind == change.KindNamespace:
			texts = append(texts, "the namespace itself")
		default:
			texts = append(texts, page.Count(n, string(kind)))
		}
	}
	return strings.Join(texts, " and ")
}

// ObjectAddress returns the address of the page of an object, or of the settings of its namespace.
func ObjectAddress(v *page.Visit, namespace, kind, key string) string {
	switch change.Kind(kind) {
	case change.KindFlag:
		return v.To("namespaces", namespace, "flags", key)
	case change.KindSegment:
		return v.To("namespaces", namespace, "segments", key)
	}
	return v.To("namespaces", namespace, "settings")
}

// Group is the rows with the same action.
type Group struct {
	action     change.Action
	Tag, Class string
	Rows       []Row
}

// Groups returns the rows in groups that are not empty.
func (r *Plan) Groups() (groups []Group) {
	for _, g := range []Group{
		{change.ActionUpdate, cmp.Or(r.Words.Changed, "changed"), "mod", nil},
		{change.ActionCreate, cmp.Or(r.Words.Created, "new"), "new", nil},
		{change.ActionDelete, cmp.Or(r.Words.Deleted, "deleted"), "gone", nil},
	} {
		for _, row := range r.Rows {
			if row.GetAction() == string(g.action) {
				g.Rows = append(g.Rows, row)
			}
		}
		if len(g.Rows) > 0 {
			groups = append(groups, g)
		}
	}
	return groups
}

// Objects returns a number of flags and segments in words.
func Objects(n int) string {
	if n == 1 {
		return "1 flag or segment"
	}
	return page.Number(n) + " flags and segments"
}

// Icon returns the icon of a kind of objects.
func Icon(kind string) string {
	switch change.Kind(kind) {
	case change.KindFlag:
		return "flag"
	case change.KindSegment:
		return "segment"
	}
	return "settings"
}

package servicetest

import (
	"fmt"
	"slices"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/internal/flagtest"
)

// versions are those of a naive three-way merge: what an object was after the changes to
// undo, what it is now, and what it was before them. A nil version does not exist.
type versions[T any] struct{ after, now, before *T }

// objectMerge is the merge of one object.
type objectMerge struct {
	choices change.Choices
	met     []string        // paths at which there must be a conflict
	free    map[string]bool // fields that both sides have changed, and that are not merged here
	match   match
}

// object merges the whole object, if that is possible without its fields. It returns nil if
// the object does not exist then, and reports whether the fields must be merged. An object
// with the same content is the same if the other side has none.
func object[T any](m *objectMerge, same func(m match, a, b *T) bool, v versions[T]) (merged *T, fields bool) {
	switch {
	case same(exact, v.after, v.now):
		return v.before, false
	case same(exact, v.after, v.before), same(exact, v.now, v.before):
		return v.now, false
	case v.after == nil && (v.now == nil || v.before == nil):
		return cmpOr(v.now, v.before), false
	case v.after == nil && same(order, v.now, v.before):
		return v.now, false
	case v.now == nil && same(order, v.after, v.before), v.before == nil && same(order, v.after, v.now):
		return nil, false
	case v.now == nil || v.before == nil || v.after == nil:
		m.met = append(m.met, ".")
		if m.choices["."] == change.Theirs {
			return v.before, false
		}
		return v.now, false
	}
	return nil, true
}

func cmpOr[T any](a, b *T) *T {
	if a != nil {
		return a
	}
	return b
}

// field returns what becomes of a field with the path. If both sides have changed it, there
// must be a conflict.
func field[T comparable](m *objectMerge, path string, after, now, before T) T {
	switch {
	case after == now:
		return before
	case after == before, now == before:
		return now
	}
	m.met = append(m.met, path)
	if m.choices[path] == change.Theirs {
		return before
	}
	return now
}

// group merges fields that are one value for this model, and reports whether those before
// the changes count. If both sides have changed them, the result is not known.
func (m *objectMerge) group(name string, afterIsNow, afterIsBefore, nowIsBefore bool) (before bool) {
	switch {
	case afterIsNow:
		return true
	case afterIsBefore, nowIsBefore:
		return false
	}
	m.free[name] = true
	return false
}

func mergeFlags(m *objectMerge, v versions[guidon.Flag]) *guidon.Flag {
	merged, fields := object(m, flagRules.same, v)
	if !fields {
		return merged
	}
	after, now, before := v.after, v.now, v.before
	out := flagtest.Copy(now)
	out.Name = field(m, "name", after.Name, now.Name, before.Name)
	out.Description = field(m, "description", after.Description, now.Description, before.Description)
	out.Type = field(m, "type", after.Type, now.Type, before.Type)
	out.Enabled = field(m, "enabled", after.Enabled, now.Enabled, before.Enabled)
	if grouped(m, "metadata", v, func(f *guidon.Flag) *guidon.Flag { return &guidon.Flag{Metadata: f.Metadata} }) {
		out.Metadata = before.Metadata
	}
	if grouped(m, "rollouts", v, func(f *guidon.Flag) *guidon.Flag { return &guidon.Flag{Rollouts: f.Rollouts} }) {
		out.Rollouts = before.Rollouts
	}
	structure := func(f *guidon.Flag) *guidon.Flag {
		return &guidon.Flag{Variants: f.Variants, DefaultVariantID: f.DefaultVariantID, Rules: f.Rules}
	}
	if grouped(m, variantsField, v, structure) {
		out.Variants, out.DefaultVariantID, out.Rules = before.Variants, before.DefaultVariantID, before.Rules
	}
	out.Requires = before.Requires
	if text := field(m, "requires", requirements(after), requirements(now), requirements(before)); text != requirements(before) {
		out.Requires = now.Requires
	}
	m.match = parts
	return out
}

func requirements(f *guidon.Flag) string { return fmt.Sprintf("%q", f.Requires) }

func grouped(m *objectMerge, name string, v versions[guidon.Flag], part func(*guidon.Flag) *guidon.Flag) bool {
	after, now, before := part(v.after), part(v.now), part(v.before)
	return m.group(name, flagRules.same(exact, after, now), flagRules.same(exact, after, before), flagRules.same(exact, now, before))
}

func mergeSegments(m *objectMerge, v versions[guidon.Segment]) *guidon.Segment {
	merged, fields := object(m, segmentRules.same, v)
	if !fields {
		return merged
	}
	after, now, before := v.after, v.now, v.before
	out := flagtest.Copy(now)
	out.Name = field(m, "name", after.Name, now.Name, before.Name)
	out.Description = field(m, "description", after.Description, now.Description, before.Description)
	out.MatchType = field(m, "matchType", after.MatchType, now.MatchType, before.MatchType)
	part := func(g *guidon.Segment) *guidon.Segment { return &guidon.Segment{Constraints: g.Constraints} }
	same := func(a, b *guidon.Segment) bool { return segmentRules.same(exact, part(a), part(b)) }
	if m.group("constraints", same(after, now), same(after, before), same(now, before)) {
		out.Constraints = before.Constraints
	}
	return out
}

func mergeNamespaces(m *objectMerge, v versions[guidon.Namespace]) *guidon.Namespace {
	merged, fields := object(m, namespaceRules.same, v)
	if !fields {
		return merged
	}
	out := *v.now
	out.Name = field(m, "name", v.after.Name, v.now.Name, v.before.Name)
	out.Description = field(m, "description", v.after.Description, v.now.Description, v.before.Description)
	out.Protected = field(m, "protected", v.after.Protected, v.now.Protected, v.before.Protected)
	out.Color = field(m, "color", v.after.Color, v.now.Color, v.before.Color)
	out.ConfirmChanges = field(m, "confirmChanges", v.after.ConfirmChanges, v.now.ConfirmChanges, v.before.ConfirmChanges)
	return &out
}

// unresolved returns the paths of conflicts that were not stated.
func (m *objectMerge) unresolved() []string {
	return slices.DeleteFunc(slices.Clone(m.met), func(path string) bool { return m.choices[path] != "" })
}

package servicetest

import (
	"fmt"
	"reflect"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/internal/flagtest"
)

// match is how much of an object must be as the model says.
type match int

const (
	exact   match = iota // content, ids and ranks
	parts                // content, ranks, and all ids but those of variants
	content              // content and ranks
	order                // content: ranks do not count, but the order
)

// newID is the id in the model of a part that is created: the service chooses it.
const newID = "new"

// sameFlags reports whether the flags are the same.
func sameFlags(m match, a, b *guidon.Flag) bool {
	if a == nil || b == nil {
		return a == b
	}
	return reflect.DeepEqual(strippedFlag(m, a), strippedFlag(m, b))
}

func sameSegments(m match, a, b *guidon.Segment) bool {
	if a == nil || b == nil {
		return a == b
	}
	return reflect.DeepEqual(strippedSegment(m, a), strippedSegment(m, b))
}

func sameNamespaces(a, b *guidon.Namespace) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *strippedNamespace(a) == *strippedNamespace(b)
}

// difference is cmp.Diff, which is slow, for what is the same nearly always.
func difference[T any](want, got T) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got)
}

// strippedFlag returns a copy of the flag without times, and with no more than counts.
func strippedFlag(m match, f *guidon.Flag) *guidon.Flag {
	out := flagtest.Copy(f)
	out.CreatedAt, out.UpdatedAt = time.Time{}, time.Time{}
	if m != exact {
		nameVariants(out)
	}
	for _, v := range out.Variants {
		v.CreatedAt, v.UpdatedAt = time.Time{}, time.Time{}
	}
	for _, r := range out.Rules {
		strip(m, &r.ID, &r.Rank, &r.CreatedAt, &r.UpdatedAt)
		for _, d := range r.Distributions {
			strip(m, &d.ID, new(int32), &d.CreatedAt, &d.UpdatedAt)
		}
	}
	for _, r := range out.Rollouts {
		strip(m, &r.ID, &r.Rank, &r.CreatedAt, &r.UpdatedAt)
	}
	return out
}

func strip(m match, id *string, rank *int32, times ...*time.Time) {
	if m >= content {
		*id = ""
	}
	if m == order {
		*rank = 0
	}
	for _, t := range times {
		*t = time.Time{}
	}
}

// nameVariants replaces the ids of variants by their keys.
func nameVariants(f *guidon.Flag) {
	keys := map[string]string{"": ""}
	for _, v := range f.Variants {
		keys[v.ID] = "key of " + v.Key
		v.ID = keys[v.ID]
	}
	f.DefaultVariantID = keys[f.DefaultVariantID]
	for _, r := range f.Rules {
		for _, d := range r.Distributions {
			d.VariantID = keys[d.VariantID]
		}
	}
}

func strippedSegment(m match, g *guidon.Segment) *guidon.Segment {
	out := flagtest.Copy(g)
	out.CreatedAt, out.UpdatedAt = time.Time{}, time.Time{}
	for _, c := range out.Constraints {
		strip(m, &c.ID, new(int32), &c.CreatedAt, &c.UpdatedAt)
	}
	return out
}

func strippedNamespace(n *guidon.Namespace) *guidon.Namespace {
	out := *n
	out.CreatedAt, out.UpdatedAt = time.Time{}, time.Time{}
	return &out
}

// differFlags returns how the flag differs from the wanted one, or "". What free names may
// be anything.
func differFlags(m match, free map[string]bool, want, got *guidon.Flag) string {
	want = flagtest.Copy(want)
	for i, v := range want.Variants {
		adopt(&v.ID, i, got.Variants, func(v *guidon.Variant) string { return v.ID })
	}
	for i, r := range want.Rules {
		adopt(&r.ID, i, got.Rules, func(r *guidon.Rule) string { return r.ID })
		for j, d := range r.Distributions {
			if i < len(got.Rules) {
				adopt(&d.ID, j, got.Rules[i].Distributions, func(d *guidon.Distribution) string { return d.ID })
			}
		}
	}
	for i, r := range want.Rollouts {
		adopt(&r.ID, i, got.Rollouts, func(r *guidon.Rollout) string { return r.ID })
	}
	for field, set := range freeFlagFields {
		if free[field] {
			set(want, flagtest.Copy(got))
		}
	}
	return difference(strippedFlag(m, want), strippedFlag(m, got))
}

// adopt sets the id of a new item to that of the item at the same place.
func adopt[T any](id *string, i int, got []T, of func(T) string) {
	if *id == newID && i < len(got) {
		*id = of(got[i])
	}
}

// freeFlagFields are the fields of a flag for which a model may be too simple. The first
// one stands for the variants and the references to them.
var freeFlagFields = map[string]func(want, got *guidon.Flag){
	variantsField: func(want, got *guidon.Flag) {
		want.Variants, want.DefaultVariantID, want.Rules = got.Variants, got.DefaultVariantID, got.Rules
	},
	"rollouts": func(want, got *guidon.Flag) { want.Rollouts = got.Rollouts },
	"metadata": func(want, got *guidon.Flag) { want.Metadata = got.Metadata },
}

const variantsField = "variants and rules"

func differSegments(m match, free map[string]bool, want, got *guidon.Segment) string {
	want = flagtest.Copy(want)
	for i, c := range want.Constraints {
		adopt(&c.ID, i, got.Constraints, func(c *guidon.Constraint) string { return c.ID })
	}
	if free["constraints"] {
		want.Constraints = flagtest.Copy(got).Constraints
	}
	return difference(strippedSegment(m, want), strippedSegment(m, got))
}

func differNamespaces(_ match, _ map[string]bool, want, got *guidon.Namespace) string {
	return difference(strippedNamespace(want), strippedNamespace(got))
}

// rules are those of one kind of object.
type rules[T any] struct {
	kind    change.Kind
	differ  func(m match, free map[string]bool, want, got *T) string
	invalid func(*T) string
	created func(*T) *time.Time
}

var (
	namespaceRules = rules[guidon.Namespace]{
		change.KindNamespace, differNamespaces, func(*guidon.Namespace) string { return "" },
		func(n *guidon.Namespace) *time.Time { return &n.CreatedAt },
	}
	segmentRules = rules[guidon.Segment]{
		change.KindSegment, differSegments, invalidSegment, func(g *guidon.Segment) *time.Time { return &g.CreatedAt },
	}
	flagRules = rules[guidon.Flag]{
		change.KindFlag, differFlags, invalidFlag, func(f *guidon.Flag) *time.Time { return &f.CreatedAt },
	}
)

// createdThen reports whether an object has its time of creation: the one that it had, or
// that of the earlier object that it becomes again.
func (r rules[T]) createdThen(m match, before, want, got *T) bool {
	is := *r.created(got)
	switch {
	case before != nil && is.Equal(*r.created(before)):
		return true
	case m == exact && !r.created(want).IsZero():
		return is.Equal(*r.created(want))
	}
	return before == nil
}

// invalidFlag returns what is invalid in the flag whatever happened before, or "".
func invalidFlag(f *guidon.Flag) string {
	ids := map[string]bool{}
	again := func(id string) bool {
		defer func() { ids[id] = true }()
		return ids[id] || id == ""
	}
	keys := map[string]bool{}
	for _, v := range f.Variants {
		if again(v.ID) || keys[v.Key] {
			return fmt.Sprintf("its variant %q is not unique", v.Key)
		}
		keys[v.Key] = true
	}
	if f.DefaultVariantID != "" && f.Variant(f.DefaultVariantID) == nil {
		return "its default variant does not exist"
	}
	rank := int32(0)
	for i, r := range f.Rules {
		if again(r.ID) || r.Rank < rank {
			return fmt.Sprintf("its rule %d is not unique, or not in the order of ranks", i+1)
		}
		rank = r.Rank
		for _, d := range r.Distributions {
			if again(d.ID) || f.Variant(d.VariantID) == nil {
				return fmt.Sprintf("a distribution of its rule %d is not unique, or its variant does not exist", i+1)
			}
		}
	}
	rank = 0
	for i, r := range f.Rollouts {
		if again(r.ID) || r.Rank < rank || (r.Segment == nil) == (r.Threshold == nil) {
			return fmt.Sprintf("its rollout %d is not unique, not in the order of ranks, or not of one kind", i+1)
		}
		rank = r.Rank
	}
	return ""
}

func invalidSegment(g *guidon.Segment) string {
	ids := map[string]bool{}
	for i, c := range g.Constraints {
		if ids[c.ID] || c.ID == "" {
			return fmt.Sprintf("its constraint %d is not unique", i+1)
		}
		ids[c.ID] = true
	}
	return ""
}

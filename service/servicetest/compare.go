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

// difference is cmp.Diff, which is slow, for what is the same nearly always.
func difference[T any](want, got T) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got)
}

func stripFlag(m match, f *guidon.Flag) {
	f.CreatedAt, f.UpdatedAt = time.Time{}, time.Time{}
	if m != exact {
		nameVariants(f)
	}
	for _, v := range f.Variants {
		v.CreatedAt, v.UpdatedAt = time.Time{}, time.Time{}
	}
	for _, r := range f.Rules {
		strip(m, &r.ID, &r.Rank, &r.CreatedAt, &r.UpdatedAt)
		for _, d := range r.Distributions {
			strip(m, &d.ID, new(int32), &d.CreatedAt, &d.UpdatedAt)
		}
	}
	for _, r := range f.Rollouts {
		strip(m, &r.ID, &r.Rank, &r.CreatedAt, &r.UpdatedAt)
	}
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

func stripSegment(m match, g *guidon.Segment) {
	g.CreatedAt, g.UpdatedAt = time.Time{}, time.Time{}
	for _, c := range g.Constraints {
		strip(m, &c.ID, new(int32), &c.CreatedAt, &c.UpdatedAt)
	}
}

func stripNamespace(_ match, n *guidon.Namespace) {
	n.CreatedAt, n.UpdatedAt = time.Time{}, time.Time{}
}

func adoptFlag(free map[string]bool, want, got *guidon.Flag) {
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

func adoptSegment(free map[string]bool, want, got *guidon.Segment) {
	for i, c := range want.Constraints {
		adopt(&c.ID, i, got.Constraints, func(c *guidon.Constraint) string { return c.ID })
	}
	if free["constraints"] {
		want.Constraints = flagtest.Copy(got).Constraints
	}
}

// rules are those of one kind of object.
type rules[T any] struct {
	kind    change.Kind
	strip   func(m match, object *T)                 // removes times, and what does not count
	adopt   func(free map[string]bool, want, got *T) // takes new ids, and what may be anything
	invalid func(object *T) string
	created func(object *T) *time.Time
}

var (
	namespaceRules = rules[guidon.Namespace]{
		change.KindNamespace, stripNamespace, func(map[string]bool, *guidon.Namespace, *guidon.Namespace) {},
		func(*guidon.Namespace) string { return "" }, func(n *guidon.Namespace) *time.Time { return &n.CreatedAt },
	}
	segmentRules = rules[guidon.Segment]{
		change.KindSegment, stripSegment, adoptSegment, invalidSegment, func(g *guidon.Segment) *time.Time { return &g.CreatedAt },
	}
	flagRules = rules[guidon.Flag]{
		change.KindFlag, stripFlag, adoptFlag, invalidFlag, func(f *guidon.Flag) *time.Time { return &f.CreatedAt },
	}
)

func (r rules[T]) stripped(m match, object *T) *T {
	out := flagtest.Copy(object)
	r.strip(m, out)
	return out
}

// same reports whether the objects are the same, or both do not exist.
func (r rules[T]) same(m match, a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return reflect.DeepEqual(r.stripped(m, a), r.stripped(m, b))
}

// differ returns how the object differs from the wanted one, or "". What free names may be anything.
func (r rules[T]) differ(m match, free map[string]bool, want, got *T) string {
	want = flagtest.Copy(want)
	r.adopt(free, want, got)
	return difference(r.stripped(m, want), r.stripped(m, got))
}

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

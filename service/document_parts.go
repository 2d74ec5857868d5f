package service

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/lists"
)

// partHeader is what a part of a flag or segment has besides its content. rank is nil for a
// part that has none.
type partHeader struct {
	id               *string
	rank             *int32
	created, updated *time.Time
}

func ruleHeader(r *guidon.Rule) partHeader {
	return partHeader{&r.ID, &r.Rank, &r.CreatedAt, &r.UpdatedAt}
}

func rolloutHeader(r *guidon.Rollout) partHeader {
	return partHeader{&r.ID, &r.Rank, &r.CreatedAt, &r.UpdatedAt}
}

// partKind describes the parts of one kind to find those that continue to exist: the ones with
// the same content, then those with the same keys, of which the most specific is the first.
// Distributions have keys of variants.
type partKind[E any] struct {
	header  func(*E) partHeader
	content func(*E) string
	keys    []func(*E) string
}

var variantParts = &partKind[guidon.Variant]{
	header: func(v *guidon.Variant) partHeader { return partHeader{&v.ID, nil, &v.CreatedAt, &v.UpdatedAt} },
	content: func(v *guidon.Variant) string {
		return strings.Join([]string{v.Key, v.Name, v.Description, v.Attachment}, "\x00") // which none contains
	},
	keys: []func(*guidon.Variant) string{func(v *guidon.Variant) string { return v.Key }},
}

var ruleParts = &partKind[guidon.Rule]{
	header: ruleHeader,
	content: func(r *guidon.Rule) string {
		text := fmt.Appendf(nil, "%q %d %s", r.SegmentKeys, r.SegmentOperator, contentOf(r.Split, r.CodeDefault, r.Conditions))
		for _, d := range r.Distributions {
			text = fmt.Appendf(text, " %q %v", d.VariantID, d.Rollout)
		}
		return string(text)
	},
	keys: append(sameRule, func(*guidon.Rule) string { return "any" }),
}

// sameRule are the keys of rules that are about the same entities, apart from a portion of them, or
// at least about the same segments.
var sameRule = []func(*guidon.Rule) string{
	func(r *guidon.Rule) string { return sameSegments(r) + sameConditions(r.Stated()) }, sameSegments,
}

func sameSegments(r *guidon.Rule) string {
	return fmt.Sprintf("%q %d", r.SegmentKeys, r.SegmentOperator)
}

func sameConditions(c *guidon.Conditions) string {
	return contentOf(c.Groups, c.ExceptSegmentKeys, c.Everyone)
}

var distributionParts = &partKind[guidon.Distribution]{
	header:  func(d *guidon.Distribution) partHeader { return partHeader{&d.ID, nil, &d.CreatedAt, &d.UpdatedAt} },
	content: func(d *guidon.Distribution) string { return fmt.Sprintf("%q %v", d.VariantID, d.Rollout) },
	keys:    []func(*guidon.Distribution) string{func(d *guidon.Distribution) string { return d.VariantID }},
}

var rolloutParts = &partKind[guidon.Rollout]{
	header: rolloutHeader,
	content: func(r *guidon.Rollout) string {
		if s := r.Segment; s != nil {
			return fmt.Sprintf("%q segment %q %d %t %s", r.Description, s.SegmentKeys, s.SegmentOperator, s.Value, contentOf(r.Conditions))
		}
		return fmt.Sprintf("%q threshold %s", r.Description, contentOf(r.Threshold, r.Conditions))
	},
	keys: []func(*guidon.Rollout) string{
		func(r *guidon.Rollout) string { return sameKind(r) + sameConditions(r.Stated()) },
		sameKind,
		// The kind of a rollout never changes (contract 4.5).
		func(r *guidon.Rollout) string { return fmt.Sprint(r.Segment != nil) },
	},
}

// sameKind is the same for thresholds, and for rollouts of the same segments.
func sameKind(r *guidon.Rollout) string {
	if r.Segment != nil {
		return fmt.Sprintf("segment %q", r.Segment.SegmentKeys)
	}
	return "threshold"
}

var constraintParts = &partKind[guidon.Constraint]{
	header: func(c *guidon.Constraint) partHeader { return partHeader{&c.ID, nil, &c.CreatedAt, &c.UpdatedAt} },
	content: func(c *guidon.Constraint) string {
		return fmt.Sprintf("%d %q %q %q %q %t", c.Type, c.Property, c.Operator, c.Value, c.Description, c.Negate)
	},
	keys: []func(*guidon.Constraint) string{
		func(c *guidon.Constraint) string { return fmt.Sprintf("%d %q %q", c.Type, c.Property, c.Operator) },
		func(c *guidon.Constraint) string { return fmt.Sprintf("%d %q", c.Type, c.Property) },
		func(*guidon.Constraint) string { return "any" },
	},
}

// continued returns copies of the wanted parts, and which of haves each of them continues, or an
// empty part. It then keeps the id and when that was created and, if it is the same, updated. A
// rank that is 0 becomes the position.
func (k *partKind[E]) continued(wants, haves []*E, now time.Time) (parts, were []*E) {
	for i, from := range pair(wants, haves, slices.Concat([]func(*E) string{k.content}, k.keys)) {
		part, was := new(*wants[i]), new(E)
		is := k.header(part)
		*is.id, *is.created, *is.updated = NewID(), now, now
		if is.rank != nil {
			*is.rank = cmp.Or(*is.rank, int32(i+1)) // #nosec G115 -- bounded by the size of a document
		}
		if from >= 0 {
			was = haves[from]
			old := k.header(was)
			*is.id, *is.created = *old.id, *old.created
			if k.content(part) == k.content(was) && (is.rank == nil || *is.rank == *old.rank) {
				*is.updated = *old.updated
			}
		}
		parts, were = append(parts, part), append(were, was)
	}
	return parts, were
}

// pair returns, for each item of wants, the index of the matching item of haves, or -1.
// Each key is used for the items that the previous keys did not pair.
func pair[T any](wants, haves []T, keys []func(T) string) []int {
	p := lists.NewPairing(len(haves), len(wants))
	for _, key := range keys {
		p.By(func(i int) string { return key(haves[i]) }, func(i int) string { return key(wants[i]) })
	}
	return p.From
}

// contentOf returns a text that is the same for the same content.
func contentOf(parts ...any) string {
	text, err := json.Marshal(parts)
	if err != nil {
		return err.Error() // an enum without a name, which is not valid
	}
	return string(text)
}

// copies returns copies of the items, or nil if there are none.
func copies[E any](list []*E) (out []*E) {
	for _, e := range list {
		out = append(out, new(*e))
	}
	return out
}

package fliptdb

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/guidonhq/guidon"
)

func readNamespaces(ctx context.Context, r *reader, a *assembly) error {
	var n guidon.Namespace
	fields := []any{
		zero(&n.Key), zero(&n.Name), zero(&n.Description), zero(&n.Protected), newStamp(&n.CreatedAt), newStamp(&n.UpdatedAt),
	}
	nameOf := func() string { return "namespaces " + n.Key }
	// state_modified_at belongs to Flipt's cache and has no counterpart.
	return r.each(ctx, a, "namespaces", "key name description? protected created_at updated_at", fields, nameOf, func(x row) {
		added := &namespace{Namespace: &Namespace{Namespace: n}}
		if x.has("key") {
			a.namespaces[n.Key] = added
		}
		if reason := x.checkKey(n.Key); reason != "" {
			added.because("%s", reason)
			a.lose(x.name, reason, &a.content.Loss.Namespaces)
			return
		}
		a.content.Namespaces = append(a.content.Namespaces, added.Namespace)
	})
}

func readSegments(ctx context.Context, r *reader, a *assembly) error {
	var g guidon.Segment
	var in ref
	var match int64
	fields := []any{
		zero(&in.key), zero(&in.namespace), zero(&g.Name), zero(&g.Description), zero(&match), newStamp(&g.CreatedAt), newStamp(&g.UpdatedAt),
	}
	const columns = "key namespace_key name description? match_type created_at updated_at"
	return r.each(ctx, a, "segments", columns, fields, in.row("segments"), func(x row) {
		if !x.has("key", "namespace_key") {
			a.lose(x.name, x.problem, &a.content.Loss.Segments)
			return
		}
		added := g
		added.Key, added.MatchType = in.key, guidon.MatchType(match) // #nosec G115 -- checked below
		owner := addOwner(a, x, &a.segmentOrder, a.segments, in, &segment{Segment: &added, at: in})
		switch reason := x.checkKey(in.key); {
		case reason != "":
			owner.because("%s", reason)
		case match != int64(guidon.MatchAll) && match != int64(guidon.MatchAny):
			owner.because("match type %d is unknown", match)
		}
	})
}

// addOwner adds a segment or flag that other rows refer to, and returns it, or the first one
// with the same key.
func addOwner[T any](a *assembly, x row, order *[]T, all map[ref]T, at ref, added T) T {
	if first, exists := all[at]; exists {
		return first
	}
	all[at] = added
	if a.namespaces[at.namespace] == nil {
		a.orphan(x, "its namespace does not exist")
	} else {
		*order = append(*order, added)
	}
	return added
}

func readConstraints(ctx context.Context, r *reader, a *assembly) error {
	var c guidon.Constraint
	var in ref
	var kind int64
	fields := []any{
		zero(&c.ID), zero(&in.namespace), zero(&in.key), zero(&kind), zero(&c.Property), zero(&c.Operator), zero(&c.Value), zero(&c.Description),
		newStamp(&c.CreatedAt), newStamp(&c.UpdatedAt),
	}
	const columns = "id namespace_key segment_key type property operator value description? created_at updated_at"
	return r.each(ctx, a, "constraints", columns, fields, func() string { return "constraints " + c.ID }, func(x row) {
		g := a.segments[in]
		if g == nil || !x.has("namespace_key", "segment_key") {
			if text := a.orphan(x, "its segment "+in.String()+" does not exist"); text != "" {
				a.segmentStrays = append(a.segmentStrays, stray{in, text})
			}
			return
		}
		switch {
		case x.problem != "":
			g.because("%s: %s", x.name, x.problem)
		case kind <= int64(guidon.UnknownComparison) || kind > int64(guidon.EntityIDComparison):
			g.because("%s: comparison type %d is unknown", x.name, kind)
		case guidon.OperatorNamed(c.Operator) == nil:
			g.because("%s: operator %q is unknown", x.name, readable(c.Operator))
		}
		added := c
		added.Type = guidon.ComparisonType(kind) // #nosec G115 -- checked above
		g.Constraints = append(g.Constraints, &added)
	})
}

func readFlags(ctx context.Context, r *reader, a *assembly) error {
	var f guidon.Flag
	var in ref
	var metadata, defaultVariant string
	var kind int64
	fields := []any{
		zero(&in.key), zero(&in.namespace), zero(&f.Name), zero(&f.Description), zero(&f.Enabled), zero(&kind),
		zero(&metadata), zero(&defaultVariant), newStamp(&f.CreatedAt), newStamp(&f.UpdatedAt),
	}
	const columns = "key namespace_key name description? enabled type metadata? default_variant_id? created_at updated_at"
	return r.each(ctx, a, "flags", columns, fields, in.row("flags"), func(x row) {
		if !x.has("key", "namespace_key") {
			a.lose(x.name, x.problem, &a.content.Loss.Flags)
			return
		}
		added := f
		added.Key, added.Type = in.key, guidon.FlagType(kind) // #nosec G115 -- checked below
		known := x.has("type") && (kind == int64(guidon.VariantFlag) || kind == int64(guidon.BooleanFlag))
		owner := addOwner(a, x, &a.flagOrder, a.flags, in, &flag{Flag: &added, at: in, defaultVariant: defaultVariant})
		owner.lost = owner.lost || !known || problemOf(in.key) != ""
		reason := x.checkKey(in.key)
		if reason == "" && !known {
			reason = fmt.Sprintf("flag type %d is unknown", kind)
		}
		if reason != "" {
			owner.because("%s", reason)
		}
		if x.has("metadata") && !owner.setMetadata(metadata) {
			owner.because("metadata: it is not a JSON object")
		}
	})
}

// setMetadata sets the metadata, a JSON object or nothing, and reports whether it is valid.
func (f *flag) setMetadata(text string) bool {
	var members map[string]json.RawMessage
	var compact bytes.Buffer
	if text == "" {
		return true
	}
	if json.Unmarshal([]byte(text), &members) != nil || json.Compact(&compact, []byte(text)) != nil {
		return false
	}
	if len(members) > 0 {
		f.Metadata = compact.Bytes()
	}
	return true
}

func readVariants(ctx context.Context, r *reader, a *assembly) error {
	var v guidon.Variant
	var in ref
	fields := []any{
		zero(&v.ID), zero(&in.namespace), zero(&in.key), zero(&v.Key), zero(&v.Name), zero(&v.Description), zero(&v.Attachment),
		newStamp(&v.CreatedAt), newStamp(&v.UpdatedAt),
	}
	const columns = "id namespace_key flag_key key name description? attachment? created_at updated_at"
	return r.each(ctx, a, "variants", columns, fields, func() string { return "variants " + v.ID }, func(x row) {
		f := a.flagOf(x, in)
		if x.has("id") {
			a.variants[v.ID] = f
		}
		if f == nil {
			// A flag that needs the variant is damaged by that alone.
			a.orphan(x, "its flag "+in.String()+" does not exist")
			return
		}
		added, problem := v, ""
		var compact bytes.Buffer
		if v.Attachment != "" && json.Compact(&compact, []byte(v.Attachment)) != nil {
			problem = "attachment: it is not JSON"
		}
		f.check(x, "", problem)
		added.Attachment = compact.String() // the form in evaluation results
		f.Variants = append(f.Variants, &added)
	})
}

// flagOf returns the flag that a row belongs to, or nil.
func (a *assembly) flagOf(x row, in ref) *flag {
	if !x.has("namespace_key", "flag_key") {
		return nil
	}
	return a.flags[in]
}

package fliptdb

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/guidonhq/guidon"
)

// stamps are the timestamps that every row has.
type stamps struct{ created, updated time.Time }

func (s *stamps) fields() []any { return []any{instant{&s.created}, instant{&s.updated}} }

func readNamespaces(ctx context.Context, r *reader, a *assembly) error {
	var key, name, description string
	var protected bool
	var at stamps
	fields := append([]any{zero(&key), zero(&name), zero(&description), zero(&protected)}, at.fields()...)
	// state_modified_at belongs to Flipt's cache and has no counterpart.
	return r.each(ctx, a, "namespaces", "key name description? protected created_at updated_at", fields, func() string { return "namespaces " + key }, func(row string) {
		if !a.usable(row, key) {
			return
		}
		n := &Namespace{Namespace: guidon.Namespace{
			Key: key, Name: name, Description: description, Protected: protected, CreatedAt: at.created, UpdatedAt: at.updated,
		}}
		a.namespaces[key] = n
		a.content.Namespaces = append(a.content.Namespaces, n)
	})
}

func readSegments(ctx context.Context, r *reader, a *assembly) error {
	var in ref
	var name, description string
	var match int64
	var at stamps
	fields := append([]any{zero(&in.key), zero(&in.namespace), zero(&name), zero(&description), zero(&match)}, at.fields()...)
	return r.each(ctx, a, "segments", "key namespace_key name description? match_type created_at updated_at", fields, in.row("segments"), func(row string) {
		n := a.namespaces[in.namespace]
		switch {
		case n == nil:
			a.skip(row, "its namespace is not imported")
		case match != int64(guidon.MatchAll) && match != int64(guidon.MatchAny):
			a.skip(row, "match type %d is unknown", match)
		case a.usable(row, in.key):
			g := &guidon.Segment{
				Key: in.key, Name: name, Description: description, MatchType: guidon.MatchType(match), // #nosec G115 -- checked above
				CreatedAt: at.created, UpdatedAt: at.updated,
			}
			a.segments[in] = g
			n.Segments = append(n.Segments, g)
		}
	})
}

func readConstraints(ctx context.Context, r *reader, a *assembly) error {
	var c guidon.Constraint
	var in ref
	var kind int64
	fields := []any{
		zero(&c.ID), zero(&in.namespace), zero(&in.key), zero(&kind), zero(&c.Property), zero(&c.Operator), zero(&c.Value), zero(&c.Description),
		instant{&c.CreatedAt}, instant{&c.UpdatedAt},
	}
	const columns = "id namespace_key segment_key type property operator value description? created_at updated_at"
	return r.each(ctx, a, "constraints", columns, fields, func() string { return "constraints " + c.ID }, func(row string) {
		g := a.segments[in]
		switch {
		case g == nil:
			a.skip(row, "its segment %q is not imported", in.key)
		case kind < 0 || kind > int64(guidon.EntityIDComparison):
			a.skip(row, "comparison type %d is unknown", kind)
		default:
			added := c
			added.Type = guidon.ComparisonType(kind)
			g.Constraints = append(g.Constraints, &added)
		}
	})
}

func readFlags(ctx context.Context, r *reader, a *assembly) error {
	var f guidon.Flag
	var in ref
	var metadata string
	var kind int64
	fields := []any{
		zero(&in.key), zero(&in.namespace), zero(&f.Name), zero(&f.Description), zero(&f.Enabled), zero(&kind),
		zero(&metadata), zero(&f.DefaultVariantID), instant{&f.CreatedAt}, instant{&f.UpdatedAt},
	}
	const columns = "key namespace_key name description? enabled type metadata? default_variant_id? created_at updated_at"
	return r.each(ctx, a, "flags", columns, fields, in.row("flags"), func(row string) {
		n := a.namespaces[in.namespace]
		switch {
		case n == nil:
			a.skip(row, "its namespace is not imported")
		case kind != int64(guidon.VariantFlag) && kind != int64(guidon.BooleanFlag):
			a.skip(row, "flag type %d is unknown", kind)
		case a.usable(row, in.key):
			added := f
			added.Key, added.Type, added.Metadata, added.DefaultVariantID = in.key, guidon.FlagType(kind), a.metadata(row, metadata), "" // #nosec G115 -- checked above
			a.flags[in], a.defaults[in] = &added, f.DefaultVariantID
			n.Flags = append(n.Flags, &added)
		}
	})
}

// metadata returns the metadata of a flag, a JSON object, or nil if there is none. Invalid
// metadata is skipped.
func (a *assembly) metadata(row, text string) json.RawMessage {
	var members map[string]json.RawMessage
	var compact bytes.Buffer
	switch {
	case text == "":
		return nil
	case json.Unmarshal([]byte(text), &members) != nil || json.Compact(&compact, []byte(text)) != nil:
		a.skip(row+", metadata", "it is not a JSON object")
		return nil
	case len(members) == 0:
		return nil
	}
	return compact.Bytes()
}

func readVariants(ctx context.Context, r *reader, a *assembly) error {
	var v guidon.Variant
	var in ref
	fields := []any{
		zero(&v.ID), zero(&in.namespace), zero(&in.key), zero(&v.Key), zero(&v.Name), zero(&v.Description), zero(&v.Attachment),
		instant{&v.CreatedAt}, instant{&v.UpdatedAt},
	}
	const columns = "id namespace_key flag_key key name description? attachment? created_at updated_at"
	return r.each(ctx, a, "variants", columns, fields, func() string { return "variants " + v.ID }, func(row string) {
		f := a.flags[in]
		if f == nil {
			a.skip(row, "its flag %q is not imported", in.key)
			return
		}
		added := v
		added.Attachment = a.attachment(row, v.Attachment)
		a.variants[v.ID] = in
		f.Variants = append(f.Variants, &added)
	})
}

// attachment returns the attachment as compact JSON, as in evaluation results. An invalid
// one is skipped.
func (a *assembly) attachment(row, text string) string {
	if text == "" {
		return ""
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(text)); err != nil {
		a.skip(row+", attachment", "it is not JSON")
		return ""
	}
	return compact.String()
}

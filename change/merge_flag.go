package change

import (
	"cmp"
	"slices"

	"github.com/guidonhq/guidon"
)

// mergeFlag merges flags that both sides have. Variants come last, when it is known which
// of them the rest refers to.
func mergeFlag(m *merger, at place, v versions[guidon.Flag]) *guidon.Flag {
	v = alignVariants(v)
	m.flags, m.used, m.renamed = v, map[string]bool{}, map[string]string{}
	out := flagShape.clone(v.ours)
	flagFields.merge(m, at, v, out)
	flagLists.merge(m, at, v, out)
	m.use(out)
	variants.merge(m, at, v, out)
	m.mergeKeys(at, v, out)
	dropUnknownVariants(out)
	for _, r := range out.Rules {
		r.SegmentOperator = OperatorFor(r.SegmentKeys, r.SegmentOperator)
	}
	for _, r := range out.Rollouts {
		if r.Segment != nil {
			r.Segment.SegmentOperator = OperatorFor(r.Segment.SegmentKeys, r.Segment.SegmentOperator)
		}
	}
	return out
}

// OperatorFor returns the operator for the segments, which is always OR for fewer than two
// (contract 2): in a merge, the keys may come from one side and the operator from the other.
func OperatorFor(segmentKeys []string, operator guidon.SegmentOperator) guidon.SegmentOperator {
	if len(segmentKeys) <= 1 {
		return guidon.OrSegments
	}
	return operator
}

// use records the variants that the flag refers to.
func (m *merger) use(f *guidon.Flag) {
	m.used[f.DefaultVariantID] = true
	for _, r := range f.Rules {
		for _, d := range r.Distributions {
			m.used[d.VariantID] = true
		}
	}
}

// alignVariants returns copies of the versions in which a variant has the same id
// everywhere, also if it was deleted and created again with the same key. It has the id
// that it has in ours or, if it does not exist there, in theirs.
func alignVariants(v versions[guidon.Flag]) versions[guidon.Flag] {
	if v.base == nil {
		v.base = new(guidon.Flag)
		v = alignVariants(v)
		v.base = nil
		return v
	}
	inOurs, inTheirs := recreated(v.base, v.ours, v.theirs), recreated(v.base, v.theirs, v.ours)
	base, theirs := map[string]string{}, createdTwice(v)
	for old, id := range inTheirs {
		if v.ours.Variant(old) != nil {
			theirs[id] = old
		} else {
			base[old] = id
		}
	}
	for old, id := range inOurs {
		base[old] = id
		theirs[cmp.Or(inTheirs[old], old)] = id
	}
	v = versions[guidon.Flag]{flagShape.clone(v.base), flagShape.clone(v.ours), flagShape.clone(v.theirs)}
	RenameVariants(v.base, base)
	RenameVariants(v.theirs, theirs)
	return v
}

// recreated returns the new ids of those variants of base that exist in side with another
// id and the same key. The other side does not have the new id.
func recreated(base, side, other *guidon.Flag) map[string]string {
	ids := map[string]string{}
	for _, old := range base.Variants {
		v := side.VariantByKey(old.Key)
		if v != nil && side.Variant(old.ID) == nil && base.Variant(v.ID) == nil && other.Variant(v.ID) == nil {
			ids[old.ID] = v.ID
		}
	}
	return ids
}

// createdTwice returns the ids in ours of those variants of theirs that both sides have
// created, with the same key.
func createdTwice(v versions[guidon.Flag]) map[string]string {
	ids := map[string]string{}
	for _, t := range v.theirs.Variants {
		o := v.ours.VariantByKey(t.Key)
		if o == nil || v.ours.Variant(t.ID) != nil || v.theirs.Variant(o.ID) != nil {
			continue
		}
		if v.base.Variant(t.ID) == nil && v.base.Variant(o.ID) == nil && v.base.VariantByKey(t.Key) == nil {
			ids[t.ID] = o.ID
		}
	}
	return ids
}

// RenameVariants replaces ids of variants, also where the flag refers to them.
func RenameVariants(f *guidon.Flag, ids map[string]string) {
	for _, v := range f.Variants {
		v.ID = cmp.Or(ids[v.ID], v.ID)
	}
	f.DefaultVariantID = cmp.Or(ids[f.DefaultVariantID], f.DefaultVariantID)
	for _, r := range f.Rules {
		for _, d := range r.Distributions {
			d.VariantID = cmp.Or(ids[d.VariantID], d.VariantID)
		}
	}
}

// dropUnknownVariants removes references to variants that the merge has removed.
func dropUnknownVariants(f *guidon.Flag) {
	if f.DefaultVariantID != "" && f.Variant(f.DefaultVariantID) == nil {
		f.DefaultVariantID = ""
	}
	for _, r := range f.Rules {
		r.Distributions = slices.DeleteFunc(r.Distributions, func(d *guidon.Distribution) bool { return f.Variant(d.VariantID) == nil })
	}
}

// mergeKeys makes the keys of the variants unique: each side may have given the same key to
// another variant. It is a conflict which of them is kept; references to the other one
// become references to it.
func (m *merger) mergeKeys(at place, v versions[guidon.Flag], out *guidon.Flag) {
	for _, ours := range slices.Clone(out.Variants) {
		for _, theirs := range slices.Clone(out.Variants) {
			key, clash := m.sharedKey(v, ours, theirs)
			if !clash || out.Variant(ours.ID) == nil || out.Variant(theirs.ID) == nil {
				continue
			}
			of := versions[guidon.Variant]{baseVariant(v, key), v.ours.Variant(ours.ID), v.theirs.Variant(theirs.ID)}
			here := at.key("variants.keys", "variant", key)
			form := func(f *guidon.Flag, v *guidon.Variant) ([]byte, string) { return variantShape.form(f, v), "" }
			switch conflict(m, here, of, form) {
			case Ours:
				replaceVariant(out, theirs.ID, ours.ID)
			case Theirs:
				replaceVariant(out, ours.ID, theirs.ID)
			}
		}
	}
}

// baseVariant returns the variant of the base with the key, or nil.
func baseVariant(v versions[guidon.Flag], key string) *guidon.Variant {
	if v.base == nil {
		return nil
	}
	return v.base.VariantByKey(key)
}

// replaceVariant removes a variant and lets another one take its place.
func replaceVariant(f *guidon.Flag, removed, by string) {
	f.Variants = slices.DeleteFunc(f.Variants, func(v *guidon.Variant) bool { return v.ID == removed })
	RenameVariants(f, map[string]string{removed: by})
}

// sharedKey returns the key that the one variant has, or may get, in ours and another one
// in theirs.
func (m *merger) sharedKey(v versions[guidon.Flag], a, b *guidon.Variant) (string, bool) {
	ours, theirs := v.ours.Variant(a.ID), v.theirs.Variant(b.ID)
	if a.ID == b.ID || ours == nil || theirs == nil || ours.Key != theirs.Key {
		return "", false
	}
	return ours.Key, m.mayHaveKey(a, ours.Key) && m.mayHaveKey(b, ours.Key)
}

// mayHaveKey reports whether the merged variant has the key, or may get it when the
// conflicts are resolved.
func (m *merger) mayHaveKey(v *guidon.Variant, key string) bool {
	return v.Key == key || m.renamed[v.ID] == key
}

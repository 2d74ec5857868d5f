package service

import (
	"cmp"
	"maps"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

// mergeVersions are the stored forms of the versions of a merge. A nil version does not exist.
type mergeVersions[O any] struct{ base, mine, theirs *O }

// mine returns the stored form of the edited object. Its parts have the ids that they had when
// the edit began or, if that is not known, those that they have now.
func (k *objectKind[O, T]) mine(v mergeVersions[O], want *T, baseMissing bool, now time.Time) *O {
	if want == nil {
		return nil
	}
	have := v.base
	if baseMissing {
		have = v.theirs
	}
	v.mine = k.edited(have, want, now)
	if v.theirs != nil && !baseMissing {
		k.adopt(v)
	}
	return k.ranked(v.mine)
}

// merge merges the versions into m.
func (k *objectKind[O, T]) merge(m *Merge[T], v mergeVersions[O], choices change.Choices) error {
	v.base, v.theirs = k.ranked(v.base), k.ranked(v.theirs)
	merge := func(choices change.Choices) (change.Merged[O], error) {
		if m.BaseMissing {
			return k.withoutBase(v.mine, v.theirs, choices)
		}
		return k.merging(v.base, v.mine, v.theirs, choices)
	}
	merged, err := merge(choices)
	if err != nil {
		return err
	}
	m.Conflicts = merged.Conflicts
	mine, theirs := asEdited(merged, v.mine), merged.Object
	if len(m.Conflicts) > 0 {
		all := change.ResolveAll(m.Conflicts, change.Theirs)
		maps.Copy(all, choices)
		if merged, err = merge(all); err != nil {
			return err
		}
		theirs = merged.Object
	}
	m.Theirs, m.Mine = k.differences(v.mine, mine), k.differences(v.theirs, theirs)
	if mine != nil {
		m.Merged = k.document(mine)
	}
	return nil
}

// asEdited returns the merged object, with the edit where there is a conflict about whether it
// exists at all.
func asEdited[O any](merged change.Merged[O], mine *O) *O {
	if len(merged.Conflicts) == 1 && merged.Conflicts[0].Path == change.Whole {
		return mine
	}
	return merged.Object
}

// differences returns the differences between two versions. There is a single one if one of
// them does not exist.
func (k *objectKind[O, T]) differences(before, after *O) []change.Difference {
	switch {
	case before == nil && after == nil:
		return nil
	case before == nil:
		return []change.Difference{{Path: change.Whole, Op: change.OpAdd, Summary: "created"}}
	case after == nil:
		return []change.Difference{{Path: change.Whole, Op: change.OpRemove, Summary: "deleted"}}
	}
	return k.compare(before, after)
}

// rankedFlag returns a copy of the flag with ranks that are positions: for documents, the order
// alone counts.
func rankedFlag(f *guidon.Flag) *guidon.Flag {
	if f == nil {
		return nil
	}
	out := *f
	out.Rules, out.Rollouts = copies(f.Rules), copies(f.Rollouts)
	for i, r := range out.Rules {
		r.Rank = int32(i + 1) // #nosec G115 -- bounded by the size of a flag
	}
	for i, r := range out.Rollouts {
		r.Rank = int32(i + 1) // #nosec G115 -- bounded by the size of a flag
	}
	return &out
}

func copies[E any](list []*E) []*E {
	var out []*E
	for _, e := range list {
		next := *e
		out = append(out, &next)
	}
	return out
}

// adoptFlag gives variants, rules and rollouts that both sides have added, with the same
// content, the ids that they have in theirs: they are the same, as after an edit that was saved
// although its answer was lost.
func adoptFlag(v mergeVersions[guidon.Flag]) {
	base := cmp.Or(v.base, new(guidon.Flag))
	adoptVariants(v.mine, base, v.theirs)
	adoptAdded(v.mine.Rules, base.Rules, v.theirs.Rules, func(r *guidon.Rule) string { return r.ID }, func(mine bool, r *guidon.Rule) string {
		return ruleKeys[0](documentRule(flagOf(mine, v), r))
	})
	adoptAdded(v.mine.Rollouts, base.Rollouts, v.theirs.Rollouts, func(r *guidon.Rollout) string { return r.ID },
		func(_ bool, r *guidon.Rollout) string {
			return rolloutKeys[0](documentRollout(r))
		})
}

func flagOf(mine bool, v mergeVersions[guidon.Flag]) *guidon.Flag {
	if mine {
		return v.mine
	}
	return v.theirs
}

// adoptVariants is about variants with the same key.
func adoptVariants(mine, base, theirs *guidon.Flag) {
	for _, added := range mine.Variants {
		t := theirs.VariantByKey(added.Key)
		if t == nil || base.Variant(added.ID) != nil || base.Variant(t.ID) != nil {
			continue
		}
		for _, r := range mine.Rules {
			for i, d := range r.Distributions {
				if d.VariantID == added.ID {
					next := *d
					next.VariantID = t.ID
					r.Distributions[i] = &next
				}
			}
		}
		if mine.DefaultVariantID == added.ID {
			mine.DefaultVariantID = t.ID
		}
		added.ID = t.ID
	}
}

// adoptSegment is [adoptFlag] for the constraints of segments.
func adoptSegment(v mergeVersions[guidon.Segment]) {
	base := cmp.Or(v.base, new(guidon.Segment))
	adoptAdded(v.mine.Constraints, base.Constraints, v.theirs.Constraints, func(c *guidon.Constraint) string { return c.ID },
		func(_ bool, c *guidon.Constraint) string {
			return constraintKeys[0](documentConstraint(c))
		})
}

// adoptAdded replaces items of mine that base does not have by those of theirs that it does not
// have either and that have the same content.
func adoptAdded[E any](mine, base, theirs []*E, id func(*E) string, content func(mine bool, e *E) string) {
	known := map[string]bool{}
	for _, e := range base {
		known[id(e)] = true
	}
	added := map[string][]*E{}
	for _, e := range theirs {
		if key := content(false, e); !known[id(e)] {
			added[key] = append(added[key], e)
		}
	}
	for _, e := range mine {
		if known[id(e)] {
			continue
		}
		if key := content(true, e); len(added[key]) > 0 {
			*e, added[key] = *added[key][0], added[key][1:]
		}
	}
}

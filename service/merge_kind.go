package service

import (
	"cmp"
	"maps"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/internal/lists"
)

// mergeVersions are the stored forms of the versions of a merge. A nil version does not exist.
type mergeVersions[T any] struct{ base, mine, theirs *T }

// mine returns the stored form of the edited object. Its parts have the ids that they had when
// the edit began or, if that is not known, those that they have now.
func (k *objectKind[T]) mine(v mergeVersions[T], want *T, baseMissing bool, now time.Time) *T {
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
func (k *objectKind[T]) merge(m *Merge[T], v mergeVersions[T], choices change.Choices) error {
	v.base, v.theirs = k.ranked(v.base), k.ranked(v.theirs)
	merge := func(choices change.Choices) (change.Merged[T], error) {
		if m.BaseMissing {
			return change.MergeWithoutBase(v.mine, v.theirs, choices)
		}
		return change.Merge(v.base, v.mine, v.theirs, choices)
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
func asEdited[T any](merged change.Merged[T], mine *T) *T {
	if len(merged.Conflicts) == 1 && merged.Conflicts[0].Path == change.Whole {
		return mine
	}
	return merged.Object
}

// differences returns the differences between two versions. There is a single one if one of
// them does not exist.
func (k *objectKind[T]) differences(before, after *T) []change.Difference {
	switch {
	case before == nil && after == nil:
		return nil
	case before == nil:
		return []change.Difference{{Path: change.Whole, Op: change.OpAdd, Summary: "created"}}
	case after == nil:
		return []change.Difference{{Path: change.Whole, Op: change.OpRemove, Summary: "deleted"}}
	}
	return change.CompareVersions(before, after)
}

// rankedFlag returns a copy of the flag with ranks that are positions: for documents, the order
// alone counts.
func rankedFlag(f *guidon.Flag) *guidon.Flag {
	if f == nil {
		return nil
	}
	out := change.Clone(f)
	for i, r := range out.Rules {
		r.Rank = int32(i + 1) // #nosec G115 -- bounded by the size of a flag
	}
	for i, r := range out.Rollouts {
		r.Rank = int32(i + 1) // #nosec G115 -- bounded by the size of a flag
	}
	return out
}

// adoptFlag gives variants, rules and rollouts that both sides have added, with the same
// content, the ids that they have in theirs: they are the same, as after an edit that was saved
// although its answer was lost.
func adoptFlag(v mergeVersions[guidon.Flag]) {
	base := cmp.Or(v.base, new(guidon.Flag))
	adoptVariants(v.mine, base, v.theirs)
	adoptAdded(ruleParts, v.mine.Rules, base.Rules, v.theirs.Rules, byKeys(v.mine).Rules, byKeys(v.theirs).Rules)
	adoptAdded(rolloutParts, v.mine.Rollouts, base.Rollouts, v.theirs.Rollouts, v.mine.Rollouts, v.theirs.Rollouts)
}

// adoptVariants is about variants with the same key.
func adoptVariants(mine, base, theirs *guidon.Flag) {
	ids := map[string]string{}
	for _, added := range mine.Variants {
		if t := theirs.VariantByKey(added.Key); t != nil && base.Variant(added.ID) == nil && base.Variant(t.ID) == nil {
			ids[added.ID] = t.ID
		}
	}
	change.RenameVariants(mine, ids)
}

// adoptSegment is [adoptFlag] for the constraints of segments.
func adoptSegment(v mergeVersions[guidon.Segment]) {
	base := cmp.Or(v.base, new(guidon.Segment))
	adoptAdded(constraintParts, v.mine.Constraints, base.Constraints, v.theirs.Constraints, v.mine.Constraints, v.theirs.Constraints)
}

// adoptAdded replaces items of mine that base does not have by those of theirs that it does not
// have either and that have the same content. myContent and theirContent are the items with keys
// of variants.
func adoptAdded[E any](k *partKind[E], mine, base, theirs, myContent, theirContent []*E) {
	id := func(e *E) string { return *k.header(e).id }
	known := setOf(lists.Map(base, id))
	added := map[string][]*E{}
	for i, e := range theirs {
		if key := k.content(theirContent[i]); !known[id(e)] {
			added[key] = append(added[key], e)
		}
	}
	for i, e := range mine {
		if known[id(e)] {
			continue
		}
		if key := k.content(myContent[i]); len(added[key]) > 0 {
			*e, added[key] = *added[key][0], added[key][1:]
		}
	}
}

package fliptdb

import (
	"cmp"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// maxKeyLength is the longest key that the databases can index, in characters
// (contract 4.1).
const maxKeyLength = 255

// ref identifies a flag or segment.
type ref struct{ namespace, key string }

// assembly assembles the objects from the rows. Its maps have the parents that children
// refer to, except those that are skipped.
type assembly struct {
	content      Content
	namespaces   map[string]*Namespace
	segments     map[ref]*guidon.Segment
	flags        map[ref]*guidon.Flag
	defaults     map[ref]string // default variant ids, resolved when all variants are known
	variants     map[string]ref // flag of a variant
	rules        map[string]*ownedRule
	rollouts     map[string]*ownedRollout
	rolloutByRow map[string]*ownedRollout // by rollout_segments.id
}

// ownedRule is a rule and the flag that it belongs to.
type ownedRule struct {
	*guidon.Rule
	owner ref
}

// ownedRollout is a rollout and the flag that it belongs to.
type ownedRollout struct {
	*guidon.Rollout
	owner ref
	kind  guidon.RolloutType
}

func newAssembly() *assembly {
	return &assembly{
		namespaces: map[string]*Namespace{}, segments: map[ref]*guidon.Segment{}, flags: map[ref]*guidon.Flag{},
		defaults: map[ref]string{}, variants: map[string]ref{}, rules: map[string]*ownedRule{},
		rollouts: map[string]*ownedRollout{}, rolloutByRow: map[string]*ownedRollout{},
	}
}

// skip adds a finding about a row that is not imported.
func (a *assembly) skip(row, format string, args ...any) {
	a.content.Findings = append(a.content.Findings, Finding{Row: row, Text: fmt.Sprintf(format, args...), Skipped: true})
}

// note adds a finding about a row that is imported.
func (a *assembly) note(row, format string, args ...any) {
	a.content.Findings = append(a.content.Findings, Finding{Row: row, Text: fmt.Sprintf(format, args...)})
}

// usable reports whether a key or id can be stored. If not, it skips the row.
func (a *assembly) usable(row, key string) bool {
	switch {
	case key == "":
		a.skip(row, "its key is empty")
	case !utf8.ValidString(key):
		a.skip(row, "its key is not valid UTF-8")
	case utf8.RuneCountInString(key) > maxKeyLength:
		a.skip(row, "its key is longer than %d characters", maxKeyLength)
	default:
		return true
	}
	return false
}

// finish sorts the objects, resolves default variants and removes incomplete rules and
// rollouts. It adds findings about ambiguous orders.
func (a *assembly) finish() *Content {
	sortByCreation(a.content.Namespaces, func(n *Namespace) time.Time { return n.CreatedAt })
	for _, n := range a.content.Namespaces {
		sortByCreation(n.Flags, func(f *guidon.Flag) time.Time { return f.CreatedAt })
		sortByCreation(n.Segments, func(g *guidon.Segment) time.Time { return g.CreatedAt })
		for _, g := range n.Segments {
			sortByCreation(g.Constraints, func(c *guidon.Constraint) time.Time { return c.CreatedAt })
		}
		for _, f := range n.Flags {
			a.finishFlag(ref{n.Key, f.Key}, f)
		}
	}
	sortByCreation(a.content.Authentications, func(x *service.Authentication) time.Time { return x.CreatedAt })
	return &a.content
}

func sortByCreation[T any](list []T, created func(T) time.Time) {
	slices.SortStableFunc(list, func(x, y T) int { return created(x).Compare(created(y)) })
}

func (a *assembly) finishFlag(at ref, f *guidon.Flag) {
	sortByCreation(f.Variants, func(v *guidon.Variant) time.Time { return v.CreatedAt })
	a.finishDefault(at, f)

	sortByCreation(f.Rules, func(r *guidon.Rule) time.Time { return r.CreatedAt })
	slices.SortStableFunc(f.Rules, func(x, y *guidon.Rule) int { return cmp.Compare(x.Rank, y.Rank) })
	f.Rules = slices.DeleteFunc(f.Rules, func(r *guidon.Rule) bool {
		return a.skipWithoutSegments(r.SegmentKeys, "rules "+r.ID)
	})
	for i, r := range f.Rules {
		r.SegmentOperator = operatorOf(r.SegmentKeys, r.SegmentOperator)
		a.finishDistributions(r)
		if i > 0 && f.Rules[i-1].Rank == r.Rank {
			a.noteRank("rules "+r.ID, r.Rank)
		}
	}

	sortByCreation(f.Rollouts, func(r *guidon.Rollout) time.Time { return r.CreatedAt })
	slices.SortStableFunc(f.Rollouts, func(x, y *guidon.Rollout) int { return cmp.Compare(x.Rank, y.Rank) })
	f.Rollouts = slices.DeleteFunc(f.Rollouts, a.skipIncomplete)
	for i, r := range f.Rollouts {
		if r.Segment != nil {
			r.Segment.SegmentOperator = operatorOf(r.Segment.SegmentKeys, r.Segment.SegmentOperator)
		}
		if i > 0 && f.Rollouts[i-1].Rank == r.Rank {
			a.noteRank("rollouts "+r.ID, r.Rank)
		}
	}
}

func (a *assembly) finishDefault(at ref, f *guidon.Flag) {
	id := a.defaults[at]
	row := rowOf("flags", at)
	owner, exists := a.variants[id]
	switch {
	case id == "":
	case !exists:
		// MySQL keeps the id of a deleted variant (operations 4.9), and Flipt then
		// evaluates the flag as if it had no default variant.
		a.note(row, "its default variant %q does not exist; imported without a default variant", id)
	case owner != at:
		a.skip(row+", default_variant_id", "variant %q belongs to another flag", id)
	default:
		f.DefaultVariantID = id
	}
}

func (a *assembly) finishDistributions(r *guidon.Rule) {
	sortByCreation(r.Distributions, func(d *guidon.Distribution) time.Time { return d.CreatedAt })
	for i, d := range r.Distributions {
		if i > 0 && d.CreatedAt.Equal(r.Distributions[i-1].CreatedAt) {
			a.note("distributions "+d.ID, "it was created at the same time as another one of its rule, and Flipt does not define"+
				" which of them gets the lower buckets; compare some evaluations")
		}
	}
}

func (a *assembly) noteRank(row string, rank int32) {
	a.note(row, "rank %d is used twice, and Flipt does not define which comes first; the older one does here", rank)
}

// skipWithoutSegments reports whether a rule or rollout has no segments, and if so skips
// its row. Such a rule does not exist in Flipt, which does not delete a segment in use.
func (a *assembly) skipWithoutSegments(segments []string, row string) bool {
	if len(segments) > 0 {
		return false
	}
	a.skip(row, "it has no segment")
	return true
}

// skipIncomplete reports whether a rollout has neither segments nor a threshold, and if so
// skips its row.
func (a *assembly) skipIncomplete(r *guidon.Rollout) bool {
	row := "rollouts " + r.ID
	switch {
	case r.Threshold != nil:
		return false
	case r.Segment != nil:
		return a.skipWithoutSegments(r.Segment.SegmentKeys, row)
	}
	a.skip(row, "it has neither a segment nor a threshold")
	return true
}

// operatorOf returns the operator of a segment set: one segment is always OR
// (contract 2).
func operatorOf(keys []string, operator guidon.SegmentOperator) guidon.SegmentOperator {
	if len(keys) == 1 {
		return guidon.OrSegments
	}
	return operator
}

func rowOf(table string, at ref) string { return fmt.Sprintf("%s %s/%s", table, at.namespace, at.key) }

// row returns a function that names the row of the table that at refers to when it is
// called.
func (at *ref) row(table string) func() string {
	return func() string { return rowOf(table, *at) }
}

package guidon

import (
	"cmp"
	"slices"
)

// Document is a namespace with all that is in it, as import and export files
// hold it (contract 13.2). Package migrate/document reads and writes the files.
type Document struct {
	Namespace DocumentNamespace
	Flags     []*DocumentFlag
	Segments  []*DocumentSegment
}

// DocumentNamespace names the namespace of a document. An empty key is the
// default namespace.
type DocumentNamespace struct {
	Key         string
	Name        string
	Description string
}

// DocumentFlag is a flag with everything under it.
type DocumentFlag struct {
	Key         string
	Name        string
	Type        FlagType
	Description string
	Enabled     bool
	Metadata    string // a JSON object as text, or nothing
	Variants    []*DocumentVariant
	Rules       []*DocumentRule
	Rollouts    []*DocumentRollout // by rank
}

// DocumentVariant is one of the answers of a flag.
type DocumentVariant struct {
	Default     bool // the last one marked is the flag's default variant
	Key         string
	Name        string
	Description string
	Attachment  string // JSON text, or nothing
}

// DocumentRule leads the entities of segments to variants.
type DocumentRule struct {
	SegmentKeys     []string
	SegmentOperator SegmentOperator
	Rank            int32 // 0 is the place in the list, from 1
	Distributions   []*DocumentDistribution
}

// effectiveRank returns the rank of the rule at the index of its list.
func (r *DocumentRule) effectiveRank(index int) int32 {
	if r.Rank != 0 {
		return r.Rank
	}
	return int32(index + 1) // #nosec G115 -- bounded by the size of a document
}

// RulesByRank returns the rules in the order of their ranks; those of one rank
// keep their order.
func (f *DocumentFlag) RulesByRank() []*DocumentRule {
	ranks := make(map[*DocumentRule]int32, len(f.Rules))
	for i, r := range f.Rules {
		ranks[r] = r.effectiveRank(i)
	}
	sorted := slices.Clone(f.Rules)
	slices.SortStableFunc(sorted, func(a, b *DocumentRule) int { return cmp.Compare(ranks[a], ranks[b]) })
	return sorted
}

// DocumentDistribution gives a share of a rule's entities to a variant.
type DocumentDistribution struct {
	Variant string  // its key
	Rollout float32 // percent
}

// DocumentRollout decides a boolean flag for some entities. Exactly one of
// Segment and Threshold is set; its rank is its place in the list.
type DocumentRollout struct {
	Description string
	Segment     *RolloutSegment
	Threshold   *RolloutThreshold
}

// DocumentSegment is a segment with its constraints.
type DocumentSegment struct {
	Key         string
	Name        string
	Description string
	MatchType   MatchType
	Constraints []*DocumentConstraint
}

// DocumentConstraint is one condition of a segment.
type DocumentConstraint struct {
	Type        ComparisonType
	Property    string
	Operator    string // in any case
	Value       string
	Description string
}

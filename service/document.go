package service

import (
	"cmp"
	"slices"

	"github.com/guidonhq/guidon"
)

// Document is a namespace with its flags and segments, in the form of import and
// export files (contract 13.2). Package document reads and writes the files.
type Document struct {
	Namespace DocumentNamespace
	Flags     []*DocumentFlag
	Segments  []*DocumentSegment
}

// DocumentNamespace is the namespace of a document. An empty key means
// [guidon.DefaultNamespace].
type DocumentNamespace struct {
	Key         string
	Name        string
	Description string
}

// DocumentFlag is a flag with its variants, rules and rollouts.
type DocumentFlag struct {
	Key         string
	Name        string
	Type        guidon.FlagType
	Description string
	Enabled     bool
	Metadata    string // a JSON object, or empty
	Variants    []*DocumentVariant
	Rules       []*DocumentRule
	Rollouts    []*DocumentRollout // in rank order
}

// DocumentVariant is a variant of a flag.
type DocumentVariant struct {
	Default     bool // the last variant with Default set is the flag's default
	Key         string
	Name        string
	Description string
	Attachment  string // JSON, or empty
}

// DocumentRule distributes the entities of its segments to variants.
type DocumentRule struct {
	SegmentKeys     []string
	SegmentOperator guidon.SegmentOperator
	Rank            int32 // 0 means the position in the list, from 1
	Distributions   []*DocumentDistribution
}

// effectiveRank returns the rank of the rule, given its index in the list.
func (r *DocumentRule) effectiveRank(index int) int32 {
	if r.Rank != 0 {
		return r.Rank
	}
	return int32(index + 1) // #nosec G115 -- bounded by the size of a document
}

// RulesByRank returns the rules sorted by rank. Rules of the same rank keep their
// order.
func (f *DocumentFlag) RulesByRank() []*DocumentRule {
	ranks := make(map[*DocumentRule]int32, len(f.Rules))
	for i, r := range f.Rules {
		ranks[r] = r.effectiveRank(i)
	}
	sorted := slices.Clone(f.Rules)
	slices.SortStableFunc(sorted, func(a, b *DocumentRule) int { return cmp.Compare(ranks[a], ranks[b]) })
	return sorted
}

// DocumentDistribution assigns a share of a rule's entities to a variant.
type DocumentDistribution struct {
	Variant string  // the variant's key
	Rollout float32 // percent, 0 to 100
}

// DocumentRollout sets the value of a boolean flag for some entities. Exactly one of
// Segment and Threshold is set. Its rank is its position in the list.
type DocumentRollout struct {
	Description string
	Segment     *guidon.RolloutSegment
	Threshold   *guidon.RolloutThreshold
}

// DocumentSegment is a segment with its constraints.
type DocumentSegment struct {
	Key         string
	Name        string
	Description string
	MatchType   guidon.MatchType
	Constraints []*DocumentConstraint
}

// DocumentConstraint is a constraint of a segment.
type DocumentConstraint struct {
	Type        guidon.ComparisonType
	Property    string
	Operator    string // case-insensitive
	Value       string
	Description string
}

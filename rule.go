package guidon

import "time"

// SegmentOperator says how the segments of one rule or rollout combine.
type SegmentOperator uint8

// The segment operators.
const (
	OrSegments  SegmentOperator = 0 // at least one matches
	AndSegments SegmentOperator = 1 // all match
)

// Rule leads the entities of its segments to variants.
type Rule struct {
	ID              string          `json:"id"`
	SegmentKeys     []string        `json:"segmentKeys"`
	SegmentOperator SegmentOperator `json:"segmentOperator"`
	Rank            int32           `json:"rank"`
	Distributions   []*Distribution `json:"distributions,omitempty"` // in creation order, which decides the buckets
	CreatedAt       time.Time       `json:"createdAt"`
	UpdatedAt       time.Time       `json:"updatedAt"`
}

// Distribution gives a share of a rule's entities to a variant.
type Distribution struct {
	ID        string    `json:"id"`
	VariantID string    `json:"variantId"`
	Rollout   float32   `json:"rollout"` // percent, 0 to 100
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
}

// Distribution returns the distribution with the id, or nil.
func (r *Rule) Distribution(id string) *Distribution {
	return find(r.Distributions, func(d *Distribution) bool { return d.ID == id })
}

package guidon

import "time"

// SegmentOperator is how the segments of a rule or rollout combine. The numbers are
// those of the wire.
type SegmentOperator uint8

// Segment operators.
const (
	OrSegments  SegmentOperator = 0 // at least one segment must match
	AndSegments SegmentOperator = 1 // all segments must match
)

// Rule distributes the entities of its segments to variants.
type Rule struct {
	ID              string          `json:"id"`
	SegmentKeys     []string        `json:"segmentKeys"`
	SegmentOperator SegmentOperator `json:"segmentOperator"`
	Rank            int32           `json:"rank"`
	Distributions   []*Distribution `json:"distributions,omitempty"` // in creation order, which determines the buckets
	CreatedAt       time.Time       `json:"createdAt"`
	UpdatedAt       time.Time       `json:"updatedAt"`
	Split           *Split          `json:"split,omitempty"`       // how the distributions divide the entities; nil means in the flag's own way
	CodeDefault     bool            `json:"codeDefault,omitempty"` // without distributions: the default in the client's code applies
	*Conditions                     // nil for most: read them by Stated, not as promoted fields
}

// Distribution assigns a share of a rule's entities to a variant.
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

// RolloutType is the kind of a rollout. The numbers are those of the wire.
type RolloutType uint8

// Rollout types.
const (
	UnknownRollout   RolloutType = 0
	SegmentRollout   RolloutType = 1
	ThresholdRollout RolloutType = 2
)

// Rollout sets the value of a boolean flag for some entities. Exactly one of Segment
// and Threshold is set.
type Rollout struct {
	ID          string            `json:"id"`
	Rank        int32             `json:"rank"`
	Description string            `json:"description,omitempty"`
	Segment     *RolloutSegment   `json:"segment,omitempty"`
	Threshold   *RolloutThreshold `json:"threshold,omitempty"`
	CreatedAt   time.Time         `json:"createdAt"`
	UpdatedAt   time.Time         `json:"updatedAt"`
	*Conditions                   // nil for most, as in Rule; a threshold has only times
}

// RolloutSegment sets Value for the entities of its segments that meet the conditions of the
// rollout.
type RolloutSegment struct {
	SegmentKeys     []string        `json:"segmentKeys"`
	SegmentOperator SegmentOperator `json:"segmentOperator"`
	Value           bool            `json:"value"`
}

// RolloutThreshold sets Value for a share of all entities.
type RolloutThreshold struct {
	Percentage float32 `json:"percentage"` // 0 to 100
	Value      bool    `json:"value"`
	Start      float32 `json:"start,omitempty"` // where the share begins, in percent of the buckets
	Split      *Split  `json:"split,omitempty"` // nil means the flag's own way
	Ramp       *Ramp   `json:"ramp,omitempty"`  // how it comes to the percentage; nil means it has it always
}

// Type returns the kind of the rollout, or UnknownRollout if neither Segment nor
// Threshold is set.
func (r *Rollout) Type() RolloutType {
	switch {
	case r.Threshold != nil:
		return ThresholdRollout
	case r.Segment != nil:
		return SegmentRollout
	}
	return UnknownRollout
}

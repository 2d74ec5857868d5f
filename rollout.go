package guidon

import "time"

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
}

// RolloutSegment sets Value for the entities of its segments.
type RolloutSegment struct {
	SegmentKeys     []string        `json:"segmentKeys"`
	SegmentOperator SegmentOperator `json:"segmentOperator"`
	Value           bool            `json:"value"`
}

// RolloutThreshold sets Value for a share of all entities.
type RolloutThreshold struct {
	Percentage float32 `json:"percentage"` // 0 to 100
	Value      bool    `json:"value"`
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

// Package fliptdbtest creates databases like those of a Flipt v1 server, and evaluates
// flags as that server would, for tests.
package fliptdbtest

import "time"

// Data is the rows of the tables (operations 4.9).
type Data struct {
	Namespaces      []Namespace
	Segments        []Segment
	Constraints     []Constraint
	Flags           []Flag
	Variants        []Variant
	Rules           []Rule
	RuleSegments    []Reference
	Distributions   []Distribution
	Rollouts        []Rollout
	Thresholds      []Threshold
	RolloutSegments []RolloutSegment
	RolloutRefs     []Reference
	Authentications []Authentication
}

// Stamps are the columns created_at and updated_at.
type Stamps struct{ Created, Updated time.Time }

// Namespace is a row of namespaces.
type Namespace struct {
	Key, Name, Description string
	Protected              bool
	Stamps
}

// Segment is a row of segments.
type Segment struct {
	Namespace, Key, Name, Description string
	MatchType                         int
	Stamps
}

// Constraint is a row of constraints.
type Constraint struct {
	ID, Namespace, Segment                 string
	Type                                   int
	Property, Operator, Value, Description string
	Stamps
}

// Flag is a row of flags. An empty Metadata or Default is NULL.
type Flag struct {
	Namespace, Key, Name, Description string
	Enabled                           bool
	Type                              int
	Metadata, Default                 string
	Stamps
}

// Variant is a row of variants. An empty Attachment is NULL.
type Variant struct {
	ID, Namespace, Flag, Key, Name, Description, Attachment string
	Stamps
}

// Rule is a row of rules.
type Rule struct {
	ID, Namespace, Flag string
	Rank, Operator      int
	Stamps
}

// Reference is a row of rule_segments or rollout_segment_references.
type Reference struct{ Owner, Namespace, Segment string }

// Distribution is a row of distributions.
type Distribution struct {
	ID, Rule, Variant string
	Rollout           float32
	Stamps
}

// Rollout is a row of rollouts.
type Rollout struct {
	ID, Namespace, Flag string
	Type                int
	Description         string
	Rank                int
	Stamps
}

// Threshold is a row of rollout_thresholds.
type Threshold struct {
	ID, Namespace, Rollout string
	Percentage             float32
	Value                  bool
}

// RolloutSegment is a row of rollout_segments.
type RolloutSegment struct {
	ID, Rollout string
	Value       bool
	Operator    int
}

// Authentication is a row of authentications. A zero Expires is NULL.
type Authentication struct {
	ID, Hash string
	Method   int
	Metadata string
	Expires  time.Time
	Stamps
}

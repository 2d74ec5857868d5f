package guidon

import (
	"encoding/json"
	"iter"
	"slices"
	"time"
)

// FlagType is the type of a flag. The numbers are those of the wire.
type FlagType uint8

// Flag types.
const (
	VariantFlag FlagType = 0 // evaluates to one of its variants, by rules
	BooleanFlag FlagType = 1 // evaluates to true or false, by rollouts
)

// Bits of the type of a stored flag, whose name has a mark: releases that would ignore a part of
// the flag do not know the name. No flag of a snapshot has them.
const (
	markedFlag FlagType = 1 << 6 // it has additions
	rampedFlag FlagType = 1 << 5 // one of them is a ramp
	linkedFlag FlagType = 1 << 4 // one of them is a requirement
)

// LinkedFlagMark is in the stored form of every flag that requires others, and perhaps of some that do
// not.
const LinkedFlagMark = `FLAG_TYPE+3"`

var flagMarks = []struct {
	bit  FlagType
	mark string
}{{markedFlag, storedMark}, {rampedFlag, "+2"}, {linkedFlag, "+3"}}

// Flag is a flag with its variants, rules and rollouts. It is stored, read and recorded
// in the change log as a whole.
type Flag struct {
	Key              string          `json:"key"`
	Name             string          `json:"name"`
	Description      string          `json:"description,omitempty"`
	Type             FlagType        `json:"type"`
	Enabled          bool            `json:"enabled"`
	Metadata         json.RawMessage `json:"metadata,omitempty"` // a compact JSON object, or nil
	DefaultVariantID string          `json:"defaultVariantId,omitempty"`
	Variants         []*Variant      `json:"variants,omitempty"` // in creation order
	Rules            []*Rule         `json:"rules,omitempty"`    // sorted by rank
	Rollouts         []*Rollout      `json:"rollouts,omitempty"` // sorted by rank
	Requires         []Requirement   `json:"requires,omitempty"` // without which the flag is off
	CreatedAt        time.Time       `json:"createdAt"`
	UpdatedAt        time.Time       `json:"updatedAt"`

	Created    Position    `json:"-"` // of the change record of its creation; set by the store, orders lists
	Unreadable *Unreadable `json:"-"` // nil unless the stored form cannot be read; then only Key and Created are known
}

// Additions reports whether the stored form of the flag has parts that releases from before the
// schema step additions cannot read.
func (f *Flag) Additions() bool {
	return len(f.Requires) > 0 || slices.ContainsFunc(f.Rules, (*Rule).Additions) || slices.ContainsFunc(f.Rollouts, (*Rollout).Additions)
}

// Additions is [Flag.Additions] for one rule.
func (r *Rule) Additions() bool { return !r.none() || r.Split != nil || r.CodeDefault }

// Additions is [Flag.Additions] for one rollout.
func (r *Rollout) Additions() bool {
	t := r.Threshold
	return !r.none() || t != nil && (t.Split != nil || t.Start != 0 || t.Ramp != nil)
}

// Stored returns the flag as it is stored, as JSON. One that has additions has a mark in its
// type, so that releases that would ignore them refuse the flag. [ReadFlag] removes it.
func (f *Flag) Stored() *Flag {
	if !f.Additions() {
		return f
	}
	stored, mark := *f, markedFlag
	switch {
	case f.Linked():
		mark = linkedFlag
	case len(f.Ramped()) > 0:
		mark = rampedFlag
	}
	stored.Type |= mark
	return &stored
}

// Linked reports whether the flag or one of its rules requires others.
func (f *Flag) Linked() bool { return len(f.Requirements()) > 0 }

// Unmark removes what [Flag.Stored] has added from a decoded flag.
func (f *Flag) Unmark() { f.Type &^= markedFlag | rampedFlag | linkedFlag }

// Variant is one of the possible results of a variant flag.
type Variant struct {
	ID          string    `json:"id"`
	Key         string    `json:"key"`
	Name        string    `json:"name,omitempty"`
	Description string    `json:"description,omitempty"`
	Attachment  string    `json:"attachment,omitempty"` // compact JSON, or empty
	CreatedAt   time.Time `json:"createdAt"`
	UpdatedAt   time.Time `json:"updatedAt"`
}

// Variant returns the variant with the id, or nil.
func (f *Flag) Variant(id string) *Variant {
	return find(f.Variants, func(v *Variant) bool { return v.ID == id })
}

// VariantByKey returns the variant with the key, or nil.
func (f *Flag) VariantByKey(key string) *Variant {
	return find(f.Variants, func(v *Variant) bool { return v.Key == key })
}

// DefaultVariant returns the default variant, or nil.
func (f *Flag) DefaultVariant() *Variant {
	if f.DefaultVariantID == "" {
		return nil
	}
	return f.Variant(f.DefaultVariantID)
}

// Rule returns the rule with the id, or nil.
func (f *Flag) Rule(id string) *Rule {
	return find(f.Rules, func(r *Rule) bool { return r.ID == id })
}

// Rollout returns the rollout with the id, or nil.
func (f *Flag) Rollout(id string) *Rollout {
	return find(f.Rollouts, func(r *Rollout) bool { return r.ID == id })
}

// SegmentKeys returns the keys of the segments that the rules and rollouts of the flag
// refer to. A key occurs as often as it is referred to.
func (f *Flag) SegmentKeys() iter.Seq[string] {
	if f.Unreadable != nil {
		return slices.Values(f.Unreadable.Segments)
	}
	return func(yield func(string) bool) {
		for _, r := range f.Rules {
			if !yieldAll(yield, r.SegmentKeys, r.Stated().ExceptSegmentKeys) {
				return
			}
		}
		for _, r := range f.Rollouts {
			if r.Segment != nil && !yieldAll(yield, r.Segment.SegmentKeys, r.Stated().ExceptSegmentKeys) {
				return
			}
		}
	}
}

// yieldAll yields the items of the lists. It reports whether to continue.
func yieldAll[T any](yield func(T) bool, lists ...[]T) bool {
	for _, items := range lists {
		for _, item := range items {
			if !yield(item) {
				return false
			}
		}
	}
	return true
}

// RemoveVariant removes the variant and its distributions, and clears the default if it
// is that variant (contract 4.7). It reports whether the variant existed.
func (f *Flag) RemoveVariant(id string) bool {
	if f.Variant(id) == nil {
		return false
	}
	f.Variants = slices.DeleteFunc(f.Variants, func(v *Variant) bool { return v.ID == id })
	for _, r := range f.Rules {
		r.Distributions = slices.DeleteFunc(r.Distributions, func(d *Distribution) bool { return d.VariantID == id })
	}
	if f.DefaultVariantID == id {
		f.DefaultVariantID = ""
	}
	return true
}

// find returns the first item for which fits returns true, or nil.
func find[T any](items []*T, fits func(*T) bool) *T {
	if i := slices.IndexFunc(items, fits); i >= 0 {
		return items[i]
	}
	return nil
}

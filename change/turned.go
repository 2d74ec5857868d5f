package change

import (
	"slices"

	"github.com/guidonhq/guidon"
)

// What happened to a flag that was turned off or on, as summaries begin with it.
const (
	TurnedOff = "turned off"
	TurnedOn  = "turned on"
)

// OffMember is the member of the metadata that says that a variant flag was enabled before it
// was turned off. Its value is true.
const OffMember = "guidon.turnedOff"

// OffFirst reports whether the first rollout of the flag gives false to everybody at all times.
func OffFirst(f *guidon.Flag) bool {
	if len(f.Rollouts) == 0 {
		return false
	}
	r := f.Rollouts[0]
	t := r.Threshold
	return t != nil && t.Percentage >= 100 && t.Ramp == nil && !t.Value && r.Stated().From.IsZero() && r.Stated().Until.IsZero() &&
		(t.Split == nil || t.Split.By == "") // otherwise some lack the property
}

// isOff reports whether the flag is off for everybody, whatever its segments are.
func isOff(f *guidon.Flag) bool {
	if f.Type == guidon.VariantFlag {
		return !f.Enabled
	}
	return OffFirst(f) || !f.Enabled && !slices.ContainsFunc(f.Rollouts, func(r *guidon.Rollout) bool {
		return r.Threshold != nil && r.Threshold.Value || r.Segment != nil && r.Segment.Value
	})
}

// turn returns what happened to a flag that was turned off or on; otherwise "".
func turn(before, after *guidon.Flag) string {
	if Unreadable(before) != nil || Unreadable(after) != nil || before.Type != after.Type {
		return ""
	}
	switch was, is := isOff(before), isOff(after); {
	case is && !was:
		return TurnedOff
	case was && !is && (after.Enabled || OffFirst(before)):
		return TurnedOn
	}
	return ""
}

// turned returns the differences of a change that turned the flag off or on with one that says so,
// instead of those by which that was done. It returns the list as it is for other changes.
func turned(before, after *guidon.Flag, list []Difference) []Difference {
	what := turn(before, after)
	if what == "" {
		return list
	}
	list = slices.DeleteFunc(list, func(d Difference) bool {
		return d.Path == "enabled" || d.Path == `metadata["`+OffMember+`"]` ||
			d.Path == "rollouts[0]" && (d.Op == OpAdd && OffFirst(after) || d.Op == OpRemove && OffFirst(before))
	})
	return slices.Insert(list, 0, Difference{Path: "enabled", Op: OpReplace, Summary: what, Wording: Wording{What: what}})
}

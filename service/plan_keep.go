package service

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/lists"
)

// keepNames are the names of the fields of [Keep].
var keepNames = []string{"enabled", "percentages", "rules"}

// ParseKeep returns the Keep with the named fields: "enabled", "percentages" and "rules".
func ParseKeep(names []string) (k Keep, err error) {
	fields := map[string]*bool{"enabled": &k.Enabled, "percentages": &k.Percentages, "rules": &k.Rules}
	for i, name := range names {
		if fields[name] == nil {
			return Keep{}, invalidField(fmt.Sprintf("keep[%d]", i), "must be one of "+strings.Join(keepNames, ", "))
		}
		*fields[name] = true
	}
	return k, nil
}

// of returns the flag want with the parts that the existing flag keeps. Rules and
// percentages are kept only if both flags have the same type. Enabled includes whether the flag is
// turned off for everyone.
func (k Keep) of(have, want *guidon.Flag) *guidon.Flag {
	if k == (Keep{}) {
		return want
	}
	var p problems
	out := normalFlag(want, &p, (&Document{Flags: []*guidon.Flag{want}}).referenced())
	if p.err() != nil {
		return want // whose problems are reported
	}
	old := NewDocumentFlag(have)
	off := k.Enabled && TurnedOff(old)
	stays := off && old.Type == out.Type && TurnedOff(out) // as it is, with its metadata in their order
	if k.Enabled && !stays {
		for _, f := range []*guidon.Flag{old, out} {
			if TurnedOff(f) {
				restoreSwitched(f, time.Time{})
			}
		}
	}
	if k.Enabled {
		out.Enabled = old.Enabled
	}
	switch {
	case old.Type != out.Type:
	case k.Rules:
		out.Rules, out.Rollouts = old.Rules, old.Rollouts
	case k.Percentages:
		keepDistributions(old, out)
		keepShares(old, out)
	}
	if off && !stays {
		putOff(out, time.Time{})
		for _, r := range out.Rollouts { // in the form of a document
			r.ID, r.Rank = "", 0
		}
	}
	return out
}

// keepDistributions sets the distributions of the rules that have the same segments and the
// same variants as a rule of old, preferably one with the same conditions. Their order is kept too:
// it decides who gets which variant.
func keepDistributions(old, out *guidon.Flag) {
	for i, from := range pair(out.Rules, old.Rules, sameRule) {
		if from >= 0 && slices.Equal(servedVariants(old.Rules[from]), servedVariants(out.Rules[i])) {
			out.Rules[i].Distributions = old.Rules[from].Distributions
			keepPortion(old.Rules[from].Stated(), out.Rules[i].Stated())
		}
	}
}

// servedVariants returns the variants of the rule's distributions, sorted.
func servedVariants(r *guidon.Rule) []string {
	keys := lists.Map(r.Distributions, func(d *guidon.Distribution) string { return d.VariantID })
	slices.Sort(keys)
	return keys
}

// keepShares sets the percentages of the thresholds that have the same value as one of old, and
// of the portions of rollouts with the same segments and value, preferably of one with the same
// conditions, in order.
func keepShares(old, out *guidon.Flag) {
	segments := func(r *guidon.Rollout) string {
		switch {
		case r.Threshold != nil:
			return fmt.Sprint(r.Threshold.Value)
		case r.Segment != nil:
			return fmt.Sprintf("%q %t", r.Segment.SegmentKeys, r.Segment.Value)
		}
		return "" // which is not valid
	}
	same := []func(*guidon.Rollout) string{func(r *guidon.Rollout) string { return segments(r) + sameConditions(r.Stated()) }, segments}
	before, after := withoutOff(old.Rollouts), withoutOff(out.Rollouts)
	for i, from := range pair(after, before, same) {
		if from < 0 {
			continue
		}
		if t := after[i].Threshold; t != nil {
			was := before[from].Threshold
			t.Percentage, t.Start, t.Ramp = was.Percentage, was.Start, was.Ramp
		}
		keepPortion(before[from].Stated(), after[i].Stated())
	}
}

// withoutOff returns the rollouts without the one that turns the flag off, which has no share.
func withoutOff(all []*guidon.Rollout) []*guidon.Rollout {
	return slices.DeleteFunc(slices.Clone(all), func(r *guidon.Rollout) bool {
		return r.Threshold != nil && !r.Threshold.Value && r.Description == OffDescription
	})
}

// keepPortion sets the percentage of the portion if both have one.
func keepPortion(old, out *guidon.Conditions) {
	if old.Portion != nil && out.Portion != nil {
		was := old.Portion
		out.Portion.Percentage, out.Portion.Start, out.Portion.Ramp = was.Percentage, was.Start, was.Ramp
	}
}

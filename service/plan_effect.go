package service

import (
	"context"
	"fmt"
	"slices"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/change"
)

// EachEffect calls fn with the effect of the plan on the users of each flag that it updates,
// and of each other flag that uses a segment that it changes, in creation order, until fn
// returns false. Flags for whose users nothing changes are left out, and so are those that
// the plan creates or deletes. EachEffect reports whether those were all: the work for one
// plan is limited. The plan must be one that [Service.Plan] has returned.
func (p *Plan) EachEffect(ctx context.Context, fn func(flagKey string, e *analysis.Effect) bool) (complete bool, err error) {
	affected := p.affectedFlags()
	if len(affected) == 0 {
		return true, nil
	}
	after, work := p.after(), 0
	for _, f := range p.base.Snapshot.Flags() {
		if !affected[f.Key] { // most
			continue
		}
		edited := after.Flag(f.Key)
		if edited == nil {
			continue
		}
		if work >= maxEffectWork {
			return false, nil
		}
		work += effectWork(f, edited)
		e, err := analysis.EffectOf(ctx, p.base.Snapshot, after, f.Key)
		if err != nil {
			return false, err
		}
		if e.Any() && !fn(f.Key, e) {
			return false, nil
		}
	}
	return true, nil
}

// after returns the state of the target after the plan.
func (p *Plan) after() *guidon.Snapshot {
	return p.base.after(guidon.SnapshotDelta{
		Flags: p.Patch.Put.Flags, Segments: p.Patch.Put.Segments,
		DeletedFlags: p.Patch.Delete.Flags, DeletedSegments: p.Patch.Delete.Segments,
	})
}

// affectedFlags returns the keys of the flags of the base that the plan updates, or that use
// a segment that it changes.
func (p *Plan) affectedFlags() map[string]bool {
	affected := map[string]bool{}
	if p.base.Snapshot == nil {
		return affected
	}
	for i := range p.Changes {
		switch c := &p.Changes[i]; {
		case c.Kind == change.KindFlag && c.Action == change.ActionUpdate:
			affected[c.Key] = true
		case c.Kind == change.KindSegment:
			for f := range p.base.Snapshot.SegmentUsers(c.Key).All() {
				affected[f.Key] = true
			}
		}
	}
	return affected
}

// maxEffectWork limits the pairs of a rule or rollout before and one after the change, of
// all flags together. Some hundred thousand pairs take seconds.
const maxEffectWork = 200_000

// effectWork returns the number of pairs that are compared for the effect on one flag.
func effectWork(before, after *guidon.Flag) int {
	steps := func(f *guidon.Flag) int { return 1 + len(f.Rules) + len(f.Rollouts) }
	return steps(before) * steps(after)
}

// warnOmitted adds a warning for each flag that the plan removes from the snapshots of
// client-side SDKs, now or later.
func (p *Plan) warnOmitted() {
	if p.base.Snapshot == nil || !p.hasAdditions() {
		return // as most
	}
	affected, after := p.affectedFlags(), p.after()
	for _, f := range p.base.Snapshot.Flags() {
		if !affected[f.Key] || after.Flag(f.Key) == nil || analysis.ClientOmission(p.base.Snapshot.Compiled(f.Key)) != "" {
			continue
		}
		if reason := analysis.ComingOmission(after, f.Key); reason != "" && reason != analysis.ComingOmission(p.base.Snapshot, f.Key) {
			p.Warnings = append(p.Warnings, change.Warning{
				Kind: change.WarnServerOnly, Object: change.KindFlag, Key: f.Key,
				Text: fmt.Sprintf("client-side SDKs no longer get flag %q: %s", f.Key, reason),
			})
		}
	}
}

// hasAdditions reports whether a flag that is put, or a segment, has some after the plan.
func (p *Plan) hasAdditions() bool {
	return slices.ContainsFunc(p.Patch.Put.Flags, (*guidon.Flag).Additions) ||
		slices.ContainsFunc(p.Patch.Put.Segments, (*guidon.Segment).Additions) ||
		slices.ContainsFunc(p.base.Snapshot.Segments(), (*guidon.Segment).Additions)
}

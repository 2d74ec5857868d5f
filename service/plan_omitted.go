package service

import (
	"fmt"
	"slices"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/change"
)

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

package servicetest

import (
	"slices"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/internal/flagtest"
	"github.com/guidonhq/guidon/service"
)

// sourcePlan is an import, a plan of a document, a promotion or a restore, by the rules of
// [service.PlanRequest].
type sourcePlan struct {
	service.PlanRequest
	source   *state
	restores bool // source is an earlier state of the target
	names    bool // the namespace gets the name and the settings of the source
}

// into returns what becomes of the target.
func (p *sourcePlan) into(target *state) expectation {
	everything := len(p.Flags)+len(p.Segments) == 0
	if p.Mode == service.ImportReplace && (!everything || p.WithoutSegments) {
		return failure(guidon.InvalidArgument)
	}
	if !haveAll(p.source.flags, p.Flags) || !haveAll(p.source.segments, p.Segments) {
		return failure(guidon.InvalidArgument)
	}
	flags, ok := p.keptFlags(target, everything)
	segments := p.broughtSegments(target, flags, everything)
	switch {
	case !ok || !p.refersToExisting(target, flags, segments):
		return failure(guidon.InvalidArgument)
	case p.Mode == service.ImportCreate && (overlap(flags, target.flags) || overlap(segments, target.segments)):
		return failure(guidon.InvalidArgument)
	}
	e := expectation{next: target.clone(), match: map[change.Object]match{}}
	if everything || target.namespace == nil {
		e.next.namespace = p.namespace(target.namespace)
	}
	for _, g := range segments {
		p.putSegment(e, target.segments[g.Key], g)
	}
	for _, f := range flags {
		p.putFlag(e, target.flags[f.Key], f)
	}
	if p.Mode == service.ImportReplace {
		keepOnly(e.next.flags, flags)
		keepOnly(e.next.segments, segments)
	}
	if !e.next.linked() {
		return failure(guidon.InvalidArgument)
	}
	return e
}

func haveAll[T any](all map[string]*T, keys []string) bool {
	return !slices.ContainsFunc(keys, func(key string) bool { return all[key] == nil })
}

func overlap[T any](a, b map[string]T) bool {
	for key := range a {
		if _, both := b[key]; both {
			return true
		}
	}
	return false
}

// keepOnly removes what has no key in kept.
func keepOnly[T any](all, kept map[string]T) {
	for key := range all {
		if _, found := kept[key]; !found {
			delete(all, key)
		}
	}
}

// keptFlags returns the selected flags, with what those of the target keep. It reports false
// if kept rules refer to a variant that does not come.
func (p *sourcePlan) keptFlags(target *state, everything bool) (map[string]*guidon.Flag, bool) {
	flags, valid := map[string]*guidon.Flag{}, true
	for key, f := range p.source.flags {
		if !everything && !slices.Contains(p.Flags, key) {
			continue
		}
		f = flagtest.Copy(f)
		if have := target.flags[key]; have != nil {
			valid = keep(p.Keep, flagtest.Copy(have), f) && valid
		}
		flags[key] = f
	}
	return flags, valid
}

// keep changes the flag into what it is with what the one that exists keeps.
func keep(k service.Keep, have, f *guidon.Flag) bool {
	off := k.Enabled && restore(flagtest.Copy(have))
	stays := off && have.Type == f.Type && restore(flagtest.Copy(f))
	if k.Enabled && !stays {
		restore(have)
		restore(f)
	}
	if k.Enabled {
		f.Enabled = have.Enabled
	}
	switch {
	case have.Type != f.Type:
	case k.Rules:
		f.Rules, f.Rollouts = have.Rules, have.Rollouts
		for _, r := range f.Rules {
			if !referByKey(have, f, r.Distributions) {
				return false
			}
		}
	case k.Percentages:
		keepDistributions(have, f)
		keepThresholds(have, f)
		keepPortions(have, f)
	}
	if off && !stays {
		turnOff(f)
	}
	return true
}

// referByKey replaces the variants of a flag by those of another with the same keys. It
// reports whether there are all of them.
func referByKey(from, to *guidon.Flag, distributions []*guidon.Distribution) bool {
	for _, d := range distributions {
		v := to.VariantByKey(from.Variant(d.VariantID).Key)
		if v == nil {
			return false
		}
		d.VariantID = v.ID
	}
	return true
}

// keepDistributions: the n-th rule for some segments and conditions keeps the distributions of the n-th one
// for these, if both serve the same variants. So do the others, if the conditions differ.
func keepDistributions(have, f *guidon.Flag) {
	same := func(r, old *guidon.Rule) bool {
		return slices.Equal(r.SegmentKeys, old.SegmentKeys) && r.SegmentOperator == old.SegmentOperator
	}
	for r, old := range paired(f.Rules, have.Rules, same, func(r *guidon.Rule) *guidon.Conditions { return r.Conditions }) {
		if slices.Equal(served(f, r), served(have, old)) {
			r.Distributions = flagtest.Copy(old).Distributions
			referByKey(have, f, r.Distributions)
			keepPortion(old.Conditions, r.Conditions)
		}
	}
}

// paired returns the old rule that each rule continues: the first one left for the same entities or else, when all
// rules have had the choice, the first one left that is the same by its segments.
func paired[R any](rules, old []*R, same func(r, old *R) bool, conditions func(*R) *guidon.Conditions) map[*R]*R {
	pairs, taken := map[*R]*R{}, map[*R]bool{}
	for _, exactly := range []bool{true, false} {
		for _, r := range rules {
			for _, o := range old {
				is, was := conditions(r).Stated(), conditions(o).Stated()
				if pairs[r] != nil || taken[o] || !same(r, o) ||
					exactly && !(is.Everyone == was.Everyone && slices.Equal(is.ExceptSegmentKeys, was.ExceptSegmentKeys) && difference(is.Groups, was.Groups) == "") {
					continue
				}
				pairs[r], taken[o] = o, true
			}
		}
	}
	return pairs
}

func served(f *guidon.Flag, r *guidon.Rule) []string {
	var keys []string
	for _, d := range r.Distributions {
		keys = append(keys, f.Variant(d.VariantID).Key)
	}
	slices.Sort(keys)
	return keys
}

// keepPortion: a portion keeps the share of the other one.
func keepPortion(old, c *guidon.Conditions) {
	if old != nil && c != nil && old.Portion != nil && c.Portion != nil {
		kept := *old.Portion
		kept.Split = c.Portion.Split
		c.Portion = &kept
	}
}

// keepPortions: so do portions of rollouts with the same value keep their shares.
func keepPortions(have, f *guidon.Flag) {
	same := func(r, old *guidon.Rollout) bool {
		return r.Segment != nil && old.Segment != nil && r.Segment.Value == old.Segment.Value &&
			slices.Equal(r.Segment.SegmentKeys, old.Segment.SegmentKeys)
	}
	for r, old := range paired(f.Rollouts, have.Rollouts, same, func(r *guidon.Rollout) *guidon.Conditions { return r.Conditions }) {
		keepPortion(old.Conditions, r.Conditions)
	}
}

// keepThresholds: the n-th threshold with a value keeps the share of the n-th one with
// that value. Off for everyone is not one of them.
func keepThresholds(have, f *guidon.Flag) {
	for _, value := range []bool{false, true} {
		old := thresholds(have, value)
		for i, t := range thresholds(f, value) {
			if i < len(old) {
				t.Percentage, t.Start, t.Ramp = old[i].Percentage, old[i].Start, old[i].Ramp
			}
		}
	}
}

func thresholds(f *guidon.Flag, value bool) (all []*guidon.RolloutThreshold) {
	for _, r := range f.Rollouts {
		if r.Threshold != nil && r.Threshold.Value == value && r.Description != service.OffDescription {
			all = append(all, r.Threshold)
		}
	}
	return all
}

// broughtSegments returns the selected segments, and those that come along with the flags.
func (p *sourcePlan) broughtSegments(target *state, flags map[string]*guidon.Flag, everything bool) map[string]*guidon.Segment {
	segments, used := map[string]*guidon.Segment{}, map[string]bool{}
	for _, f := range flags {
		of := slices.Collect(p.source.flags[f.Key].SegmentKeys()) // nothing comes along with kept parts alone
		for key := range f.SegmentKeys() {
			used[key] = used[key] || slices.Contains(of, key)
		}
	}
	for key, g := range p.source.segments {
		comes := used[key] && (!p.restores || target.segments[key] == nil)
		if slices.Contains(p.Segments, key) || !p.WithoutSegments && (everything || comes) {
			segments[key] = g
		}
	}
	return segments
}

func (p *sourcePlan) refersToExisting(target *state, flags map[string]*guidon.Flag, segments map[string]*guidon.Segment) bool {
	known := &state{segments: map[string]*guidon.Segment{}}
	if p.Mode != service.ImportReplace {
		known = target.clone()
	}
	for key, g := range segments {
		known.segments[key] = g
	}
	for _, f := range flags {
		if !known.refersToExisting(f) {
			return false
		}
	}
	return true
}

// namespace returns what becomes of the namespace itself if everything is brought.
func (p *sourcePlan) namespace(have *guidon.Namespace) *guidon.Namespace {
	replaced := p.Mode == service.ImportUpdate || p.Mode == service.ImportReplace
	want := *p.source.namespace
	switch {
	case have == nil:
	case !p.names || !replaced:
		return have
	case !p.restores:
		want.Protected = have.Protected
		if want.Name == "" {
			want.Name = have.Name
		}
		if want.Description == "" {
			want.Description = have.Description
		}
		if want.Color == "" {
			want.Color = have.Color
		}
		want.ConfirmChanges = want.ConfirmChanges || have.ConfirmChanges // a document of a state never says no
	}
	if namespaceRules.same(exact, have, &want) {
		return have
	}
	return &want
}

func (p *sourcePlan) putSegment(e expectation, have, want *guidon.Segment) {
	if segmentRules.same(order, have, want) || have != nil && p.Mode == service.ImportSkipExisting {
		return
	}
	if !p.restores {
		e.match[segmentObject(want.Key)] = content
	}
	e.next.segments[want.Key] = want
}

func (p *sourcePlan) putFlag(e expectation, have, want *guidon.Flag) {
	if flagRules.same(order, have, want) || have != nil && p.Mode == service.ImportSkipExisting {
		return
	}
	if !p.restores || have != nil && p.Keep != (service.Keep{}) {
		e.match[flagObject(want.Key)] = content
	}
	e.next.flags[want.Key] = ranked(want)
}

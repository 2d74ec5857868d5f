package servicetest

import (
	"slices"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
)

// bringing is what an import, a plan of a document, a promotion or a restore brings into a
// state, by the rules of [service.PlanRequest].
type bringing struct {
	service.PlanRequest
	source   *state
	restores bool // source is an earlier state of the target
	names    bool // the namespace gets the name and the settings of the source
}

// into returns what becomes of the target.
func (b *bringing) into(target *state) expectation {
	everything := len(b.Flags)+len(b.Segments) == 0
	if b.Mode == service.ImportReplace && (!everything || b.WithoutSegments) {
		return failure(guidon.InvalidArgument)
	}
	for _, key := range b.Flags {
		if b.source.flags[key] == nil {
			return failure(guidon.InvalidArgument)
		}
	}
	for _, key := range b.Segments {
		if b.source.segments[key] == nil {
			return failure(guidon.InvalidArgument)
		}
	}
	flags, ok := b.keptFlags(target, everything)
	segments := b.broughtSegments(target, flags, everything)
	switch {
	case !ok || !b.refersToExisting(target, flags, segments):
		return failure(guidon.InvalidArgument)
	case b.Mode == service.ImportCreate && (overlap(flags, target.flags) || overlap(segments, target.segments)):
		return failure(guidon.InvalidArgument)
	}
	e := expectation{next: target.clone(), match: map[change.Object]match{}}
	if everything || target.namespace == nil {
		e.next.namespace = b.namespace(target.namespace)
	}
	for _, g := range segments {
		b.putSegment(e, target.segments[g.Key], g)
	}
	for _, f := range flags {
		b.putFlag(e, target.flags[f.Key], f)
	}
	if b.Mode == service.ImportReplace {
		keepOnly(e.next.flags, flags)
		keepOnly(e.next.segments, segments)
	}
	return e
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
func (b *bringing) keptFlags(target *state, everything bool) (map[string]*guidon.Flag, bool) {
	flags, valid := map[string]*guidon.Flag{}, true
	for key, f := range b.source.flags {
		if !everything && !slices.Contains(b.Flags, key) {
			continue
		}
		f = copyOf(f)
		if have := target.flags[key]; have != nil {
			valid = keep(b.Keep, copyOf(have), f) && valid
		}
		flags[key] = f
	}
	return flags, valid
}

// keep changes the flag into what it is with what the one that exists keeps.
func keep(k service.Keep, have, f *guidon.Flag) bool {
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

// keepDistributions: the n-th rule for some segments keeps the distributions of the n-th one
// for these segments, if both serve the same variants.
func keepDistributions(have, f *guidon.Flag) {
	taken := map[*guidon.Rule]bool{}
	for _, r := range f.Rules {
		for _, old := range have.Rules {
			if taken[old] || !slices.Equal(r.SegmentKeys, old.SegmentKeys) || r.SegmentOperator != old.SegmentOperator {
				continue
			}
			taken[old] = true
			if slices.Equal(served(f, r), served(have, old)) {
				r.Distributions = copyOf(old).Distributions
				referByKey(have, f, r.Distributions)
			}
			break
		}
	}
}

func served(f *guidon.Flag, r *guidon.Rule) []string {
	var keys []string
	for _, d := range r.Distributions {
		keys = append(keys, f.Variant(d.VariantID).Key)
	}
	slices.Sort(keys)
	return keys
}

// keepThresholds: the n-th threshold with a value keeps the percentage of the n-th one with
// that value.
func keepThresholds(have, f *guidon.Flag) {
	for _, value := range []bool{false, true} {
		var percentages []float32
		for _, r := range have.Rollouts {
			if r.Threshold != nil && r.Threshold.Value == value {
				percentages = append(percentages, r.Threshold.Percentage)
			}
		}
		for _, r := range f.Rollouts {
			if r.Threshold != nil && r.Threshold.Value == value && len(percentages) > 0 {
				r.Threshold.Percentage, percentages = percentages[0], percentages[1:]
			}
		}
	}
}

// broughtSegments returns the selected segments, and those that come along with the flags.
func (b *bringing) broughtSegments(target *state, flags map[string]*guidon.Flag, everything bool) map[string]*guidon.Segment {
	segments, along := map[string]*guidon.Segment{}, map[string]bool{}
	for key := range flags {
		for used := range b.source.flags[key].SegmentKeys() {
			along[used] = true // unless what the flag keeps does not use it
		}
	}
	used := map[string]bool{}
	for _, f := range flags {
		for key := range f.SegmentKeys() {
			used[key] = along[key] || b.Document != nil
		}
	}
	for key, g := range b.source.segments {
		comes := used[key] && (!b.restores || target.segments[key] == nil)
		if slices.Contains(b.Segments, key) || !b.WithoutSegments && (everything || comes) {
			segments[key] = g
		}
	}
	return segments
}

func (b *bringing) refersToExisting(target *state, flags map[string]*guidon.Flag, segments map[string]*guidon.Segment) bool {
	known := &state{segments: map[string]*guidon.Segment{}}
	if b.Mode != service.ImportReplace {
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
func (b *bringing) namespace(have *guidon.Namespace) *guidon.Namespace {
	replaced := b.Mode == service.ImportUpdate || b.Mode == service.ImportReplace
	want := *b.source.namespace
	switch {
	case have == nil:
	case !b.names || !replaced:
		return have
	case !b.restores:
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
	if sameNamespaces(have, &want) {
		return have
	}
	return &want
}

func (b *bringing) putSegment(e expectation, have, want *guidon.Segment) {
	if sameSegments(order, have, want) || have != nil && b.Mode == service.ImportSkipExisting {
		return
	}
	if !b.restores {
		e.match[segmentObject(want.Key)] = content
	}
	e.next.segments[want.Key] = want
}

func (b *bringing) putFlag(e expectation, have, want *guidon.Flag) {
	if sameFlags(order, have, want) || have != nil && b.Mode == service.ImportSkipExisting {
		return
	}
	if !b.restores || have != nil && b.Keep != (service.Keep{}) {
		e.match[flagObject(want.Key)] = content
	}
	e.next.flags[want.Key] = ranked(want)
}

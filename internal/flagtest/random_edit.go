package flagtest

import (
	"encoding/json"
	"slices"

	"github.com/guidonhq/guidon"
)

// EditFlag returns a copy of the flag with one to four changes, of which some may have no
// effect. It is as valid as the flag.
func (s *Source) EditFlag(f *guidon.Flag) *guidon.Flag {
	out := Copy(f)
	out.Created = f.Created
	for range 1 + s.random.IntN(4) {
		pick(s, flagEdits...)(s, out)
	}
	out.UpdatedAt = s.time()
	return out
}

// EditSegment is [Source.EditFlag] for a segment.
func (s *Source) EditSegment(g *guidon.Segment) *guidon.Segment {
	out := Copy(g)
	out.Created = g.Created
	for range 1 + s.random.IntN(4) {
		pick(s, segmentEdits...)(s, out)
	}
	out.UpdatedAt = s.time()
	return out
}

// EditNamespace is [Source.EditFlag] for a namespace.
func (s *Source) EditNamespace(n *guidon.Namespace) *guidon.Namespace {
	out := *n
	switch s.random.IntN(5) {
	case 0:
		out.Name = s.name()
	case 1:
		out.Description = s.text()
	case 2:
		out.Color = s.color()
	case 3:
		out.ConfirmChanges = !out.ConfirmChanges
	default:
		out.Protected = !out.Protected
	}
	out.UpdatedAt = s.time()
	return &out
}

var flagEdits = []func(s *Source, f *guidon.Flag){
	func(s *Source, f *guidon.Flag) { f.Name = s.name() },
	func(s *Source, f *guidon.Flag) { f.Description = s.text() },
	func(_ *Source, f *guidon.Flag) { f.Enabled = !f.Enabled },
	(*Source).editMetadata,
	(*Source).editDefault,
	(*Source).addVariant,
	(*Source).editVariant,
	(*Source).editVariant,
	(*Source).removeVariant,
	(*Source).recreateVariant,
	func(s *Source, f *guidon.Flag) { move(s, f.Variants) },
	(*Source).addRule,
	(*Source).editRule,
	(*Source).editRule,
	(*Source).recreateRule,
	func(s *Source, f *guidon.Flag) { f.Rules = remove(s, f.Rules); Rank(f) },
	func(s *Source, f *guidon.Flag) { move(s, f.Rules); Rank(f) },
	(*Source).spreadRanks,
	(*Source).addRollout,
	(*Source).editRollout,
	(*Source).editRollout,
	func(s *Source, f *guidon.Flag) { f.Rollouts = remove(s, f.Rollouts); Rank(f) },
	func(s *Source, f *guidon.Flag) { move(s, f.Rollouts); Rank(f) },
	func(s *Source, f *guidon.Flag) { f.Requires = s.requirements() },
}

var segmentEdits = []func(s *Source, g *guidon.Segment){
	func(s *Source, g *guidon.Segment) { g.Name = s.name() },
	func(s *Source, g *guidon.Segment) { g.Description = s.text() },
	func(_ *Source, g *guidon.Segment) { g.MatchType = 1 - g.MatchType },
	(*Source).addConstraint,
	(*Source).editConstraint,
	(*Source).editConstraint,
	func(s *Source, g *guidon.Segment) { g.Constraints = remove(s, g.Constraints) },
	func(s *Source, g *guidon.Segment) { move(s, g.Constraints) },
}

// editMetadata sets or removes a member of the metadata.
func (s *Source) editMetadata(f *guidon.Flag) {
	values := map[string]json.RawMessage{}
	if len(f.Metadata) > 0 {
		if err := json.Unmarshal(f.Metadata, &values); err != nil {
			panic(err)
		}
	}
	if name := pick(s, "owner", "ticket", "a.b [c]"); s.one(3) {
		delete(values, name)
	} else {
		values[name] = json.RawMessage(s.json())
	}
	f.Metadata = nil
	if len(values) > 0 {
		text, err := json.Marshal(values)
		if err != nil {
			panic(err)
		}
		f.Metadata = text
	}
}

func (s *Source) editDefault(f *guidon.Flag) {
	f.DefaultVariantID = ""
	if len(f.Variants) > 0 && !s.one(3) {
		f.DefaultVariantID = pick(s, f.Variants...).ID
	}
}

func (s *Source) editVariant(f *guidon.Flag) {
	if len(f.Variants) == 0 {
		return
	}
	v := pick(s, f.Variants...)
	switch s.random.IntN(4) {
	case 0:
		v.Name = s.text()
	case 1:
		v.Description = s.text()
	case 2:
		v.Attachment = s.json()
	default:
		if key := s.freeVariantKey(f); key != "" {
			v.Key = key
		}
	}
	v.UpdatedAt = s.time()
}

func (s *Source) removeVariant(f *guidon.Flag) {
	if len(f.Variants) > 0 {
		f.RemoveVariant(pick(s, f.Variants...).ID)
	}
}

// recreateVariant replaces a variant by a new one with the same key, to which nothing
// refers.
func (s *Source) recreateVariant(f *guidon.Flag) {
	if len(f.Variants) == 0 {
		return
	}
	v := *pick(s, f.Variants...)
	f.RemoveVariant(v.ID)
	v.ID, v.Attachment = s.id(), pick(s, v.Attachment, s.json())
	f.Variants = append(f.Variants, &v)
}

func (s *Source) editRule(f *guidon.Flag) {
	if len(f.Rules) == 0 {
		return
	}
	r := pick(s, f.Rules...)
	switch s.random.IntN(8) {
	case 0:
		s.setSegments(&r.Conditions, &r.SegmentKeys, &r.SegmentOperator)
	case 5, 6, 7:
		s.editRuleAdditions(r)
	case 1:
		s.addDistribution(f, r)
	case 2:
		r.Distributions = remove(s, r.Distributions)
	case 3:
		move(s, r.Distributions)
	default:
		if len(r.Distributions) > 0 {
			d := pick(s, r.Distributions...)
			d.VariantID, d.Rollout = pick(s, d.VariantID, pick(s, f.Variants...).ID), s.percentage()
		}
	}
	r.UpdatedAt = s.time()
}

// recreateRule gives a rule and its distributions other ids, as if it had been deleted and
// created again.
func (s *Source) recreateRule(f *guidon.Flag) {
	if len(f.Rules) == 0 {
		return
	}
	r := pick(s, f.Rules...)
	r.ID = s.id()
	for _, d := range r.Distributions {
		d.ID = s.id()
	}
}

// spreadRanks leaves gaps between the ranks of the rules.
func (s *Source) spreadRanks(f *guidon.Flag) {
	for i, r := range f.Rules {
		r.Rank = int32(2*i + 1) // #nosec G115 -- few
	}
}

func (s *Source) editRollout(f *guidon.Flag) {
	if len(f.Rollouts) == 0 {
		return
	}
	r := pick(s, f.Rollouts...)
	switch {
	case s.one(3):
		r.Description = s.text()
	case s.one(2):
		s.editRolloutAdditions(r)
	case r.Threshold != nil:
		r.Threshold.Percentage, r.Threshold.Value = min(s.percentage(), 100-r.Threshold.Start), s.one(2)
	case s.one(2):
		r.Segment.Value = !r.Segment.Value
	default:
		s.setSegments(&r.Conditions, &r.Segment.SegmentKeys, &r.Segment.SegmentOperator)
	}
	r.UpdatedAt = s.time()
}

func (s *Source) editConstraint(g *guidon.Segment) {
	if len(g.Constraints) == 0 {
		return
	}
	c := pick(s, g.Constraints...)
	if s.one(3) {
		c.Description = s.text()
	} else {
		s.setCondition(c)
	}
	c.UpdatedAt = s.time()
}

// remove returns the list without one of its items.
func remove[T any](s *Source, list []*T) []*T {
	if len(list) == 0 {
		return list
	}
	i := s.random.IntN(len(list))
	return slices.Delete(list, i, i+1)
}

// move swaps two items of the list.
func move[T any](s *Source, list []*T) {
	if len(list) > 1 {
		i, j := s.random.IntN(len(list)), s.random.IntN(len(list))
		list[i], list[j] = list[j], list[i]
	}
}

package servicetest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// call is a call of the service.
type call func(ctx context.Context, w service.Write, namespace string) (int64, error)

// verdict is what an operation on one object does: it changes it, leaves it alone, or
// fails with a code.
type verdict struct {
	unchanged bool
	fails     guidon.Code
}

var (
	changes   = verdict{}
	unchanged = verdict{unchanged: true}
	notFound  = verdict{fails: guidon.NotFound}
	invalid   = verdict{fails: guidon.InvalidArgument}
)

// flagOperation changes a flag f of a state, and returns the call that does the same. If
// the flag does not exist, f has only its key, and missing is the verdict.
type flagOperation struct {
	name    string
	missing verdict
	make    func(m *model, now *state, f *guidon.Flag) (verdict, call)
}

var flagOperations = []flagOperation{
	{"UpdateFlag", notFound, (*model).updateFlag},
	{"UpdateFlag", notFound, (*model).updateFlag},
	{"TurnFlagOff", notFound, (*model).turnFlagOff},
	{"TurnFlagOn", notFound, (*model).turnFlagOn},
	{"CreateVariant", notFound, (*model).createVariant},
	{"CreateVariant", notFound, (*model).createVariant},
	{"UpdateVariant", notFound, (*model).updateVariant},
	{"DeleteVariant", unchanged, (*model).deleteVariant},
	{"CreateRule", notFound, (*model).createRule},
	{"UpdateRule", notFound, (*model).updateRule},
	{"OrderRules", unchanged, (*model).orderRules},
	{"DeleteRule", unchanged, (*model).deleteRule},
	{"CreateDistribution", notFound, (*model).createDistribution},
	{"CreateDistribution", notFound, (*model).createDistribution},
	{"UpdateDistribution", notFound, (*model).updateDistribution},
	{"DeleteDistribution", unchanged, (*model).deleteDistribution},
	{"CreateRollout", notFound, (*model).createRollout},
	{"UpdateRollout", notFound, (*model).updateRollout},
	{"OrderRollouts", unchanged, (*model).orderRollouts},
	{"DeleteRollout", unchanged, (*model).deleteRollout},
}

// changeFlag creates, changes or deletes one flag.
func (m *model) changeFlag(s *space) attempt {
	key, next := m.flagKey(), s.current().clone()
	if len(next.flags) > 0 && !m.one(4) {
		key = pick(m, slices.Sorted(maps.Keys(next.flags)))
	}
	if m.one(20) {
		delete(next.flags, key)
		return m.single(s, "DeleteFlag "+key, next, changes, func(ctx context.Context, w service.Write, namespace string) (int64, error) {
			return m.service.DeleteFlag(ctx, w, namespace, key)
		})
	}
	have := next.flags[key]
	if have == nil && !m.one(6) || m.one(20) {
		return m.createFlag(s, key, next)
	}
	o, f := pick(m, flagOperations), &guidon.Flag{Key: key}
	if have != nil {
		f = copyOf(have)
	}
	v, call := o.make(m, next, f)
	if have == nil {
		v = o.missing
	}
	if v == changes {
		next.flags[key] = f
	}
	return m.single(s, o.name+" "+key, next, v, call)
}

// single returns the attempt to change one object of a state, which makes it next.
func (m *model) single(s *space, name string, next *state, v verdict, call call) attempt {
	e := expectation{next: next, fails: v.fails}
	return attempt{
		space: s, name: name,
		run:    func(ctx context.Context, w service.Write) (int64, error) { return call(ctx, w, s.key) },
		expect: func() expectation { return e },
	}
}

func (m *model) createFlag(s *space, key string, next *state) attempt {
	f := m.source.Flag(key)
	in := service.FlagInput{Key: key, Name: f.Name, Description: f.Description, Type: f.Type, Enabled: f.Enabled, Metadata: f.Metadata}
	v := changes
	switch {
	case next.flags[key] != nil:
		v = invalid
	case next.namespace == nil:
		v = notFound
	default:
		next.flags[key] = &guidon.Flag{Key: key, Name: f.Name, Description: f.Description, Type: f.Type, Enabled: f.Enabled, Metadata: f.Metadata}
	}
	return m.single(s, "CreateFlag "+key, next, v, func(ctx context.Context, w service.Write, namespace string) (int64, error) {
		return revisionOf(m.service.CreateFlag(ctx, w, namespace, in))
	})
}

func (m *model) updateFlag(_ *state, f *guidon.Flag) (verdict, call) {
	v := changes
	in := service.FlagInput{Key: f.Key, Name: m.name(), Description: m.text(), Enabled: m.one(2)}
	f.Name, f.Description, f.Enabled = in.Name, in.Description, in.Enabled
	if m.one(2) {
		in.Metadata = json.RawMessage(pick(m, []string{`{}`, `{"owner":"me"}`, `{"owner":"me","ticket":1}`, `{"ticket":2}`}))
		if f.Metadata = in.Metadata; len(f.Metadata) == 2 {
			f.Metadata = nil
		}
	}
	in.DefaultVariantID = pickOr(m, f.Variants, &guidon.Variant{}).ID
	if m.one(10) {
		in.DefaultVariantID, v = "none", invalid
	}
	f.DefaultVariantID = in.DefaultVariantID
	return v, func(ctx context.Context, w service.Write, namespace string) (int64, error) {
		return revisionOf(m.service.UpdateFlag(ctx, w, namespace, in))
	}
}

// isOff reports whether the first rollout gives false to everybody.
func isOff(f *guidon.Flag) bool {
	return len(f.Rollouts) > 0 && f.Rollouts[0].Threshold != nil && f.Rollouts[0].Threshold.Percentage == 100 && !f.Rollouts[0].Threshold.Value
}

func (m *model) turnFlagOff(_ *state, f *guidon.Flag) (verdict, call) {
	v := changes
	switch {
	case f.Type != guidon.BooleanFlag:
		v = invalid
	case isOff(f):
		v = unchanged
	default:
		off := &guidon.Rollout{ID: newID, Rank: 1, Description: service.OffDescription, Threshold: &guidon.RolloutThreshold{Percentage: 100}}
		if len(f.Rollouts) > 0 {
			off.Rank = max(f.Rollouts[0].Rank-1, 0)
		}
		f.Rollouts = slices.Insert(f.Rollouts, 0, off)
		for i := 1; i < len(f.Rollouts) && f.Rollouts[i].Rank <= f.Rollouts[i-1].Rank; i++ {
			f.Rollouts[i].Rank = f.Rollouts[i-1].Rank + 1
		}
	}
	return v, func(ctx context.Context, w service.Write, namespace string) (int64, error) {
		return revisionOf(m.service.TurnFlagOff(ctx, w, namespace, f.Key, nil))
	}
}

func (m *model) turnFlagOn(_ *state, f *guidon.Flag) (verdict, call) {
	v := changes
	switch {
	case f.Type != guidon.BooleanFlag:
		v = invalid
	case !isOff(f):
		v = unchanged
	case f.Rollouts[0].Description != service.OffDescription:
		v = invalid
	default:
		f.Rollouts = f.Rollouts[1:]
	}
	return v, func(ctx context.Context, w service.Write, namespace string) (int64, error) {
		return revisionOf(m.service.TurnFlagOn(ctx, w, namespace, f.Key, nil))
	}
}

func (m *model) variantInput(f *guidon.Flag) service.VariantInput {
	return service.VariantInput{
		FlagKey: f.Key, Key: pick(m, []string{"red", "green", "blue", "ключ"}), Name: m.text(), Description: m.text(), Attachment: pick(m, []string{"", `{"a":1}`, `[]`}),
	}
}

func (m *model) createVariant(_ *state, f *guidon.Flag) (verdict, call) {
	v, in := changes, m.variantInput(f)
	if f.VariantByKey(in.Key) != nil {
		v = invalid
	}
	f.Variants = append(f.Variants, &guidon.Variant{ID: newID, Key: in.Key, Name: in.Name, Description: in.Description, Attachment: in.Attachment})
	return v, func(ctx context.Context, w service.Write, namespace string) (int64, error) {
		return revisionOf(m.service.CreateVariant(ctx, w, namespace, in))
	}
}

func (m *model) updateVariant(_ *state, f *guidon.Flag) (verdict, call) {
	v, in, have := changes, m.variantInput(f), pickOr(m, f.Variants, &guidon.Variant{ID: "none"})
	in.ID = have.ID
	switch other := f.VariantByKey(in.Key); {
	case have.ID == "none":
		v = notFound
	case other != nil && other != have:
		v = invalid
	}
	have.Key, have.Name, have.Description, have.Attachment = in.Key, in.Name, in.Description, in.Attachment
	return v, func(ctx context.Context, w service.Write, namespace string) (int64, error) {
		return revisionOf(m.service.UpdateVariant(ctx, w, namespace, in))
	}
}

func (m *model) deleteVariant(_ *state, f *guidon.Flag) (verdict, call) {
	v, id := unchanged, pickOr(m, f.Variants, &guidon.Variant{ID: "none"}).ID
	if id != "none" {
		v = changes
	}
	f.Variants = slices.DeleteFunc(f.Variants, func(v *guidon.Variant) bool { return v.ID == id })
	if f.DefaultVariantID == id {
		f.DefaultVariantID = ""
	}
	for _, r := range f.Rules {
		r.Distributions = slices.DeleteFunc(r.Distributions, func(d *guidon.Distribution) bool { return d.VariantID == id })
	}
	return v, func(ctx context.Context, w service.Write, namespace string) (int64, error) {
		return m.service.DeleteVariant(ctx, w, namespace, f.Key, id)
	}
}

// segmentKeys returns the arguments for the segments of a rule or rollout, and reports
// whether they exist.
func (m *model) segmentKeys(now *state) (keys []string, operator guidon.SegmentOperator, exist bool) {
	keys, exist = []string{m.segmentKey()}, true
	if other := m.segmentKey(); other != keys[0] && m.one(3) {
		keys = append(keys, other)
		operator = guidon.SegmentOperator(m.random.IntN(2)) // #nosec G115 -- 0 or 1
	}
	for _, key := range keys {
		exist = exist && now.segments[key] != nil
	}
	return keys, operator, exist
}

func (m *model) createRule(now *state, f *guidon.Flag) (verdict, call) {
	v, in := changes, service.RuleInput{FlagKey: f.Key, Rank: 1 + m.random.Int32N(4)}
	var exist bool
	if in.SegmentKeys, in.SegmentOperator, exist = m.segmentKeys(now); !exist {
		v = notFound
	}
	at := len(f.Rules)
	for at > 0 && f.Rules[at-1].Rank > in.Rank {
		at--
	}
	f.Rules = slices.Insert(f.Rules, at, &guidon.Rule{ID: newID, SegmentKeys: in.SegmentKeys, SegmentOperator: in.SegmentOperator, Rank: in.Rank})
	return v, func(ctx context.Context, w service.Write, namespace string) (int64, error) {
		return revisionOf(m.service.CreateRule(ctx, w, namespace, in))
	}
}

func (m *model) updateRule(now *state, f *guidon.Flag) (verdict, call) {
	v, r := changes, pickOr(m, f.Rules, &guidon.Rule{ID: "none"})
	in := service.RuleInput{FlagKey: f.Key, ID: r.ID}
	var exist bool
	if in.SegmentKeys, in.SegmentOperator, exist = m.segmentKeys(now); !exist || r.ID == "none" {
		v = notFound
	}
	r.SegmentKeys, r.SegmentOperator = in.SegmentKeys, in.SegmentOperator
	return v, func(ctx context.Context, w service.Write, namespace string) (int64, error) {
		return revisionOf(m.service.UpdateRule(ctx, w, namespace, in))
	}
}

func ruleID(r *guidon.Rule) string         { return r.ID }
func ruleRank(r *guidon.Rule) *int32       { return &r.Rank }
func rolloutID(r *guidon.Rollout) string   { return r.ID }
func rolloutRank(r *guidon.Rollout) *int32 { return &r.Rank }

// orderItems gives some items the ranks of their ids, and returns these.
func orderItems[T any](m *model, items []T, id func(T) string, rank func(T) *int32) (verdict, []string) {
	v, ids := unchanged, []string{"none", "neither"}
	for _, item := range items {
		if !m.one(5) {
			ids, v = append(ids, id(item)), changes
		}
	}
	m.random.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	for i, listed := range ids {
		for _, item := range items {
			if id(item) == listed {
				*rank(item) = int32(i + 1) // #nosec G115 -- few
			}
		}
	}
	slices.SortStableFunc(items, func(a, b T) int { return int(*rank(a) - *rank(b)) })
	return v, ids
}

// removeItem removes a random item, or none, and gives the others the ranks from 1.
func removeItem[T any](m *model, items []T, id func(T) string, rank func(T) *int32) (verdict, string, []T) {
	v, removed := unchanged, "none"
	if len(items) > 0 && !m.one(6) {
		v, removed = changes, id(pick(m, items))
	}
	items = slices.DeleteFunc(items, func(item T) bool { return id(item) == removed })
	for i, item := range items {
		if *rank(item) != int32(i+1) { // #nosec G115 -- few
			*rank(item), v = int32(i+1), changes // #nosec G115 -- few
		}
	}
	return v, removed, items
}

func (m *model) orderRules(_ *state, f *guidon.Flag) (verdict, call) {
	v, ids := orderItems(m, f.Rules, ruleID, ruleRank)
	return v, func(ctx context.Context, w service.Write, namespace string) (int64, error) {
		return m.service.OrderRules(ctx, w, namespace, f.Key, ids)
	}
}

func (m *model) deleteRule(_ *state, f *guidon.Flag) (v verdict, c call) {
	var id string
	v, id, f.Rules = removeItem(m, f.Rules, ruleID, ruleRank)
	return v, func(ctx context.Context, w service.Write, namespace string) (int64, error) {
		return m.service.DeleteRule(ctx, w, namespace, f.Key, id)
	}
}

// distribution returns a rule of the flag, one of its distributions, and the arguments to
// change that. Both are new objects with the id "none" if they do not exist.
func (m *model) distribution(f *guidon.Flag) (*guidon.Rule, *guidon.Distribution, service.DistributionInput) {
	r := pickOr(m, f.Rules, &guidon.Rule{ID: "none"})
	d := pickOr(m, r.Distributions, &guidon.Distribution{ID: "none", VariantID: "none"})
	return r, d, service.DistributionInput{
		ID: d.ID, FlagKey: f.Key, RuleID: r.ID, VariantID: pickOr(m, f.Variants, &guidon.Variant{ID: "none"}).ID, Rollout: m.percentage(),
	}
}

func (m *model) createDistribution(_ *state, f *guidon.Flag) (verdict, call) {
	r, _, in := m.distribution(f)
	v := changes
	if r.ID == "none" || in.VariantID == "none" {
		v = notFound
	}
	r.Distributions = append(r.Distributions, &guidon.Distribution{ID: newID, VariantID: in.VariantID, Rollout: in.Rollout})
	return v, func(ctx context.Context, w service.Write, namespace string) (int64, error) {
		return revisionOf(m.service.CreateDistribution(ctx, w, namespace, in))
	}
}

func (m *model) updateDistribution(_ *state, f *guidon.Flag) (verdict, call) {
	r, d, in := m.distribution(f)
	v := changes
	if r.ID == "none" || d.ID == "none" || in.VariantID == "none" {
		v = notFound
	}
	d.VariantID, d.Rollout = in.VariantID, in.Rollout
	return v, func(ctx context.Context, w service.Write, namespace string) (int64, error) {
		return revisionOf(m.service.UpdateDistribution(ctx, w, namespace, in))
	}
}

func (m *model) deleteDistribution(_ *state, f *guidon.Flag) (verdict, call) {
	r, d, in := m.distribution(f)
	if m.one(2) {
		in.VariantID = d.VariantID
	}
	v := unchanged
	if d.ID != "none" && d.VariantID == in.VariantID {
		v = changes
	}
	r.Distributions = slices.DeleteFunc(r.Distributions, func(other *guidon.Distribution) bool { return other == d })
	return v, func(ctx context.Context, w service.Write, namespace string) (int64, error) {
		return m.service.DeleteDistribution(ctx, w, namespace, in)
	}
}

// rolloutInput sets what a rollout has: the segments, if it is one of segments, or else a
// threshold. It reports whether the segments exist.
func (m *model) rolloutInput(now *state, in *service.RolloutInput, r *guidon.Rollout, ofSegments bool) (exist bool) {
	in.Description = m.text()
	r.Description, r.Segment, r.Threshold = in.Description, nil, nil
	if !ofSegments {
		r.Threshold = &guidon.RolloutThreshold{Percentage: m.percentage(), Value: m.one(2)}
		in.Threshold = &guidon.RolloutThreshold{Percentage: r.Threshold.Percentage, Value: r.Threshold.Value}
		return true
	}
	keys, operator, exist := m.segmentKeys(now)
	in.Segment = &service.RolloutSegmentInput{SegmentKeys: keys, SegmentOperator: operator, Value: m.one(2)}
	r.Segment = &guidon.RolloutSegment{SegmentKeys: keys, SegmentOperator: operator, Value: in.Segment.Value}
	return exist
}

func (m *model) createRollout(now *state, f *guidon.Flag) (verdict, call) {
	v, in := changes, service.RolloutInput{FlagKey: f.Key, Rank: m.random.Int32N(5)}
	created := &guidon.Rollout{ID: newID, Rank: in.Rank}
	if !m.rolloutInput(now, &in, created, m.one(2)) {
		v = notFound
	}
	at := 0
	for at < len(f.Rollouts) && f.Rollouts[at].Rank < in.Rank {
		at++
	}
	if at < len(f.Rollouts) && f.Rollouts[at].Rank == in.Rank {
		v = invalid
	}
	f.Rollouts = slices.Insert(f.Rollouts, at, created)
	return v, func(ctx context.Context, w service.Write, namespace string) (int64, error) {
		return revisionOf(m.service.CreateRollout(ctx, w, namespace, in))
	}
}

func (m *model) updateRollout(now *state, f *guidon.Flag) (verdict, call) {
	v, r := changes, pickOr(m, f.Rollouts, &guidon.Rollout{ID: "none"})
	in := service.RolloutInput{ID: r.ID, FlagKey: f.Key}
	same, ofSegments := !m.one(6), r.Segment != nil
	exist := m.rolloutInput(now, &in, r, ofSegments == same)
	switch {
	case r.ID == "none":
		v = notFound
	case !same:
		v = invalid
	case !exist:
		v = notFound
	}
	return v, func(ctx context.Context, w service.Write, namespace string) (int64, error) {
		return revisionOf(m.service.UpdateRollout(ctx, w, namespace, in))
	}
}

func (m *model) orderRollouts(_ *state, f *guidon.Flag) (verdict, call) {
	v, ids := orderItems(m, f.Rollouts, rolloutID, rolloutRank)
	return v, func(ctx context.Context, w service.Write, namespace string) (int64, error) {
		return m.service.OrderRollouts(ctx, w, namespace, f.Key, ids)
	}
}

func (m *model) deleteRollout(_ *state, f *guidon.Flag) (v verdict, c call) {
	var id string
	v, id, f.Rollouts = removeItem(m, f.Rollouts, rolloutID, rolloutRank)
	return v, func(ctx context.Context, w service.Write, namespace string) (int64, error) {
		return m.service.DeleteRollout(ctx, w, namespace, f.Key, id)
	}
}

// describeKeys returns keys for the list of operations.
func describeKeys(keys []string) string {
	if len(keys) == 0 {
		return "everything"
	}
	return fmt.Sprint(keys)
}

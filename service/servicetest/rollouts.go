package servicetest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/internal/flagtest"
	"github.com/guidonhq/guidon/service"
)

// rolloutInput sets what a rollout has: the segments, if it is one of segments, or else a
// threshold. It reports whether the segments exist.
func (m *model) rolloutInput(now *state, in *service.RolloutInput, r *guidon.Rollout, ofSegments bool) (exist bool) {
	in.Description = m.text()
	r.Description, r.Segment, r.Threshold, r.Conditions = in.Description, nil, nil, nil
	if other := m.source.RandomRollout(ofSegments); other != nil {
		r.Segment, r.Threshold, r.Conditions = other.Segment, other.Threshold, other.Conditions
		in.Segment, in.Threshold, in.Conditions = other.Segment, other.Threshold, other.Conditions
		return now.refersToExisting(&guidon.Flag{Rollouts: []*guidon.Rollout{r}})
	}
	if !ofSegments {
		r.Threshold = &guidon.RolloutThreshold{Percentage: m.percentage(), Value: m.one(2)}
		in.Threshold = &guidon.RolloutThreshold{Percentage: r.Threshold.Percentage, Value: r.Threshold.Value}
		return true
	}
	keys, operator, exist := m.segmentKeys(now)
	in.Segment = &guidon.RolloutSegment{SegmentKeys: keys, SegmentOperator: operator, Value: m.one(2)}
	r.Segment = &guidon.RolloutSegment{SegmentKeys: keys, SegmentOperator: operator, Value: in.Segment.Value}
	return exist
}

func (m *model) createRollout(now *state, f *guidon.Flag) (verdict, call) {
	v, in := changes, service.RolloutInput{FlagKey: f.Key, Rollout: guidon.Rollout{Rank: m.random.Int32N(5)}}
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
	return v, withInput(m.service.CreateRollout, in)
}

func (m *model) updateRollout(now *state, f *guidon.Flag) (verdict, call) {
	v, r := changes, pickOr(m, f.Rollouts, &guidon.Rollout{ID: "none"})
	in := service.RolloutInput{FlagKey: f.Key, Rollout: guidon.Rollout{ID: r.ID}}
	same, ofSegments, had := !m.one(6), r.Segment != nil, r.Additions()
	exist := m.rolloutInput(now, &in, r, ofSegments == same)
	switch {
	case r.ID == "none":
		v = notFound
	case had && !r.Additions():
		v = unstatedConditions
	case !same:
		v = invalid
	case !exist:
		v = notFound
	}
	return v, withInput(m.service.UpdateRollout, in)
}

func (m *model) orderRollouts(_ *state, f *guidon.Flag) (verdict, call) {
	v, ids := orderItems(m, f.Rollouts, rolloutID, rolloutRank)
	return v, withItems(m.service.OrderRollouts, f.Key, ids)
}

func (m *model) deleteRollout(_ *state, f *guidon.Flag) (v verdict, c call) {
	var id string
	v, id, f.Rollouts = removeItem(m, f.Rollouts, rolloutID, rolloutRank)
	return v, withItems(m.service.DeleteRollout, f.Key, id)
}

// isOff reports whether the flag cannot be turned off: its first rollout gives false to
// everybody, or it is a variant flag that is not enabled.
func isOff(f *guidon.Flag) bool {
	if f.Type == guidon.VariantFlag {
		return !f.Enabled
	}
	if len(f.Rollouts) == 0 {
		return false
	}
	t, always := f.Rollouts[0].Threshold, f.Rollouts[0].Stated().From.IsZero() && f.Rollouts[0].Stated().Until.IsZero()
	return t != nil && t.Percentage == 100 && !t.Value && t.Ramp == nil && always && t.Split.Stated().By == ""
}

func (m *model) turnFlagOff(_ *state, f *guidon.Flag) (verdict, call) {
	v := changes
	switch {
	case isOff(f):
		v = unchanged
	default:
		turnOff(f)
	}
	return v, func(ctx context.Context, w service.Write, namespace string) (int64, error) {
		return revisionOf(m.service.TurnFlagOff(ctx, w, namespace, f.Key, nil))
	}
}

// turnOff turns off a flag that is not off.
func turnOff(f *guidon.Flag) {
	if f.Type == guidon.VariantFlag {
		f.Enabled, f.Metadata = false, withOffMember(f.Metadata)
		return
	}
	off := &guidon.Rollout{ID: newID, Rank: 1, Description: service.OffDescription, Threshold: &guidon.RolloutThreshold{Percentage: 100}}
	if len(f.Rollouts) > 0 {
		off.Rank = max(f.Rollouts[0].Rank-1, 0)
	}
	f.Rollouts = slices.Insert(f.Rollouts, 0, off)
	for i := 1; i < len(f.Rollouts) && f.Rollouts[i].Rank <= f.Rollouts[i-1].Rank; i++ {
		f.Rollouts[i].Rank = f.Rollouts[i-1].Rank + 1
	}
}

// withOffMember returns the metadata with the member that marks a flag that was turned off.
func withOffMember(metadata json.RawMessage) json.RawMessage {
	member := fmt.Sprintf("%q:true}", service.OffMember)
	metadata = withoutOffMember(metadata)
	if len(metadata) == 0 {
		return json.RawMessage("{" + member)
	}
	return json.RawMessage(strings.TrimSuffix(string(metadata), "}") + "," + member)
}

// withoutOffMember returns the metadata without that member. The others are sorted.
func withoutOffMember(metadata json.RawMessage) json.RawMessage {
	if !strings.Contains(string(metadata), service.OffMember) {
		return metadata
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(metadata, &members); err != nil {
		panic(err)
	}
	if delete(members, service.OffMember); len(members) == 0 {
		return nil
	}
	text, err := json.Marshal(members)
	if err != nil {
		panic(err)
	}
	return text
}

// stateOf returns the state of a flag.
func (s *state) stateOf(f *guidon.Flag) analysis.FlagState {
	snapshot := guidon.NewSnapshot(s.namespace, guidon.Revision{}, []*guidon.Flag{f}, slices.Collect(maps.Values(s.segments)))
	return analysis.Summarize(snapshot.At(time.Now()).Compiled(f.Key)).Own
}

func (m *model) turnFlagOn(now *state, f *guidon.Flag) (verdict, call) {
	everyone := m.random.IntN(2) == 0
	return turnOn(now, f, everyone), func(ctx context.Context, w service.Write, namespace string) (int64, error) {
		return revisionOf(m.service.TurnFlagOn(ctx, w, namespace, f.Key, everyone, nil))
	}
}

// turnOn turns the flag on, if that is possible.
func turnOn(now *state, f *guidon.Flag, everyone bool) verdict {
	switch wide := flagtest.Copy(f); {
	case restore(f):
	case now.stateOf(f) != analysis.OffState && (f.Enabled || !everyone):
		return unchanged
	default:
		wide.Enabled = true
		if now.stateOf(wide) == analysis.OffState || !everyone {
			return invalid
		}
		f.Enabled = true
	}
	return changes
}

// restore takes back turnOff, and reports whether the flag was turned off by it.
func restore(f *guidon.Flag) bool {
	switch {
	case f.Type == guidon.BooleanFlag && isOff(f) && f.Rollouts[0].Description == service.OffDescription:
		f.Rollouts = f.Rollouts[1:]
	case f.Type == guidon.VariantFlag && isOff(f) && strings.Contains(string(f.Metadata), service.OffMember):
		f.Enabled, f.Metadata = true, withoutOffMember(f.Metadata)
	default:
		return false
	}
	return true
}

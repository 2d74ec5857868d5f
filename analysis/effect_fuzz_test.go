package analysis_test

import (
	"fmt"
	"hash/crc32"
	"slices"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/internal/flagtest"
)

// FuzzEffect compares the effect of an edit with evaluations of both states, for many
// entities in many contexts.
func FuzzEffect(f *testing.F) {
	seedEdits(f)
	f.Fuzz(func(t *testing.T, data []byte, value string) {
		before, after := fuzzEdit(data, value)
		effect := effectOf(before, after, "flag")
		checkSums(t, effect)
		if effect.TypeChanged || effect.Truncated {
			return
		}
		for _, user := range fuzzUsers(value) {
			checkUser(t, effect, before, after, user)
		}
	})
}

// FuzzReach compares what is never reached with evaluations.
func FuzzReach(f *testing.F) {
	seedEdits(f)
	f.Fuzz(func(t *testing.T, data []byte, value string) {
		s, _ := fuzzEdit(data, value)
		flag := *s.Flag("flag")
		if flag.Type > guidon.BooleanFlag {
			return
		}
		flag.Enabled = flag.Enabled || flag.Type == guidon.VariantFlag
		s = s.Apply(guidon.SnapshotDelta{Flags: []*guidon.Flag{&flag}})
		reach := reachOf(s, "flag")
		for _, user := range fuzzUsers(value) {
			got := outcomeOf(s, user)
			decides := decidingStep(s, user)
			switch {
			case decides >= 0 && reach.Steps[decides].Cause != analysis.Reached:
				t.Errorf("%v is decided by step %d: %+v", user, decides, reach.Steps[decides])
			case decides < 0 && reach.Default.Cause != analysis.Reached:
				t.Errorf("%v gets the default: %+v", user, reach.Default)
			case got.VariantKey != "" && slices.Contains(reach.Unserved, got.VariantKey):
				t.Errorf("%v gets %s, which nobody should: %+v", user, got.VariantKey, reach)
			}
		}
	})
}

func seedEdits(f *testing.F) {
	f.Add([]byte(nil), "US")
	f.Add([]byte("\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f"), "yes")
	for seed := range 64 { // the bytes of a linear congruential generator
		data, state := make([]byte, 900), uint32(seed)
		for i := range data {
			state = state*1664525 + 1013904223
			data[i] = byte(state >> 24)
		}
		f.Add(data, []string{"5", "a b", "2024-01-01", ""}[seed%4])
	}
}

// fuzzEdit builds a flag and segments, and another state in which some of it differs.
func fuzzEdit(data []byte, value string) (before, after *guidon.Snapshot) {
	return editOf(flagtest.NewFuzzInput(data).WithShares(), value)
}

func editOf(input *flagtest.FuzzInput, value string) (before, after *guidon.Snapshot) {
	flag, segments := input.Flag(), input.Segments(value)
	edited, editedSegments := *flag, slices.Clone(segments)
	edited.Rules, edited.Rollouts = slices.Clone(flag.Rules), slices.Clone(flag.Rollouts)
	for range 1 + input.Below(3) {
		other := input.Flag()
		switch input.Below(8) {
		case 0:
			edited.Enabled = !edited.Enabled
		case 1:
			edited.Rules, edited.Rollouts = other.Rules, other.Rollouts
		case 2:
			edited.Rules, edited.Rollouts = append(other.Rules, edited.Rules...), append(other.Rollouts, edited.Rollouts...)
		case 3:
			slices.Reverse(edited.Rules)
			slices.Reverse(edited.Rollouts)
		case 4:
			edited.Variants, edited.DefaultVariantID = other.Variants, other.DefaultVariantID
		case 5:
			if i := input.Below(3); i < len(editedSegments) {
				editedSegments[i] = input.Segments(value)[i]
			}
		case 6:
			editedSegments = editedSegments[:min(len(editedSegments), input.Below(3))]
		case 7:
			edited.Rules, edited.Rollouts = edited.Rules[:len(edited.Rules)/2], edited.Rollouts[:len(edited.Rollouts)/2]
		}
	}
	return flagtest.SnapshotOf(flag, segments...), flagtest.SnapshotOf(&edited, editedSegments...)
}

// fuzzUser is the entity and context of an evaluation.
type fuzzUser struct {
	id      string
	context map[string]string
}

func fuzzUsers(value string) (users []fuzzUser) {
	values := []string{"", " ", value, "5", "4.5", "6", "2024-01-01", "2025-01-01", "true", "0", "x" + value, value + "5", "2.4.0", "2.4.0-rc.1", `["5","a"]`, `["a"]`, "10.1.0.0", "10.2.0.0", "a"}
	for i := range 150 {
		id := fmt.Sprint("user-", i)
		if i%10 == 0 {
			id = values[i/10%len(values)]
		}
		users = append(users, fuzzUser{id, map[string]string{
			"p0": values[i%len(values)], "p1": values[i/len(values)%len(values)], "missing": values[i%5], "": values[i%7],
		}})
	}
	return users
}

func outcomeOf(s *guidon.Snapshot, u fuzzUser) analysis.Outcome {
	flag := s.Flag("flag")
	if flag == nil {
		return analysis.Outcome{Absent: true}
	}
	if flag.Type == guidon.BooleanFlag {
		r, err := s.Boolean(flag.Key, u.id, u.context)
		if err != nil {
			return analysis.Outcome{Fails: true}
		}
		return analysis.Outcome{Reason: r.Reason, Enabled: r.Enabled}
	}
	r, err := s.Variant(flag.Key, u.id, u.context)
	if err != nil {
		return analysis.Outcome{Fails: true}
	}
	return analysis.Outcome{Match: r.Match, Reason: r.Reason, VariantKey: r.VariantKey, Attachment: r.Attachment}
}

// bucketOf returns the bucket of the entity (contract 7.5, 7.6).
func bucketOf(t guidon.FlagType, flagKey, id string) int {
	if t == guidon.BooleanFlag {
		return int(crc32.ChecksumIEEE([]byte(id+flagKey)) % 100)
	}
	return int(crc32.ChecksumIEEE([]byte(flagKey+id)) % 1000)
}

// matches reports whether the segments match, by an evaluation of a flag that has just one
// rule for them.
func matches(s *guidon.Snapshot, keys []string, operator guidon.SegmentOperator, u fuzzUser) bool {
	probe := &guidon.Flag{Key: "probe", Enabled: true, Rules: []*guidon.Rule{{SegmentKeys: keys, SegmentOperator: operator}}}
	r, err := s.Apply(guidon.SnapshotDelta{Flags: []*guidon.Flag{probe}}).Variant("probe", u.id, u.context)
	return r.Match || err != nil
}

// firstMatch returns the first rule or rollout with segments that match, unless nobody
// gets that far.
func firstMatch(s *guidon.Snapshot, u fuzzUser) int {
	flag := s.Flag("flag")
	if flag.Type == guidon.BooleanFlag {
		for i, r := range flag.Rollouts {
			switch {
			case r.Threshold != nil && r.Threshold.Percentage > 99:
				return analysis.NoStep
			case r.Threshold == nil && r.Segment != nil && matches(s, r.Segment.SegmentKeys, r.Segment.SegmentOperator, u):
				return i
			}
		}
		return analysis.NoStep
	}
	for i, r := range flag.Rules {
		if flag.Enabled && matches(s, r.SegmentKeys, r.SegmentOperator, u) {
			return i
		}
	}
	return analysis.NoStep
}

// decidingStep returns the rule or rollout that decides.
func decidingStep(s *guidon.Snapshot, u fuzzUser) int {
	first, flag := firstMatch(s, u), s.Flag("flag")
	if flag.Type == guidon.BooleanFlag {
		for i, r := range flag.Rollouts {
			if i == first || r.Threshold != nil && float32(bucketOf(flag.Type, flag.Key, u.id)) < r.Threshold.Percentage {
				return i
			}
		}
	}
	return first
}

func checkSums(t *testing.T, e *analysis.Effect) {
	t.Helper()
	for _, g := range e.Groups {
		sum := g.Unchanged
		for _, m := range g.Moves {
			inRanges := 0
			for _, r := range m.Ranges {
				inRanges += r.End - r.Start
			}
			if inRanges != m.Buckets || m.Buckets <= 0 || m.From == m.To {
				t.Errorf("%+v: the ranges have %d buckets", m, inRanges)
			}
			sum += m.Buckets
		}
		if sum != e.Buckets {
			t.Errorf("%+v: the shares sum up to %d, want %d", g, sum, e.Buckets)
		}
	}
}

// checkUser compares what happens to one user with the effect.
func checkUser(t *testing.T, e *analysis.Effect, before, after *guidon.Snapshot, u fuzzUser) {
	t.Helper()
	from, to := outcomeOf(before, u), outcomeOf(after, u)
	differ := from != to && !(e.Type == guidon.BooleanFlag && from.SameValue(to))
	i, j := firstMatch(before, u), firstMatch(after, u)
	at := slices.IndexFunc(e.Groups, func(g analysis.EffectGroup) bool { return g.Before == i && g.After == j })
	if at < 0 {
		if differ {
			t.Errorf("%v: %+v becomes %+v, but there is no group %d to %d: %+v", u, from, to, i, j, e)
		}
		if len(e.Groups) > 0 && e.Groups[0].Who == analysis.Everyone {
			t.Errorf("%v is not in the group of everyone", u)
		}
		return
	}
	bucket := bucketOf(e.Type, "flag", u.id)
	for _, m := range e.Groups[at].Moves {
		if slices.ContainsFunc(m.Ranges, func(r analysis.BucketRange) bool { return r.Start <= bucket && bucket < r.End }) {
			if m.From != from || m.To != to {
				t.Errorf("%v in bucket %d: %+v becomes %+v, want %+v", u, bucket, from, to, m)
			}
			return
		}
	}
	if differ {
		t.Errorf("%v in bucket %d: %+v becomes %+v, but the group says that nothing changes", u, bucket, from, to)
	}
}

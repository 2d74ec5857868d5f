package guidon_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
)

// The data set of the load tests: every other flag is boolean with a threshold of
// 50 %. The others are variant flags with one rule for one of ten segments, each of
// which has three constraints that must all match.

const benchSegments = 10

func benchFlag(i int) *guidon.Flag {
	created := guidon.Position{Revision: int64(i + 1)}
	if i%2 == 0 {
		return &guidon.Flag{
			Key: fmt.Sprintf("bool-%05d", i), Name: "boolean", Type: guidon.BooleanFlag, Created: created,
			Rollouts: []*guidon.Rollout{{
				ID: "rollout", Rank: 1, Threshold: &guidon.RolloutThreshold{Percentage: 50, Value: true},
			}},
		}
	}
	return &guidon.Flag{
		Key: fmt.Sprintf("var-%05d", i), Name: "variant", Enabled: true, Created: created,
		Variants: []*guidon.Variant{{ID: "a", Key: "on"}, {ID: "b", Key: "off"}},
		Rules: []*guidon.Rule{{
			ID: "rule", Rank: 1, SegmentKeys: []string{benchSegmentKey(i)},
			Distributions: []*guidon.Distribution{{ID: "1", VariantID: "a", Rollout: 50}, {ID: "2", VariantID: "b", Rollout: 50}},
		}},
	}
}

func benchSegmentKey(i int) string { return fmt.Sprintf("seg-%02d", i%benchSegments) }

func benchSegment(i int) *guidon.Segment {
	return &guidon.Segment{
		Key: benchSegmentKey(i), Name: "segment", MatchType: guidon.MatchAll,
		Created: guidon.Position{Sequence: int32(i)},
		Constraints: []*guidon.Constraint{
			{ID: "1", Type: guidon.StringComparison, Property: "country", Operator: guidon.OpEQ, Value: "US"},
			{ID: "2", Type: guidon.NumberComparison, Property: "age", Operator: guidon.OpGTE, Value: "18"},
			{ID: "3", Type: guidon.BooleanComparison, Property: "beta", Operator: guidon.OpTrue},
		},
	}
}

func benchObjects(n int) (flags []*guidon.Flag, segments []*guidon.Segment) {
	for i := range n {
		flags = append(flags, benchFlag(i))
	}
	for i := range benchSegments {
		segments = append(segments, benchSegment(i))
	}
	return flags, segments
}

func benchSnapshot(n int) *guidon.Snapshot {
	flags, segments := benchObjects(n)
	return guidon.NewSnapshot(&guidon.Namespace{Key: "default"}, guidon.Revision{Number: int64(n)}, flags, segments)
}

// entity holds the arguments of an evaluation. Every entity belongs to all segments.
type entity struct {
	id      string
	context map[string]string
}

func benchEntities() []entity {
	entities := make([]entity, 1000)
	for i := range entities {
		entities[i] = entity{
			id:      fmt.Sprintf("user-%04d", i),
			context: map[string]string{"country": "US", "age": strconv.Itoa(18 + i%50), "beta": "true"},
		}
	}
	return entities
}

func BenchmarkBooleanThreshold(b *testing.B) {
	for _, n := range []int{10, 10_000, 100_000} {
		b.Run(fmt.Sprintf("flags=%d", n), func(b *testing.B) {
			snapshot, entities := benchSnapshot(n), benchEntities()
			key := benchFlag(n / 2 / 2 * 2).Key
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				e := &entities[i%len(entities)]
				if _, err := snapshot.Boolean(key, e.id, e.context); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkVariantThreeConstraints(b *testing.B) {
	for _, n := range []int{10, 10_000, 100_000} {
		b.Run(fmt.Sprintf("flags=%d", n), func(b *testing.B) {
			snapshot, entities := benchSnapshot(n), benchEntities()
			key := benchFlag(n/2/2*2 + 1).Key
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				e := &entities[i%len(entities)]
				result, err := snapshot.Variant(key, e.id, e.context)
				if err != nil || !result.Match {
					b.Fatalf("got %+v, %v, want a match", result, err)
				}
			}
		})
	}
}

// BenchmarkTwoRequirements evaluates a flag that requires a boolean one with a threshold and a variant
// one with a rule for a segment.
func BenchmarkTwoRequirements(b *testing.B) {
	flags, segments := benchObjects(10_000)
	f := &guidon.Flag{Key: "requiring", Type: guidon.BooleanFlag, Enabled: true, Requires: []guidon.Requirement{
		{FlagKey: flags[0].Key, Answers: []string{"true", "false"}}, {FlagKey: flags[1].Key, Answers: []string{"on", "off"}},
	}}
	s := guidon.NewSnapshot(&guidon.Namespace{Key: "default"}, guidon.Revision{}, append(flags, f), segments)
	entities := benchEntities()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		e := &entities[i%len(entities)]
		result, err := s.Boolean(f.Key, e.id, e.context)
		if err != nil || !result.Enabled {
			b.Fatalf("got %+v, %v, want that it is on", result, err)
		}
	}
}

// BenchmarkSpread evaluates all flags in turn, which shows the cost of cache misses in
// a large namespace.
func BenchmarkSpread(b *testing.B) {
	for _, n := range []int{10, 10_000, 100_000} {
		b.Run(fmt.Sprintf("flags=%d", n), func(b *testing.B) {
			snapshot, entities := benchSnapshot(n), benchEntities()
			flags := snapshot.Flags()
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				f, e := flags[i*7919%n], &entities[i%len(entities)]
				var err error
				if f.Type == guidon.BooleanFlag {
					_, err = snapshot.Boolean(f.Key, e.id, e.context)
				} else {
					_, err = snapshot.Variant(f.Key, e.id, e.context)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkNewSnapshot(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprintf("flags=%d", n), func(b *testing.B) {
			flags, segments := benchObjects(n)
			namespace := &guidon.Namespace{Key: "default"}
			b.ReportAllocs()
			for b.Loop() {
				guidon.NewSnapshot(namespace, guidon.Revision{Number: int64(n)}, flags, segments)
			}
		})
	}
}

// BenchmarkApplyOneChange measures what one change costs in a small and in a large namespace.
func BenchmarkApplyOneChange(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		snapshot := benchSnapshot(n)
		snapshot.SegmentUsers("") // computes them
		for _, c := range []struct {
			name  string
			delta guidon.SnapshotDelta
		}{
			{"", guidon.SnapshotDelta{Flags: []*guidon.Flag{benchFlag(n / 2)}}},
			{"/create", guidon.SnapshotDelta{Flags: []*guidon.Flag{benchFlag(n)}}},
			{"/delete", guidon.SnapshotDelta{DeletedFlags: []string{benchFlag(n / 2).Key}}},
			{"/segment", guidon.SnapshotDelta{Segments: []*guidon.Segment{benchSegment(1)}}},
		} {
			b.Run(fmt.Sprintf("flags=%d%s", n, c.name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					snapshot.Apply(c.delta)
				}
			})
		}
	}
}

// BenchmarkConstraint compares one value by each type of comparison.
func BenchmarkConstraint(b *testing.B) {
	list := `["v0"`
	blocks := `["10.0.0.0/8"`
	for i := range 9_999 {
		list += fmt.Sprintf(`,"value-%d"`, i)
		blocks += fmt.Sprintf(`,"192.%d.%d.0/24"`, i/256, i%256)
	}
	for _, c := range []struct {
		kind            guidon.ComparisonType
		operator, value string
		of              string
	}{
		{guidon.StringComparison, guidon.OpEQ, "SE", "NO"},
		{guidon.NumberComparison, guidon.OpGTE, "18", "40"},
		{guidon.DateTimeComparison, guidon.OpLT, "2026-01-01", "2025-06-01T12:00:00Z"},
		{guidon.VersionComparison, guidon.OpGTE, "2.4", "2.10.0-beta.1+7"},
		{guidon.PatternComparison, guidon.OpEQ, `(?i)@example\.com$`, "somebody@example.com"},
		{guidon.ListComparison, guidon.OpAnyOf, list + "]", `["editor","value-77"]`},
		{guidon.AddressComparison, guidon.OpIsOneOf, blocks + "]", "192.11.7.1"},
	} {
		b.Run(c.kind.Name(), func(b *testing.B) {
			compiled, _ := guidon.CompileConstraint(&guidon.Constraint{Type: c.kind, Operator: c.operator, Value: c.value})
			b.ReportAllocs()
			for b.Loop() {
				compiled.Accepts(c.of)
			}
		})
	}
}

// BenchmarkAt is the time for a snapshot at an instant of the epoch that is kept, and at the
// first one of another epoch: if one of a hundred flags has a rule with a time, and if each
// boolean flag of twice as many has a ramp, which changes every minute.
func BenchmarkAt(b *testing.B) {
	times, segments := benchObjects(10_000)
	for i := 0; i < len(times); i += 100 {
		times[i].Rollouts[0].Conditions = &guidon.Conditions{From: instant(1 + i%timesOfRules)}
	}
	ramps, _ := benchObjects(20_000)
	for i := 0; i < len(ramps); i += 2 {
		ramps[i].Rollouts[0].Threshold.Ramp = linear(0, 50*time.Minute)
	}
	for _, c := range []struct {
		name  string
		flags []*guidon.Flag
		at    func(i int) time.Time // in the epoch with the number
	}{
		{"times", times, func(i int) time.Time { return instant(1 + i%timesOfRules) }},
		{"10,000 ramps", ramps, func(i int) time.Time { return minute(1 + i%50) }},
	} {
		s := guidon.NewSnapshot(&guidon.Namespace{Key: "default"}, guidon.Revision{Number: 1}, c.flags, segments)
		b.Run(c.name+"/same epoch", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.At(c.at(0))
			}
		})
		b.Run(c.name+"/next epoch", func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				s.At(c.at(i))
			}
		})
	}
}

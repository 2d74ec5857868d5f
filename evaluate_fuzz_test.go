package guidon_test

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/flagtest"
)

// FuzzEvaluate builds a flag, segments and a context from the input, including ones
// that the service would not store. The result always has a variant of the flag and
// segments of one of its rules.
func FuzzEvaluate(f *testing.F) {
	seedEvaluations(f)
	f.Fuzz(func(t *testing.T, data []byte, entityID, value string) {
		s, flag, context := fuzzEvaluation(data, entityID, value)
		variant, err := s.Variant(flag.Key, entityID, context)
		if flag.Type == guidon.VariantFlag {
			if checkOutcome(t, err) {
				checkVariantResult(t, flag, variant)
			}
		} else if !errors.Is(err, guidon.InvalidArgument) {
			t.Errorf("variant of a %v: got %v", flag.Type, err)
		}
		boolean, err := s.Boolean(flag.Key, entityID, context)
		if flag.Type == guidon.BooleanFlag {
			if checkOutcome(t, err) {
				checkBooleanResult(t, flag, boolean)
			}
		} else if !errors.Is(err, guidon.InvalidArgument) {
			t.Errorf("boolean of a %v: got %v", flag.Type, err)
		}
	})
}

// seedEvaluations adds arguments of [fuzzEvaluation] to the corpus.
func seedEvaluations(f *testing.F) {
	f.Add([]byte(nil), "user-1", "US")
	f.Add([]byte("\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f"), "", "")
	f.Add([]byte{0, 1, 2, 1, 1, 1, 1, 2, 2, 3, 0, 0, 0x48, 0x42, 1, 0, 0, 0x48, 0x42, 2, 1, 1, 0, 3, 2, 0, 9, 12}, "日本語", "1e1")
	f.Add([]byte{1, 0, 3, 1, 0, 1, 1, 0, 0, 0xc0, 0x7f, 1, 2, 1, 5, 3, 1, 4}, "entity", "2024-01-01T00:00:00Z")
}

// fuzzEvaluation builds a flag, its segments and the context of an evaluation.
func fuzzEvaluation(data []byte, entityID, value string) (s *guidon.Snapshot, flag *guidon.Flag, context map[string]string) {
	input := fuzzInput(data)
	flag = input.flag()
	s = flagtest.SnapshotOf(flag, input.segments(value)...)
	return s, flag, map[string]string{"p0": value, "p1": entityID, "": value}
}

// checkOutcome fails the test for any error but that of an unknown constraint type. It
// reports whether there is a result.
func checkOutcome(t *testing.T, err error) bool {
	t.Helper()
	if err != nil {
		flagtest.CheckError(t, err, guidon.InvalidArgument, "unknown constraint type")
	}
	return err == nil
}

func checkVariantResult(t *testing.T, flag *guidon.Flag, got guidon.VariantResult) {
	t.Helper()
	if got.VariantKey != "" {
		v := flag.VariantByKey(got.VariantKey)
		if v == nil || v.Attachment != got.Attachment {
			t.Errorf("%+v: not a variant of the flag", got)
		}
	} else if got.Attachment != "" {
		t.Errorf("%+v: an attachment without a variant", got)
	}
	if got.Match != (got.Reason == guidon.ReasonMatch) {
		t.Errorf("%+v: match and reason disagree", got)
	}
	if got.Match && len(got.SegmentKeys) == 0 {
		t.Errorf("%+v: a match without segments", got)
	}
	ofRule := func(r *guidon.Rule) bool { return subset(got.SegmentKeys, r.SegmentKeys) }
	if len(got.SegmentKeys) > 0 && !slices.ContainsFunc(flag.Rules, ofRule) {
		t.Errorf("%+v: segments of no rule", got)
	}
}

func checkBooleanResult(t *testing.T, flag *guidon.Flag, got guidon.BooleanResult) {
	t.Helper()
	switch got.Reason {
	case guidon.ReasonDefault:
		if got.Enabled != flag.Enabled || len(got.SegmentKeys) > 0 {
			t.Errorf("%+v: not the flag's own value", got)
		}
	case guidon.ReasonMatch:
		decides := func(r *guidon.Rollout) bool {
			switch {
			case r.Threshold != nil:
				return r.Threshold.Value == got.Enabled && len(got.SegmentKeys) == 0
			case r.Segment != nil:
				return r.Segment.Value == got.Enabled && len(got.SegmentKeys) > 0 && subset(got.SegmentKeys, r.Segment.SegmentKeys)
			}
			return false
		}
		if !slices.ContainsFunc(flag.Rollouts, decides) {
			t.Errorf("%+v: no rollout gives this result", got)
		}
	default: // a boolean flag has only these two reasons (contract 7.6)
		t.Errorf("%+v: not a reason of a boolean flag", got)
	}
}

func subset(some, all []string) bool {
	for _, s := range some {
		if !slices.Contains(all, s) {
			return false
		}
	}
	return true
}

// fuzzSource returns the input byte by byte, and zeros after its end.
type fuzzSource struct {
	rest    []byte
	percent bool // float returns percentages
}

func fuzzInput(data []byte) *fuzzSource { return &fuzzSource{rest: data} }

// shares makes most results of float percentages, in steps that have to be rounded.
func (s *fuzzSource) shares() *fuzzSource {
	s.percent = true
	return s
}

func (s *fuzzSource) byte() byte {
	if len(s.rest) == 0 {
		return 0
	}
	b := s.rest[0]
	s.rest = s.rest[1:]
	return b
}

func (s *fuzzSource) below(n int) int { return int(s.byte()) % n }

func (s *fuzzSource) bool() bool { return s.byte()&1 == 1 }

// float returns any float, including NaN, infinities and negative numbers.
func (s *fuzzSource) float() float32 {
	if s.percent && s.below(16) > 0 {
		return float32(s.below(101)) + float32(s.below(4))/3
	}
	return math.Float32frombits(binary.LittleEndian.Uint32([]byte{s.byte(), s.byte(), s.byte(), s.byte()}))
}

func (s *fuzzSource) segmentKeys() (keys []string) {
	for range s.below(4) {
		keys = append(keys, "s"+string(rune('0'+s.below(4)))) // s3 does not exist
	}
	return keys
}

func (s *fuzzSource) flag() *guidon.Flag {
	f := &guidon.Flag{Key: "flag", Type: guidon.FlagType(s.below(3)), Enabled: !s.bool()}
	for i := range s.below(4) {
		id := string(rune('a' + i))
		f.Variants = append(f.Variants, &guidon.Variant{ID: id, Key: "key-" + id, Attachment: flagtest.Attachment(id)})
	}
	f.DefaultVariantID = []string{"", "a", "b", "lost"}[s.below(4)]
	for range s.below(4) {
		r := &guidon.Rule{SegmentKeys: s.segmentKeys(), SegmentOperator: guidon.SegmentOperator(s.below(3))}
		for range s.below(4) {
			r.Distributions = append(r.Distributions, &guidon.Distribution{
				VariantID: string(rune('a' + s.below(4))), Rollout: s.float(),
			})
		}
		f.Rules = append(f.Rules, r)
	}
	for range s.below(4) {
		r := &guidon.Rollout{}
		switch s.below(3) {
		case 1:
			r.Threshold = &guidon.RolloutThreshold{Percentage: s.float(), Value: s.bool()}
		case 2:
			r.Segment = &guidon.RolloutSegment{
				SegmentKeys: s.segmentKeys(), SegmentOperator: guidon.SegmentOperator(s.below(3)), Value: s.bool(),
			}
		}
		f.Rollouts = append(f.Rollouts, r)
	}
	return f
}

var fuzzOperators = []string{
	"eq", "neq", "lt", "lte", "gt", "gte", "empty", "notempty", "prefix", "suffix", "contains",
	"notcontains", "isoneof", "isnotoneof", "present", "notpresent", "true", "false", "", "like",
}

func (s *fuzzSource) segments(value string) (segments []*guidon.Segment) {
	for i := range 3 {
		g := flagtest.Segment("s"+string(rune('0'+i)), guidon.MatchType(s.below(3)))
		for range s.below(4) {
			g.Constraints = append(g.Constraints, &guidon.Constraint{
				Type: guidon.ComparisonType(s.below(7)), Property: []string{"p0", "p1", "missing", ""}[s.below(4)],
				Operator: fuzzOperators[s.below(len(fuzzOperators))],
				Value:    []string{value, "5", "2024-01-01", `["` + value + `"]`, "[5]", ""}[s.below(6)],
			})
		}
		segments = append(segments, g)
	}
	return segments
}

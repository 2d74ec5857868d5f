package flagtest

import (
	"encoding/binary"
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
)

// SeedEvaluations adds arguments of [FuzzedEvaluation] to the corpus.
func SeedEvaluations(f *testing.F) {
	f.Add([]byte(nil), "user-1", "US")
	f.Add([]byte("\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f"), "", "")
	f.Add([]byte{0, 1, 2, 1, 1, 1, 1, 2, 2, 3, 0, 0, 0x48, 0x42, 1, 0, 0, 0x48, 0x42, 2, 1, 1, 0, 3, 2, 0, 9, 12}, "日本語", "1e1")
	f.Add([]byte{1, 0, 3, 1, 0, 1, 1, 0, 0, 0xc0, 0x7f, 1, 2, 1, 5, 3, 1, 4}, "entity", "2024-01-01T00:00:00Z")
}

// FuzzedEvaluation builds a flag, its segments and the context of an evaluation.
func FuzzedEvaluation(data []byte, entityID, value string) (s *guidon.Snapshot, flag *guidon.Flag, context map[string]string) {
	input := NewFuzzInput(data)
	flag = input.Flag()
	s = SnapshotOf(flag, input.Segments(value)...)
	return s, flag, map[string]string{"p0": value, "p1": entityID, "": value}
}

// FuzzInput makes flags and segments of the input of a fuzz test, including ones that the
// service would not store. It reads the input byte by byte, and zeros after its end.
type FuzzInput struct {
	rest     []byte
	percent  bool // float returns percentages
	targeted bool // so that float returns percentages only, and rules have conditions
}

// NewFuzzInput returns the input.
func NewFuzzInput(data []byte) *FuzzInput { return &FuzzInput{rest: data} }

// NewTargetedInput returns an input whose flags have shares that can be saved, and conditions.
func NewTargetedInput(data []byte) *FuzzInput { return &FuzzInput{rest: data, targeted: true} }

// WithShares makes most results of float percentages, in steps that must be rounded.
func (s *FuzzInput) WithShares() *FuzzInput {
	s.percent = true
	return s
}

func (s *FuzzInput) byte() byte {
	if len(s.rest) == 0 {
		return 0
	}
	b := s.rest[0]
	s.rest = s.rest[1:]
	return b
}

// Below returns a number from 0 to less than n.
func (s *FuzzInput) Below(n int) int { return int(s.byte()) % n }

// enum returns a number from 0 to less than n, for a value of an enum, known or not.
func (s *FuzzInput) enum(n uint8) uint8 { return s.byte() % n }

// Bool returns true or false.
func (s *FuzzInput) Bool() bool { return s.byte()&1 == 1 }

// float returns any float, including NaN, infinities and negative numbers.
func (s *FuzzInput) float() float32 {
	if s.targeted && s.Below(4) == 0 {
		return float32(100 * s.Below(2))
	}
	if s.targeted || s.percent && s.Below(16) > 0 {
		return float32(s.Below(101)) + float32(s.Below(4))/3
	}
	return math.Float32frombits(binary.LittleEndian.Uint32([]byte{s.byte(), s.byte(), s.byte(), s.byte()}))
}

// letters are the ids of variants.
var letters = []string{"a", "b", "c", "d"}

func (s *FuzzInput) segmentKeys() (keys []string) {
	for range s.Below(4) {
		keys = append(keys, "s"+strconv.Itoa(s.Below(4))) // s3 does not exist
	}
	return keys
}

// Flag returns a flag with the key "flag", for which [FuzzInput.Segments] makes segments.
func (s *FuzzInput) Flag() *guidon.Flag {
	f := &guidon.Flag{Key: "flag", Type: guidon.FlagType(s.enum(3)), Enabled: !s.Bool()}
	for i := range s.Below(4) {
		id := letters[i]
		f.Variants = append(f.Variants, &guidon.Variant{ID: id, Key: "key-" + id, Attachment: Attachment(id)})
	}
	f.DefaultVariantID = []string{"", "a", "b", "lost"}[s.Below(4)]
	for range s.Below(4) {
		r := &guidon.Rule{SegmentKeys: s.segmentKeys(), SegmentOperator: guidon.SegmentOperator(s.enum(3))}
		if s.targeted {
			r.Conditions, r.Split, r.CodeDefault = s.conditions().OrNil(), s.split(), s.Below(8) == 0
		}
		for range s.Below(4) {
			r.Distributions = append(r.Distributions, &guidon.Distribution{
				VariantID: letters[s.Below(4)], Rollout: s.float(),
			})
		}
		f.Rules = append(f.Rules, r)
	}
	for range s.Below(4) {
		r := &guidon.Rollout{}
		switch s.Below(3) {
		case 1:
			r.Threshold = &guidon.RolloutThreshold{Percentage: s.float(), Value: s.Bool()}
			if s.targeted {
				r.Threshold.Start, r.Threshold.Split, r.Threshold.Ramp = s.start(), s.split(), s.ramp()
				r.Conditions = guidon.Conditions{From: s.instant(), Until: s.instant()}.OrNil()
			}
		case 2:
			r.Segment = &guidon.RolloutSegment{
				SegmentKeys: s.segmentKeys(), SegmentOperator: guidon.SegmentOperator(s.enum(3)), Value: s.Bool(),
			}
			if s.targeted {
				r.Conditions = s.conditions().OrNil()
			}
		}
		f.Rollouts = append(f.Rollouts, r)
	}
	return f
}

// Require lets the flag and its rules require others, and returns those that exist.
func (s *FuzzInput) Require(f *guidon.Flag) (others []*guidon.Flag) {
	for _, key := range []string{"r0", "r1"} {
		other := s.Flag()
		other.Key = key
		others = append(others, other)
	}
	f.Requires = s.requirements()
	for _, c := range f.EachConditions() {
		if c != (&guidon.Rule{}).Stated() {
			c.Requires = s.requirements()
		}
	}
	return others
}

func (s *FuzzInput) requirements() (all []guidon.Requirement) {
	answers := [][]string{nil, {"false"}, {"true"}, {"key-a"}, {"key-a", "key-b"}, {""}, {"true", "false", "key-c"}, {"key-d"}}
	for range s.Below(6) / 4 {
		all = append(all, guidon.Requirement{FlagKey: []string{"r0", "r1", "r1", "lost"}[s.Below(4)], Answers: answers[s.Below(8)]})
	}
	return all
}

func (s *FuzzInput) split() *guidon.Split {
	if s.Bool() {
		return nil
	}
	return &guidon.Split{
		By: []string{"", "p0", "p1", "missing"}[s.Below(4)], Seed: []string{"", "layer"}[s.Below(2)],
		Hash: guidon.BucketHash(s.enum(5)),
	}
}

func (s *FuzzInput) start() float32 { return []float32{0, 0, 12.5, 33.333}[s.Below(4)] }

func (s *FuzzInput) conditions() (c guidon.Conditions) {
	for range s.Below(3) {
		c.Groups = append(c.Groups, &guidon.ConstraintGroup{MatchType: guidon.MatchType(s.enum(2)), Constraints: s.constraints("5")})
	}
	if s.Below(4) == 0 {
		c.ExceptSegmentKeys = s.segmentKeys()
	}
	c.Everyone = s.Bool()
	if s.Bool() {
		c.Portion = &guidon.Portion{Percentage: s.float(), Start: s.start(), Ramp: s.ramp()}
		if split := s.split(); split != nil {
			c.Portion.Split = *split
		}
	}
	c.From, c.Until = s.instant(), s.instant()
	return c
}

// FuzzedTimes are how many seconds the times of rules are in, from FuzzedStart on.
const FuzzedTimes = 8

// FuzzedStart is the first of them.
var FuzzedStart = time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)

// instant returns a time, or zero in most cases.
func (s *FuzzInput) instant() (at time.Time) {
	if s.Below(3) == 0 {
		at = FuzzedStart.Add(time.Duration(s.Below(FuzzedTimes)) * time.Second)
	}
	return at
}

// FuzzedMinutes are how many minutes the times of ramps are in, around FuzzedStart. Most ramps are
// shorter.
const FuzzedMinutes = 32

// Minute returns one of the times of ramps.
func (s *FuzzInput) Minute() time.Time {
	return FuzzedStart.Add(time.Duration(s.Below(FuzzedMinutes)-FuzzedMinutes/2) * time.Minute)
}

// ramp returns a ramp, or nil in half of the cases.
func (s *FuzzInput) ramp() *guidon.Ramp {
	if !s.Bool() {
		return nil
	}
	r := &guidon.Ramp{Start: s.Minute(), Initial: s.float(), Delay: time.Duration(s.Below(4)) * time.Minute}
	if s.Bool() {
		r.Over = []time.Duration{1, 3, 8, 20, 99, 250}[s.Below(6)] * time.Minute
	} else {
		for range 1 + s.Below(3) {
			r.Steps = append(r.Steps, guidon.RampStep{Percentage: s.float(), For: time.Duration(1+s.Below(8)) * time.Minute})
		}
	}
	if s.Below(3) == 2 {
		r.Paused = s.Minute()
	}
	if s.Below(3) == 2 {
		r.Reversed = s.Minute()
	}
	if s.Bool() {
		r.Confirm = &guidon.RampConfirm{Every: time.Duration(1+s.Below(12)) * time.Minute, Lapse: guidon.RampLapse(s.enum(2))}
		if s.Bool() {
			r.Confirm.Last = s.Minute()
		}
	}
	return r
}

// Operators returns the names of all operators, and two that do not exist.
func Operators() []string {
	names := []string{"", "like"}
	for _, o := range guidon.Operators() {
		names = append(names, o.Name)
	}
	return names
}

// comparisonTypes are the types of constraints, and two that do not exist.
var comparisonTypes = append(guidon.ComparisonTypes(), guidon.UnknownComparison, 6)

// Segments returns the segments s0 to s2, with constraints to which the value may matter.
func (s *FuzzInput) Segments(value string) (segments []*guidon.Segment) {
	for i := range 3 {
		segments = append(segments, Segment("s"+strconv.Itoa(i), guidon.MatchType(s.enum(3)), s.constraints(value)...))
	}
	return segments
}

func (s *FuzzInput) constraints(value string) (constraints []*guidon.Constraint) {
	operators := Operators()
	operands := []string{
		value, "5", "2024-01-01", `["` + value + `"]`, "[5]", "", "^a", "2.4.0-rc.1", `["5","a"]`, `["10.0.0.0/8","10.1.0.0/16"]`,
	}
	for range s.Below(4) {
		constraints = append(constraints, &guidon.Constraint{
			Type:     comparisonTypes[s.Below(len(comparisonTypes))],
			Property: []string{"p0", "p1", "missing", ""}[s.Below(4)],
			Operator: operators[s.Below(len(operators))],
			Value:    operands[s.Below(len(operands))],
			Negate:   s.Below(4) == 0,
		})
	}
	return constraints
}

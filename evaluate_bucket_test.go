package guidon

import (
	"fmt"
	"hash/crc32"
	"strings"
	"testing"
)

// TestVariantBucket covers the worked examples of contract 16.1.
func TestVariantBucket(t *testing.T) {
	halves := []bucketRange{{end: 500, key: "A"}, {end: 1000, key: "B"}}
	thirds := []bucketRange{{end: 100, key: "A"}, {end: 400, key: "B"}, {end: 1000, key: "C"}}
	tests := []struct {
		flagKey, entityID string
		hash              uint32
		bucket            int
		halves, thirds    string
	}{
		{"flag_001", "some-fixed-entity-id", 1828167553, 553, "B", "C"},
		{"flag_002", "some-fixed-entity-id", 401153378, 378, "A", "B"},
		{"flag_variant_and_segments", "some-fixed-entity-id", 3583434531, 531, "B", "C"},
		{"foo", "123", 1614934253, 253, "A", "B"},
		{"foo", "1", 3476655244, 244, "A", "B"},
		{"foo", "2", 1446042934, 934, "B", "C"},
		{"foo", "10", 270150054, 54, "A", "A"},
		{"foo", "entity", 45057872, 872, "B", "C"},
		{"flag1", "entity", 955612673, 673, "B", "C"},
		{"checkout", "user-1", 2510163118, 118, "A", "B"},
		{"checkout", "user-2", 211246356, 356, "A", "B"},
		{"checkout", "user-3", 2073062786, 786, "B", "C"},
		{"checkout", "user-42", 1448696491, 491, "A", "C"},
		{"checkout", "user-100", 2171886706, 706, "B", "C"},
		{"color-scheme", "alice@example.com", 1716326591, 591, "B", "C"},
		{"color-scheme", "bob@example.com", 605299913, 913, "B", "C"},
		{"color-scheme", "", 3775552187, 187, "A", "B"},
		{"ünïcode", "日本語", 1801591939, 939, "B", "C"},
		{"flag", "550e8400-e29b-41d4-a716-446655440000", 904466246, 246, "A", "B"},
		// The edges of the ranges.
		{"boundary", "u583", 3843502000, 0, "A", "A"},
		{"boundary", "u131", 4024713099, 99, "A", "A"},
		{"boundary", "u595", 359644100, 100, "A", "B"},
		{"boundary", "u209", 3360971299, 299, "A", "B"},
		{"boundary", "u997", 4068156300, 300, "A", "B"},
		{"boundary", "u883", 3989814499, 499, "A", "C"},
		{"boundary", "u1131", 3370903500, 500, "B", "C"},
		{"boundary", "u1518", 2215154998, 998, "B", "C"},
		{"boundary", "u573", 1653551999, 999, "B", "C"},
	}
	for _, tt := range tests {
		t.Run(tt.flagKey+"+"+tt.entityID, func(t *testing.T) {
			state := updateHash(hashStart, tt.flagKey)
			if got := hashSum(updateHash(state, tt.entityID)); got != tt.hash {
				t.Errorf("hash: got %d, want %d", got, tt.hash)
			}
			bucket := variantBucket(state, tt.entityID)
			if bucket != tt.bucket {
				t.Errorf("bucket: got %d, want %d", bucket, tt.bucket)
			}
			for _, split := range []struct {
				ranges []bucketRange
				want   string
			}{{halves, tt.halves}, {thirds, tt.thirds}} {
				r := compiledRule{ranges: split.ranges}
				if got := r.rangeOf(bucket).key; got != split.want {
					t.Errorf("winner of %d: got %s, want %s", len(split.ranges), got, split.want)
				}
			}
		})
	}
}

// TestHash: hashing two strings of any lengths gives the CRC-32 that the standard
// library computes for their concatenation.
func TestHash(t *testing.T) {
	text := strings.Repeat("550e8400-e29b-41d4-a716-446655440000 Zoë \xff\x00", 3)
	for length := range len(text) {
		for _, split := range []int{0, length / 3, length / 2, length} {
			got := hashSum(updateHash(updateHash(hashStart, text[:split]), text[split:length]))
			if want := crc32.ChecksumIEEE([]byte(text[:length])); got != want {
				t.Errorf("%q and %q: got %d, want %d", text[:split], text[split:length], got, want)
			}
		}
	}
}

// TestRanges covers the arithmetic of contract 16.2: each share is truncated
// separately, and shares that are not positive are omitted.
func TestRanges(t *testing.T) {
	const none = "none"
	buckets := []int{0, 99, 332, 333, 665, 666, 998, 999}
	tests := []struct {
		rollouts []float32
		ends     []int
		winners  []string // of the buckets, or nil if there are no ranges
	}{
		{[]float32{100}, []int{1000}, []string{"A", "A", "A", "A", "A", "A", "A", "A"}},
		{[]float32{50, 50}, []int{500, 1000}, []string{"A", "A", "A", "A", "B", "B", "B", "B"}},
		{[]float32{10, 30, 60}, []int{100, 400, 1000}, []string{"A", "A", "B", "B", "C", "C", "C", "C"}},
		{[]float32{33.33, 33.33, 33.34}, []int{333, 666, 999}, []string{"A", "A", "A", "B", "B", "C", "C", none}},
		{[]float32{33.4, 33.3, 33.3}, []int{334, 667, 1000}, []string{"A", "A", "A", "A", "B", "B", "C", "C"}},
		{[]float32{10}, []int{100}, []string{"A", "A", none, none, none, none, none, none}},
		{[]float32{0, 100}, []int{1000}, []string{"B", "B", "B", "B", "B", "B", "B", "B"}},
		{[]float32{0, 0}, []int{}, nil},
		{[]float32{0.05, 99.95}, []int{0, 999}, []string{"B", "B", "B", "B", "B", "B", "B", none}},
		{[]float32{60, 60}, []int{600, 1200}, []string{"A", "A", "A", "A", "B", "B", "B", "B"}},
		{[]float32{12.345, 87.655}, []int{123, 999}, []string{"A", "A", "B", "B", "B", "B", "B", none}},
		{
			[]float32{14.29, 14.29, 14.29, 14.29, 14.29, 14.29, 14.29},
			[]int{142, 284, 426, 568, 710, 852, 994},
			[]string{"A", "A", "C", "C", "E", "E", none, none},
		},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.rollouts), func(t *testing.T) {
			variants := make(map[string]*Variant)
			var distributions []*Distribution
			for i, rollout := range tt.rollouts {
				key := string(rune('A' + i))
				variants[key] = &Variant{ID: key, Key: key}
				distributions = append(distributions, &Distribution{VariantID: key, Rollout: rollout})
			}
			r := compiledRule{ranges: compileRanges(distributions, variants, VariantBuckets)}
			ends := make([]int, 0, len(r.ranges))
			for _, part := range r.ranges {
				ends = append(ends, part.end)
			}
			if got, want := fmt.Sprint(ends), fmt.Sprint(tt.ends); got != want {
				t.Fatalf("ends: got %s, want %s", got, want)
			}
			for i, want := range tt.winners {
				got := none
				if chosen := r.rangeOf(buckets[i]); chosen != nil {
					got = chosen.key
				}
				if got != want {
					t.Errorf("bucket %d: got %s, want %s", buckets[i], got, want)
				}
			}
		})
	}
}

// TestRangesOfLostVariant: deleting a variant deletes its distributions (contract
// 4.7). A distribution without its variant is ignored.
func TestRangesOfLostVariant(t *testing.T) {
	ranges := compileRanges([]*Distribution{
		{VariantID: "gone", Rollout: 50}, {VariantID: "b", Rollout: 50},
	}, map[string]*Variant{"b": {ID: "b", Key: "B"}}, VariantBuckets)
	if len(ranges) != 1 || ranges[0] != (bucketRange{end: 500, key: "B"}) {
		t.Errorf("got %v, want only the range of B up to 500", ranges)
	}
}

// TestBooleanBucket covers the worked examples of contract 16.3.
func TestBooleanBucket(t *testing.T) {
	tests := []struct {
		flagKey, entityID string
		hash              uint32
		bucket            int
		at5, at50, at70   bool
	}{
		{"flag_boolean", "hello", 2534128796, 96, false, false, false},
		{"flag_boolean", "fixed", 4136381709, 9, false, true, true},
		{"boolean_disabled", "beover50", 2629241899, 99, false, false, false},
		{"boolean_disabled", "fixed", 905904038, 38, false, true, true},
		{"test-flag", "test-entity", 4255329765, 65, false, false, true},
		{"flag_boolean", "entity", 2805716490, 90, false, false, false},
		{"flag_boolean", "someentity", 1496905875, 75, false, false, false},
		{"new-ui", "user-1", 3866588849, 49, false, true, true},
		{"new-ui", "user-2", 3617549356, 56, false, false, true},
		{"new-ui", "user-3", 1911056280, 80, false, false, false},
		{"new-ui", "user-42", 2801186312, 12, false, true, true},
		{"new-ui", "alice@example.com", 3065833704, 4, true, true, true},
		{"new-ui", "", 1924476525, 25, false, true, true},
		{"ünïcode", "日本語", 2653135820, 20, false, true, true},
		{"foo", "123", 883520817, 17, false, true, true},
		{"foo", "1", 451017963, 63, false, false, true},
		// The edges of the thresholds.
		{"bool-boundary", "u17", 3871282100, 0, true, true, true},
		{"bool-boundary", "u182", 1534019804, 4, true, true, true},
		{"bool-boundary", "u6", 2774583905, 5, false, true, true},
		{"bool-boundary", "u30", 737413349, 49, false, true, true},
		{"bool-boundary", "u16", 2075194050, 50, false, false, true},
		{"bool-boundary", "u198", 816007599, 99, false, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.flagKey+"+"+tt.entityID, func(t *testing.T) {
			if got := hashSum(updateHash(updateHash(hashStart, tt.entityID), tt.flagKey)); got != tt.hash {
				t.Errorf("hash: got %d, want %d", got, tt.hash)
			}
			if got := booleanBucket(tt.flagKey, tt.entityID); got != tt.bucket {
				t.Errorf("bucket: got %d, want %d", got, tt.bucket)
			}
			for percentage, want := range map[float32]bool{5: tt.at5, 50: tt.at50, 70: tt.at70, 0: false, 100: true} {
				s := NewSnapshot(&Namespace{}, Revision{}, []*Flag{{
					Key: tt.flagKey, Type: BooleanFlag,
					Rollouts: []*Rollout{{Threshold: &RolloutThreshold{Percentage: percentage, Value: true}}},
				}}, nil)
				if got, err := s.Boolean(tt.flagKey, tt.entityID, nil); err != nil || got.Enabled != want {
					t.Errorf("at %g %%: got %t, %v, want %t", percentage, got.Enabled, err, want)
				}
			}
		})
	}
}

package change

import (
	"reflect"
	"slices"
	"testing"
)

// notContent are the fields that no shape has: what identifies an object, its times, and
// ranks, for which the order stands. Merging and the words for change records know ids and
// ranks all the same.
var notContent = []string{"ID", "Rank", "CreatedAt", "UpdatedAt", "Created", "Unreadable"}

// TestEveryField: each field of every object is in its shape, or not content. The tests
// that change each field, such as TestEveryFieldIsCompared, check the rest.
func TestEveryField(t *testing.T) {
	checkFields(t, namespaceShape, append(notContent, "Key"))
	checkFields(t, flagShape, append(notContent, "Key"))
	checkFields(t, variantShape, notContent)
	checkFields(t, ruleShape, notContent)
	checkFields(t, distributionShape, notContent)
	checkFields(t, rolloutShape, notContent)
	checkFields(t, rolloutSegmentShape, nil)
	checkFields(t, rolloutThresholdShape, nil)
	checkFields(t, segmentShape, append(notContent, "Key"))
	checkFields(t, constraintShape, notContent)
}

func checkFields[T any](t *testing.T, s shape[T], except []string) {
	t.Helper()
	var known []string
	for _, m := range s {
		known = append(known, m.names()...)
	}
	of := reflect.TypeFor[T]()
	for i := range of.NumField() {
		name := of.Field(i).Name
		if slices.Contains(known, name) == slices.Contains(except, name) {
			t.Errorf("%s.%s must be either in the shape or in the list of fields that are not content", of.Name(), name)
		}
	}
	for _, name := range known {
		if _, found := of.FieldByName(name); !found {
			t.Errorf("%s has no field %s", of.Name(), name)
		}
	}
}

func TestLongestIncreasing(t *testing.T) {
	for _, test := range []struct {
		values []int
		want   int // how many are kept in order
	}{
		{nil, 0}, {[]int{0, 1, 2}, 3}, {[]int{2, 0, 1}, 2}, {[]int{2, 1, 0}, 1}, {[]int{3, 0, 4, 1, 2, 5}, 4}, {[]int{-1, 1, -1, 0}, 1},
	} {
		kept, last := 0, -1
		for i, in := range longestIncreasing(test.values) {
			switch v := test.values[i]; {
			case v < 0 && !in:
				t.Errorf("%v: a new item at %d is out of order", test.values, i)
			case v >= 0 && in:
				if v < last {
					t.Errorf("%v: %d after %d", test.values, v, last)
				}
				kept, last = kept+1, v
			}
		}
		if kept != test.want {
			t.Errorf("%v: %d kept, want %d", test.values, kept, test.want)
		}
	}
}

package change

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/guidonhq/guidon"
)

// decode returns the object of a record, or nil if there is none.
func decode[T any](text json.RawMessage) (*T, error) {
	if len(text) == 0 {
		return nil, nil
	}
	t := new(T)
	if err := json.Unmarshal(text, t); err != nil {
		return nil, fmt.Errorf("change record: %w", err)
	}
	clean(t)
	return t, nil
}

// clean removes missing items from the lists of a flag or segment, which no stored object has,
// and the marks of the stored form.
func clean(object any) {
	switch t := object.(type) {
	case *guidon.Flag:
		t.Unmark()
		t.Variants = withoutNil(t.Variants)
		t.Rules = withoutNil(t.Rules)
		t.Rollouts = withoutNil(t.Rollouts)
		for _, r := range t.Rules {
			r.Distributions = withoutNil(r.Distributions)
		}
	case *guidon.Segment:
		t.Constraints = withoutNil(t.Constraints)
		t.Unmark()
	}
}

func withoutNil[T any](list []*T) []*T {
	return slices.DeleteFunc(list, func(t *T) bool { return t == nil })
}

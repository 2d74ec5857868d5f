package change

import (
	"bytes"
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

// decodeBoth returns the objects of a record before and after it.
func decodeBoth[T any](before, after json.RawMessage) (was, is *T, err error) {
	if was, err = decode[T](before); err == nil {
		is, err = decode[T](after)
	}
	return was, is, err
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

// Objects returns the objects before and after the change, without the marks of the stored form.
func (c *Record) Objects() (before, after json.RawMessage) {
	switch c.Kind {
	case KindFlag:
		return unmarked[guidon.Flag](c.Before), unmarked[guidon.Flag](c.After)
	case KindSegment:
		return unmarked[guidon.Segment](c.Before), unmarked[guidon.Segment](c.After)
	}
	return c.Before, c.After
}

// unmarked returns the stored object without marks; as it is if this release cannot read it.
func unmarked[T any](text json.RawMessage) json.RawMessage {
	if !bytes.Contains(text, []byte("_TYPE+")) { // nearly always
		return text
	}
	object, err := decode[T](text)
	if err != nil {
		return text
	}
	plain, err := json.Marshal(object)
	if err != nil {
		return text
	}
	return plain
}

package change

import (
	"bytes"
	"encoding/json"

	"github.com/guidonhq/guidon"
)

// Unreadable returns why the object cannot be read, or nil.
func Unreadable(object any) *guidon.Unreadable {
	_, unreadable := notStored(object)
	return unreadable
}

// created returns the position of the creation of a flag or segment, or nil for another object.
func created(object any) *guidon.Position {
	position, _ := notStored(object)
	return position
}

// notStored returns the fields of a flag or segment that are not in its stored form.
func notStored(object any) (created *guidon.Position, unreadable *guidon.Unreadable) {
	switch t := object.(type) {
	case *guidon.Flag:
		if t != nil {
			return &t.Created, t.Unreadable
		}
	case *guidon.Segment:
		if t != nil {
			return &t.Created, t.Unreadable
		}
	}
	return nil, nil
}

// MustBeReadable returns the error of the first object that cannot be read, or nil.
func MustBeReadable(objects ...any) error {
	for _, o := range objects {
		if u := Unreadable(o); u != nil {
			return u.Err
		}
	}
	return nil
}

// stored returns the flag or segment in a change record, or nil if there is none or the object
// is of another kind.
func (o Object) stored(text json.RawMessage) any {
	switch {
	case len(text) == 0:
		return nil
	case o.Kind == KindFlag:
		return guidon.ReadFlag(o.Key, text)
	case o.Kind == KindSegment:
		return guidon.ReadSegment(o.Key, text)
	}
	return nil
}

// sameUnread reports whether the objects, of which at least one cannot be read, have the same
// stored form.
func sameUnread(before, after *guidon.Unreadable) bool {
	return before != nil && after != nil && bytes.Equal(before.Stored, after.Stored)
}

// unreadDifference is the only difference of an object that this release cannot read in one of
// its versions.
func unreadDifference() []Difference {
	var c comparer
	c.add(nil, Wording{What: "has a form that this release cannot read"}, Difference{Path: Whole, Op: OpReplace})
	return c.out
}

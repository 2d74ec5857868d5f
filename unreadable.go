package guidon

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// UnreadableFlag is the type of a flag whose stored form this release cannot read. It is
// neither stored nor sent.
const UnreadableFlag FlagType = 255

// Unreadable describes a flag or segment that cannot be read, because a newer release has
// written it or because it is damaged. Nothing is known about it but its key, so it must be
// neither used nor written, and whatever depends on it fails.
type Unreadable struct {
	Stored   []byte   // its stored form
	Segments []string // the keys of the segments that a flag appears to refer to
	Err      *Error   // Unimplemented, with the cause
}

// ReadFlag returns the flag with the key from its stored form. If that cannot be read, the
// flag is Unreadable.
func ReadFlag(key string, stored []byte) *Flag {
	f := new(Flag)
	err := json.Unmarshal(stored, f)
	if err == nil {
		err = f.check(key)
	}
	if err != nil {
		u := newUnreadable("flag", key, stored, err)
		u.Segments = mentionedSegments(stored)
		return &Flag{Key: key, Name: key, Type: UnreadableFlag, Unreadable: u}
	}
	return f
}

// ReadSegment is [ReadFlag] for segments.
func ReadSegment(key string, stored []byte) *Segment {
	g := new(Segment)
	err := json.Unmarshal(stored, g)
	if err == nil {
		err = g.check(key)
	}
	if err != nil {
		return &Segment{Key: key, Name: key, Unreadable: newUnreadable("segment", key, stored, err)}
	}
	return g
}

// err returns u.Err, or nil if u is nil.
func (u *Unreadable) err() error {
	if u == nil {
		return nil
	}
	return u.Err
}

// UnreadableKey identifies a flag or segment of a namespace.
type UnreadableKey struct{ Kind, Key string } // Kind is "flag" or "segment"

// Unreadable returns the errors of the flags that cannot be evaluated and the segments that
// cannot be read. It is nil if there are none, and must not be modified.
func (s *Snapshot) Unreadable() map[UnreadableKey]error { return s.unreadable }

// setUnreadable sets the error of a flag or segment, or removes it if err is nil.
func (s *Snapshot) setUnreadable(kind, key string, err error) {
	switch {
	case err == nil:
		delete(s.unreadable, UnreadableKey{kind, key})
	case s.unreadable == nil:
		s.unreadable = map[UnreadableKey]error{{kind, key}: err}
	default:
		s.unreadable[UnreadableKey{kind, key}] = err
	}
}

// EvaluableFlags returns the flags without those that cannot be evaluated, in creation order.
func (s *Snapshot) EvaluableFlags() []*Flag {
	if len(s.unreadable) == 0 {
		return s.Flags()
	}
	return slices.DeleteFunc(slices.Clone(s.Flags()), func(f *Flag) bool { return s.Compiled(f.Key).err != nil })
}

func newUnreadable(kind, key string, stored []byte, cause error) *Unreadable {
	return &Unreadable{
		Stored: slices.Clone(stored),
		Err:    UnreadableError(fmt.Sprintf("%s %q needs a newer release of Guidon, or is damaged", kind, key), cause),
	}
}

// UnreadableError returns the error about something that is unreadable.
func UnreadableError(message string, cause error) *Error {
	return &Error{Code: Unimplemented, Message: message, Err: &unreadableCause{cause}}
}

// IsUnreadable reports whether err is, or wraps, an [UnreadableError].
func IsUnreadable(err error) bool {
	_, is := errors.AsType[*unreadableCause](err)
	return is
}

// unreadableCause is why something cannot be read. It distinguishes an UnreadableError from
// other errors with the same code.
type unreadableCause struct{ error }

// Errors of stored forms that are JSON of the right types.
var (
	errOtherKey  = errors.New("the stored form has another key")
	errMissing   = errors.New("the stored form has null in a list")
	errNoRollout = errors.New("the stored form has a rollout of an unknown type")
	errOperator  = errors.New("the stored form has an unknown operator")
)

// check returns an error if the flag, which has been decoded, has another key or a part that
// this release would ignore.
func (f *Flag) check(key string) error {
	if f.Key != key {
		return errOtherKey
	}
	f.Unmark()
	if slices.Contains(f.Variants, nil) || slices.Contains(f.Rules, nil) || slices.Contains(f.Rollouts, nil) {
		return errMissing
	}
	for _, r := range f.Rules {
		if slices.Contains(r.Distributions, nil) {
			return errMissing
		}
		if err := checkGroups(r.Stated().Groups); err != nil {
			return err
		}
	}
	for _, r := range f.Rollouts {
		if (r.Segment == nil) == (r.Threshold == nil) {
			return errNoRollout
		}
		if err := checkGroups(r.Stated().Groups); err != nil {
			return err
		}
	}
	return nil
}

func checkGroups(groups []*ConstraintGroup) error {
	for _, g := range groups {
		if g == nil {
			return errMissing
		}
		if err := checkConstraints(g.Constraints); err != nil {
			return err
		}
	}
	return nil
}

// unreadable returns why the flag cannot be evaluated with these segments, or nil.
func (x segmentIndex) unreadable(f *Flag) error {
	if f.Unreadable != nil {
		return f.Unreadable.Err
	}
	for key := range f.SegmentKeys() {
		if g := x[key]; g != nil && g.segment.Unreadable != nil {
			u := g.segment.Unreadable.Err
			return UnreadableError(fmt.Sprintf("flag %q cannot be evaluated: %s", f.Key, u.Message), u.Err)
		}
	}
	return nil
}

// check is [Flag.check] for segments. It removes the marks of [Segment.Stored].
func (s *Segment) check(key string) error {
	if s.Key != key {
		return errOtherKey
	}
	if err := checkConstraints(s.Constraints); err != nil {
		return err
	}
	s.Unmark()
	return nil
}

func checkConstraints(constraints []*Constraint) error {
	if slices.Contains(constraints, nil) {
		return errMissing
	}
	for _, c := range constraints {
		if OperatorNamed(c.Operator) == nil {
			return errOperator
		}
	}
	return nil
}

// mentionedSegments returns the keys in all lists named segmentKeys or exceptSegmentKeys of the
// stored form of a flag, up to the first error.
func mentionedSegments(stored []byte) (keys []string) {
	decoder := json.NewDecoder(bytes.NewReader(stored))
	var previous json.Token
	listed := false
	for token, err := decoder.Token(); err == nil; token, err = decoder.Token() {
		switch key, text := token.(string); {
		case token == json.Delim('['):
			listed = previous == "segmentKeys" || previous == "exceptSegmentKeys"
		case !text:
			listed = false
		case listed:
			keys = append(keys, key)
		}
		previous = token
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

package service

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
)

// referenceSign separates the key of a namespace from the moment in a reference. Keys
// cannot contain it.
const referenceSign = "@"

// Reference names a state of a namespace.
type Reference struct {
	Namespace string // never empty
	At        Moment
}

// Moment selects one state of a namespace. The zero Moment is the current state.
type Moment struct {
	Revision int64     // the state with this revision, if positive
	Time     time.Time // otherwise, unless zero: the state that was current at that time
}

// ParseReference parses the name of a state: "shop" is the current one, "shop@412" that of
// a revision, "shop@2026-11-20T14:03:00Z" what was current at a time (RFC 3339). As
// elsewhere, the empty key is [guidon.DefaultNamespace].
func ParseReference(text string) (Reference, error) {
	key, moment, named := strings.Cut(text, referenceSign)
	r := Reference{Namespace: guidon.NamespaceKey(key)}
	if !named {
		return r, nil
	}
	var err error
	r.At, err = parseMoment(moment)
	if err != nil {
		return r, guidon.Errorf(guidon.InvalidArgument, "invalid reference %s: %v", quoteReference(text), err)
	}
	return r, nil
}

// The rules of the part after the "@".
var (
	errMoment   = errors.New(`after "@" must be a revision, such as 412, or a time in RFC 3339, such as 2026-11-20T14:03:00Z`)
	errRevision = errors.New("the revision must be positive")
	errTooLarge = errors.New("the revision must be less than 2^63")
)

// parseMoment parses a revision or a time.
func parseMoment(text string) (Moment, error) {
	number, negative := strings.CutPrefix(text, "-")
	if number != "" && strings.Trim(number, "0123456789") == "" {
		revision, err := strconv.ParseInt(number, 10, 64)
		switch {
		case negative || err == nil && revision == 0:
			return Moment{}, errRevision
		case err != nil:
			return Moment{}, errTooLarge
		}
		return Moment{Revision: revision}, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	const colon = len("2006-01-02T15") // time.Parse also accepts hours of one digit, and a comma before fractions
	if err != nil || at.IsZero() || text[colon] != ':' || strings.Contains(text, ",") {
		return Moment{}, errMoment
	}
	return Moment{Time: at}, nil
}

// quoteReference quotes a reference that came from a caller, shortened if it is long.
func quoteReference(text string) string {
	const limit = 300
	return strconv.Quote(guidon.Shorten(text, limit))
}

// ReferenceKey returns the key of the namespace in a reference, valid or not, and whether
// the reference names a state other than the current one. It does not replace an empty key.
func ReferenceKey(text string) (key string, past bool) {
	key, _, past = strings.Cut(text, referenceSign)
	return key, past
}

// ErrReference is the error of an operation that was given the reference to a state, but
// changes a namespace, follows it, or evaluates its flags.
func ErrReference(text string) error {
	return guidon.Errorf(guidon.InvalidArgument,
		"invalid namespace %s: must be a key; a reference to a state (key@revision or key@time) can only be read",
		quoteReference(text))
}

// IsCurrent reports whether the moment is that of the current state.
func (m Moment) IsCurrent() bool { return m == Moment{} }

// String returns the part of a reference after the "@".
func (m Moment) String() string {
	switch {
	case m.Revision > 0:
		return strconv.FormatInt(m.Revision, 10)
	case m.Time.IsZero():
		return ""
	}
	return m.Time.Format(time.RFC3339Nano)
}

// String returns the reference in the form that [ParseReference] accepts.
func (r Reference) String() string {
	if r.At.IsCurrent() {
		return r.Namespace
	}
	return r.Namespace + referenceSign + r.At.String()
}

// Admit reserves memory for a state that is computed, in bytes. It may be called more than
// once for one state, with the total, and its error ends the computation.
type Admit func(ctx context.Context, bytes int64) error

// ViewAt returns the state that the reference names. For the current state, it is
// [Service.View]. It returns NotFound if the namespace did not exist at that moment, if the
// revision is in the future, or if the state can no longer be computed because change
// records have been deleted; the error then names the oldest state that can.
//
// d is about the current state, from which an earlier one is computed: d.AtLeast does not
// select a state. admit may be nil.
func (s *Service) ViewAt(ctx context.Context, ref Reference, d Demand, admit Admit) (View, error) {
	ref.Namespace = guidon.NamespaceKey(ref.Namespace)
	if ref.At.IsCurrent() {
		return s.View(ctx, ref.Namespace, d)
	}
	view := View{State: State{Namespace: ref.Namespace}, clock: s.now}
	if d.AtLeast > 0 {
		if current, err := s.View(ctx, ref.Namespace, d); err != nil && !errors.Is(err, guidon.NotFound) {
			return View{State: current.State}, err // a deleted namespace has earlier states
		}
	}
	d.AtLeast, d.MayBeStale = 0, false
	snapshot, err := s.store.SnapshotAt(ctx, ref.Namespace, ref.At, d, admit)
	if err != nil {
		return view, err
	}
	view.Revision, view.Stamp = snapshot.Revision().Number, snapshot.Revision().Stamp
	view.see(snapshot, ref.At.Time)
	return view, nil
}

package servicetest

import (
	"context"
	"fmt"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/internal/flagtest"
	"github.com/guidonhq/guidon/service"
)

// editBuilder makes edits, and the state that they must result in.
type editBuilder struct {
	*model
	space  *space
	edits  service.Edits
	next   *state
	match  map[change.Object]match
	failed bool   // an object has changed since the revision that an edit names
	absent bool   // a flag to turn off or on does not exist, or cannot be turned on
	text   string // the edits in words
}

func (m *model) newEdits(s *space) *editBuilder {
	return &editBuilder{model: m, space: s, next: s.current().clone(), match: map[change.Object]match{}}
}

// edit makes several edits.
func (m *model) edit(s *space) attempt {
	e := m.newEdits(s)
	for _, i := range m.random.Perm(len(flagKeys))[:1+m.random.IntN(3)] {
		switch {
		case m.one(5):
			e.turnOff(flagKeys[i])
		case m.one(5):
			e.turnOn(flagKeys[i])
		default:
			e.flag(flagKeys[i], m.one(4))
		}
	}
	for _, i := range m.random.Perm(len(flagtest.RandomSegmentKeys))[:m.random.IntN(3)] {
		e.segment(flagtest.RandomSegmentKeys[i], m.one(4))
	}
	return e.attempt("Edit", func(ctx context.Context, w service.Write) (int64, error) {
		return revisionOf(m.service.Edit(ctx, w, s.key, e.edits))
	})
}

func (m *model) replaceFlag(s *space) attempt {
	e := m.newEdits(s)
	e.flag(m.flagKey(), false)
	edit := e.edits.Flags[0]
	return e.attempt("ReplaceFlag", func(ctx context.Context, w service.Write) (int64, error) {
		return revisionOf(m.service.ReplaceFlag(ctx, w, s.key, edit.Put.Key, edit.Put, edit.UnlessChangedSince))
	})
}

func (m *model) replaceSegment(s *space) attempt {
	e := m.newEdits(s)
	e.segment(m.segmentKey(), false)
	edit := e.edits.Segments[0]
	return e.attempt("ReplaceSegment", func(ctx context.Context, w service.Write) (int64, error) {
		return revisionOf(m.service.ReplaceSegment(ctx, w, s.key, edit.Put.Key, edit.Put, edit.UnlessChangedSince))
	})
}

// flag adds an edit of a flag.
func (e *editBuilder) flag(key string, deleted bool) {
	edit, have := service.FlagEdit{UnlessChangedSince: e.since(flagObject(key))}, e.next.flags[key]
	if deleted {
		edit.Delete = key
		delete(e.next.flags, key)
	} else {
		want := e.source.Flag(key)
		if have != nil {
			want = e.source.EditFlag(have)
		}
		edit.Put = service.FlagDocument(want).Flags[0]
		e.putFlag(e.next, want)
	}
	e.edits.Flags = append(e.edits.Flags, edit)
	e.describe(putOrDelete(deleted), flagObject(key), edit.UnlessChangedSince)
}

// turnOn adds an edit that turns a flag on.
func (e *editBuilder) turnOn(key string) {
	edit := service.FlagEdit{TurnOn: key, Everyone: e.random.IntN(2) == 0, UnlessChangedSince: e.since(flagObject(key))}
	if have := e.next.flags[key]; have == nil {
		e.absent = true
	} else {
		have = flagtest.Copy(have)
		switch v := turnOn(e.next, have, edit.Everyone); v {
		case invalid:
			e.absent = true
		case changes:
			e.next.flags[key] = have
		}
	}
	e.edits.Flags = append(e.edits.Flags, edit)
	e.describe("turn on", flagObject(key), edit.UnlessChangedSince)
}

// turnOff adds an edit that turns a flag off.
func (e *editBuilder) turnOff(key string) {
	edit, have := service.FlagEdit{TurnOff: key, UnlessChangedSince: e.since(flagObject(key))}, e.next.flags[key]
	switch {
	case have == nil:
		e.absent = true
	case !isOff(have):
		have = flagtest.Copy(have)
		turnOff(have)
		e.next.flags[key] = have
	}
	e.edits.Flags = append(e.edits.Flags, edit)
	e.describe("turn off", flagObject(key), edit.UnlessChangedSince)
}

func putOrDelete(deleted bool) string {
	if deleted {
		return "delete"
	}
	return "put"
}

// segment adds an edit of a segment.
func (e *editBuilder) segment(key string, deleted bool) {
	edit, have := service.SegmentEdit{UnlessChangedSince: e.since(segmentObject(key))}, e.next.segments[key]
	if deleted {
		edit.Delete = key
		delete(e.next.segments, key)
	} else {
		want := e.source.Segment(key)
		if have != nil {
			want = e.source.EditSegment(have)
		}
		edit.Put = service.SegmentDocument(want).Segments[0]
		e.putSegment(e.next, want)
	}
	e.edits.Segments = append(e.edits.Segments, edit)
	e.describe(putOrDelete(deleted), segmentObject(key), edit.UnlessChangedSince)
}

// putFlag puts the content of the flag into the state, unless it is there already.
func (m *model) putFlag(next *state, f *guidon.Flag) {
	if !flagRules.same(order, next.flags[f.Key], f) {
		next.flags[f.Key] = ranked(f)
	}
}

func (m *model) putSegment(next *state, g *guidon.Segment) {
	if !segmentRules.same(order, next.segments[g.Key], g) {
		next.segments[g.Key] = g
	}
}

// ranked returns a copy of the flag with the ranks 1, 2, 3, ….
func ranked(f *guidon.Flag) *guidon.Flag {
	out := flagtest.Copy(f)
	flagtest.Rank(out)
	return out
}

// since returns a condition for the edit of an object, or nil.
func (e *editBuilder) since(o change.Object) *int64 {
	e.match[o] = content
	if !e.one(3) {
		return nil
	}
	since := max(0, e.space.revision()-e.random.Int64N(4))
	e.failed = e.failed || e.space.lastChange(o) > since
	return &since
}

func (e *editBuilder) attempt(name string, run func(ctx context.Context, w service.Write) (int64, error)) attempt {
	x := expectation{next: e.next, match: e.match}
	switch {
	case !e.space.exists():
		x = failure(guidon.NotFound)
	case e.absent || !e.next.consistent():
		x = failure(guidon.InvalidArgument)
	case e.failed:
		x = failure(guidon.FailedPrecondition)
	case !e.next.linked():
		x = failure(guidon.InvalidArgument)
	}
	return attempt{space: e.space, name: name + e.text, run: run, expect: func() expectation { return x }}
}

// describe adds an edit to the text.
func (e *editBuilder) describe(what string, o change.Object, since *int64) {
	e.text += fmt.Sprintf(" %s %s %s", what, o.Kind, o.Key)
	if since != nil {
		e.text += fmt.Sprintf(" unless changed since %d", *since)
	}
}

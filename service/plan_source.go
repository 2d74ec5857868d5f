package service

import (
	"context"
	"iter"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

// bringing brings objects of a document, or of a state of a namespace, into the target.
//
// An import makes the same changes without it: one object at a time, so that it needs no
// second copy of a large document, while a plan has all of its changes in memory. They
// share the checks, and the comparison and merge of each object.
type bringing struct {
	PlanRequest
	source *Document        // as far as it may be selected, with the key of the target; nil if it is all of past
	from   State            // of the source, if it is a namespace
	past   *guidon.Snapshot // the source, if it is an earlier state of the target
}

// newBringing reads the state that the request refers to.
func (s *Service) newBringing(ctx context.Context, by Caller, d Demand, r PlanRequest, admit Admit) (*bringing, error) {
	view, err := s.sourceView(ctx, by, r.Source, d, admit)
	if err != nil {
		return nil, err
	}
	b := &bringing{PlanRequest: r, from: view.State}
	if view.Namespace == r.Namespace {
		b.past = view.Snapshot
	}
	if b.past != nil && b.everything() {
		return b, view.Export(false).Err()
	}
	b.source, err = b.sourceDocument(view)
	return b, err
}

// sourceView returns the state that a plan brings objects from. The caller must be allowed
// to read the namespace.
func (s *Service) sourceView(ctx context.Context, by Caller, source string, d Demand, admit Admit) (View, error) {
	ref, invalid := ParseReference(source)
	if a := by.Authentication; a != nil && !a.May(RoleViewer, ref.Namespace) {
		return View{}, Refusal(RoleViewer, ref.Namespace)
	}
	if invalid != nil {
		return View{}, invalid
	}
	d.AtLeast = 0 // it is about the target
	return s.ViewAt(ctx, ref, d, admit)
}

// sourceDocument returns what the request can select of the view: everything, or the
// selected objects with the segments that they refer to.
func (b *bringing) sourceDocument(v View) (*Document, error) {
	if b.everything() {
		export := v.Export(false)
		if err := export.Err(); err != nil {
			return nil, err
		}
		d := export.Document()
		d.Namespace = DocumentNamespace{Key: b.Namespace} // the target keeps its name
		return d, nil
	}
	d := &Document{Namespace: DocumentNamespace{Key: b.Namespace}}
	segments := map[string]bool{}
	add := func(key string) error {
		g := v.Snapshot.Segment(key)
		if g == nil || segments[key] {
			return nil
		}
		segments[key] = true
		d.Segments = append(d.Segments, NewDocumentSegment(g))
		return change.MustBeReadable(g)
	}
	for _, key := range b.Flags {
		if f := v.Snapshot.Flag(key); f != nil {
			d.Flags = append(d.Flags, NewDocumentFlag(f))
			if err := change.MustBeReadable(f); err != nil {
				return nil, err
			}
			for key := range f.SegmentKeys() {
				if err := add(key); err != nil {
					return nil, err
				}
			}
		}
	}
	for _, key := range b.Segments {
		if err := add(key); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// changedSince returns the objects of the past that are not those of the later state, as a
// document, and the keys of all others. An earlier state shares with a later one what has not
// changed, and a document of that would take most of the time.
func (b *bringing) changedSince(flags map[string]*guidon.Flag, segments map[string]*guidon.Segment) (d *Document, sameFlags, sameSegments map[string]bool) {
	d = &Document{Namespace: DocumentNamespace{Key: b.Namespace}}
	sameFlags, sameSegments = map[string]bool{}, map[string]bool{}
	share := b.Mode == ImportUpdate || b.Mode == ImportReplace // other modes treat existing objects alike
	for _, g := range b.past.Segments() {
		if share && !b.WithoutSegments && segments[g.Key] == g {
			sameSegments[g.Key] = true
		} else {
			d.Segments = append(d.Segments, NewDocumentSegment(g))
		}
	}
	for _, f := range b.past.Flags() {
		if share && flags[f.Key] == f {
			sameFlags[f.Key] = true
		} else {
			d.Flags = append(d.Flags, NewDocumentFlag(f))
		}
	}
	return d, sameFlags, sameSegments
}

// mayCreate implements proposal: a document creates namespaces, as with an import, and a
// deleted one can be restored as a whole.
func (b *bringing) mayCreate() bool {
	return b.Namespace != guidon.DefaultNamespace && (b.Document != nil || b.past != nil && b.everything())
}

// origin implements proposal.
func (b *bringing) origin() (string, int64) { return b.from.Namespace, b.from.Revision }

// reason implements proposal.
func (b *bringing) reason() change.Reason {
	switch {
	case b.Document != nil:
		return change.ImportReason()
	case b.past != nil:
		return change.RestoreReason(b.from.Revision)
	}
	return change.PromotionReason(b.from.Namespace, b.from.Revision)
}

// flagKeys implements proposal.
func (b *bringing) flagKeys() (keys map[string]bool, all bool) {
	if b.source == nil {
		return nil, true
	}
	selected := b.selection(change.KindFlag, b.Flags)
	keys = map[string]bool{}
	for _, f := range b.source.Flags {
		if f != nil && selected.take(f.Key) {
			keys[f.Key] = true
		}
	}
	return keys, b.Mode == ImportReplace
}

// segmentKeys returns the keys of the segments that the rules and rollouts refer to. A key
// occurs as often as it is referred to.
func (f *DocumentFlag) segmentKeys() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, r := range f.Rules {
			if r != nil && !yieldAll(r.SegmentKeys, yield) {
				return
			}
		}
		for _, r := range f.Rollouts {
			if r != nil && r.Segment != nil && !yieldAll(r.Segment.SegmentKeys, yield) {
				return
			}
		}
	}
}

func yieldAll(keys []string, yield func(string) bool) bool {
	for _, key := range keys {
		if !yield(key) {
			return false
		}
	}
	return true
}

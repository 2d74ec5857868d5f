package service

import (
	"context"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

// sourcePlan brings objects of a document, or of a state of a namespace, into the target.
//
// An import makes the same changes without it: one object at a time, so that it needs no
// second copy of a large document, while a plan has all of its changes in memory. They
// share the checks, and the comparison and merge of each object.
type sourcePlan struct {
	PlanRequest
	source *Document        // as far as it may be selected, with the key of the target; nil if it is all of past
	from   State            // of the source, if it is a namespace
	past   *guidon.Snapshot // the source, if it is an earlier state of the target
}

// newSourcePlan reads the state that the request refers to.
func (s *Service) newSourcePlan(ctx context.Context, by Caller, d Demand, r PlanRequest, admit Admit) (*sourcePlan, error) {
	view, err := s.sourceView(ctx, by, r.Source, d, admit)
	if err != nil {
		return nil, err
	}
	p := &sourcePlan{PlanRequest: r, from: view.State}
	if view.Namespace == r.Namespace {
		p.past = view.Snapshot
	}
	if p.past != nil && p.everything() {
		return p, view.Export(false).Err()
	}
	p.source, err = p.sourceDocument(view)
	return p, err
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

// sourceDocument returns the objects that the request can select of the view: all, or the
// selected objects with the segments that they refer to.
func (p *sourcePlan) sourceDocument(v View) (*Document, error) {
	if p.everything() {
		export := v.Export(false)
		if err := export.Err(); err != nil {
			return nil, err
		}
		d := export.Document()
		d.Namespace = DocumentNamespace{Key: p.Namespace} // the target keeps its name
		return d, nil
	}
	d := &Document{Namespace: DocumentNamespace{Key: p.Namespace}}
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
	for _, key := range p.Flags {
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
	for _, key := range p.Segments {
		if err := add(key); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// changedSince returns the objects of the past that are not those of the later state, as a
// document, and the keys of all others. An earlier state shares with a later one what has not
// changed, and a document of that would take most of the time.
func (p *sourcePlan) changedSince(
	flags map[string]*guidon.Flag, segments map[string]*guidon.Segment,
) (d *Document, sameFlags, sameSegments map[string]bool) {
	d = &Document{Namespace: DocumentNamespace{Key: p.Namespace}}
	sameFlags, sameSegments = map[string]bool{}, map[string]bool{}
	share := p.Mode == ImportUpdate || p.Mode == ImportReplace // other modes treat existing objects alike
	for _, g := range p.past.Segments() {
		if share && !p.WithoutSegments && segments[g.Key] == g {
			sameSegments[g.Key] = true
		} else {
			d.Segments = append(d.Segments, NewDocumentSegment(g))
		}
	}
	for _, f := range p.past.Flags() {
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
func (p *sourcePlan) mayCreate() bool {
	return p.Namespace != guidon.DefaultNamespace && (p.Document != nil || p.past != nil && p.everything())
}

// origin implements proposal.
func (p *sourcePlan) origin() (string, int64) { return p.from.Namespace, p.from.Revision }

// reason implements proposal.
func (p *sourcePlan) reason() change.Reason {
	switch {
	case p.Document != nil:
		return change.ImportReason()
	case p.past != nil:
		return change.RestoreReason(p.from.Revision)
	}
	return change.PromotionReason(p.from.Namespace, p.from.Revision)
}

// flagKeys implements proposal.
func (p *sourcePlan) flagKeys() (keys map[string]bool, all bool) {
	if p.source == nil {
		return nil, true
	}
	selected := p.selection(change.KindFlag, p.Flags)
	keys = map[string]bool{}
	for _, f := range p.source.Flags {
		if selected.take(f.Key) {
			keys[f.Key] = true
		}
	}
	return keys, p.Mode == ImportReplace
}

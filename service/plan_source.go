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
	source *Document        // with the key of the target
	stored bool             // the objects of source are not in the form of a document
	from   State            // of the source, if it is a namespace
	past   *guidon.Snapshot // the source, if it is an earlier state of the target
}

// newSourcePlan reads the state that the request refers to.
func (s *Service) newSourcePlan(ctx context.Context, by Caller, d Demand, r PlanRequest, admit Admit) (*sourcePlan, error) {
	view, err := s.sourceView(ctx, by, r.Source, d, admit)
	if err != nil {
		return nil, err
	}
	p := &sourcePlan{PlanRequest: r, stored: true, from: view.State, source: &Document{
		Namespace: DocumentNamespace{Key: r.Namespace}, // the target keeps its name
		Flags:     view.Snapshot.Flags(), Segments: view.Snapshot.Segments(),
	}}
	if view.Namespace == r.Namespace {
		p.past = view.Snapshot
	}
	if p.everything() {
		err = view.Export(false).Err()
	}
	return p, err
}

// restoresAll reports whether the plan restores an earlier state as a whole.
func (p *sourcePlan) restoresAll() bool { return p.past != nil && p.everything() }

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

// changedSince returns the objects of the past that are not those of the later state, and the
// keys of all others. An earlier state shares with a later one what has not changed, and a
// document of that would take most of the time.
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
			d.Segments = append(d.Segments, g)
		}
	}
	for _, f := range p.past.Flags() {
		if share && flags[f.Key] == f {
			sameFlags[f.Key] = true
		} else {
			d.Flags = append(d.Flags, f)
		}
	}
	return d, sameFlags, sameSegments
}

// mayCreate implements proposal: a document creates namespaces, as with an import, and a
// deleted one can be restored as a whole.
func (p *sourcePlan) mayCreate() bool {
	return p.Namespace != guidon.DefaultNamespace && (p.Document != nil || p.restoresAll())
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
	if p.restoresAll() {
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

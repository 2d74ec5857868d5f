package service

import (
	"context"
	"iter"
	"strings"

	"github.com/guidonhq/guidon"
)

// sourceView returns the state of the namespace that a plan brings objects from. The caller
// must be allowed to read it.
func (s *Service) sourceView(ctx context.Context, by Caller, source string, d Demand) (View, error) {
	namespace := SourceNamespace(source)
	if a := by.Authentication; a != nil && !a.May(RoleViewer, namespace) {
		return View{}, Refusal(RoleViewer, namespace)
	}
	d.AtLeast = 0 // it is about the target
	return s.View(ctx, source, d)
}

// SourceNamespace returns the key of the namespace in the name of one of its states, such as
// "shop" in "shop@412".
func SourceNamespace(source string) string {
	namespace, _, _ := strings.Cut(source, "@")
	return guidon.NamespaceKey(namespace)
}

// sourceDocument returns what the request can select of the view: everything, or the
// selected objects with the segments that they refer to.
func (p *planner) sourceDocument(v View) *Document {
	if p.everything() {
		d := v.Export(false).Document()
		d.Namespace = DocumentNamespace{Key: p.Namespace} // the target keeps its name
		return d
	}
	d := &Document{Namespace: DocumentNamespace{Key: p.Namespace}}
	segments := map[string]bool{}
	add := func(key string) {
		if g := v.Snapshot.Segment(key); g != nil && !segments[key] {
			segments[key] = true
			d.Segments = append(d.Segments, documentSegment(g))
		}
	}
	for _, key := range p.Flags {
		if f := v.Snapshot.Flag(key); f != nil {
			d.Flags = append(d.Flags, documentFlag(f))
			for key := range f.SegmentKeys() {
				add(key)
			}
		}
	}
	for _, key := range p.Segments {
		add(key)
	}
	return d
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

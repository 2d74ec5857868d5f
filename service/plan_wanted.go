package service

import (
	"maps"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

// wanting is the comparison of a source with one state of the target.
type wanting struct {
	*bringing
	wanted
	namespace *guidon.Namespace // nil if it does not exist
	flags     map[string]*guidon.Flag
	segments  map[string]*guidon.Segment
	document  *Document                                 // what is selected and not shared with the target
	same      struct{ flags, segments map[string]bool } // what is shared with it, by key
	now       time.Time
	problems
}

// wanted implements proposal.
func (b *bringing) wanted(base change.Objects, now time.Time) (*wanted, error) {
	w := &wanting{
		bringing: b, namespace: base.Namespace, now: now,
		flags:    make(map[string]*guidon.Flag, len(base.Flags)),
		segments: make(map[string]*guidon.Segment, len(base.Segments)),
	}
	for _, f := range base.Flags {
		w.flags[f.Key] = f
	}
	for _, g := range base.Segments {
		w.segments[g.Key] = g
	}
	source := b.source
	if source == nil {
		source, w.same.flags, w.same.segments = b.changedSince(w.flags, w.segments)
		w.unchanged = len(w.same.flags) + len(w.same.segments)
	}
	w.selectObjects(source)
	if err := checkPlanned(len(w.document.Flags) + len(w.document.Segments) + w.unchanged); err != nil {
		return nil, err
	}
	referable := w.check()
	if err := w.err(); err != nil {
		return nil, err
	}
	w.wantNamespace()
	for _, g := range w.document.Segments {
		w.wantSegment(g)
	}
	for _, f := range w.document.Flags {
		w.wantFlag(f)
	}
	if b.Mode == ImportReplace {
		w.deleteOthers(base, referable)
	}
	if err := checkPlanned(len(w.patch.Delete.Flags) + len(w.patch.Delete.Segments)); err != nil {
		return nil, err
	}
	return &w.wanted, nil
}

// checkPlanned returns TooLarge if a plan has so many objects that it is too large for a
// response.
func checkPlanned(objects int) error {
	if objects > maxPlanned {
		return guidon.Errorf(guidon.TooLarge, "a plan must not select or delete more than %d flags and segments; select fewer at a time, or import the document", maxPlanned)
	}
	return nil
}

// check finds the problems of what is selected, and replaces it by its normal form. It
// returns the segments that flags may refer to afterwards: those that come from the source
// and, unless the rest is deleted, those of the target.
func (w *wanting) check() map[string]bool {
	referable := map[string]bool{}
	maps.Copy(referable, w.same.segments)
	if w.Mode != ImportReplace {
		for key := range w.segments {
			referable[key] = true
		}
	}
	normal := &Document{Namespace: w.document.Namespace}
	w.document.normalize(&w.problems, referable,
		func(g *DocumentSegment) { normal.Segments = append(normal.Segments, g) },
		func(f *DocumentFlag) { normal.Flags = append(normal.Flags, f) })
	w.document = normal
	if w.Mode != ImportCreate {
		return referable
	}
	for _, f := range w.document.Flags {
		if w.flags[f.Key] != nil {
			w.add(notUnique("flag", w.Namespace, f.Key))
		}
	}
	for _, g := range w.document.Segments {
		if w.segments[g.Key] != nil {
			w.add(notUnique("segment", w.Namespace, g.Key))
		}
	}
	return referable
}

// wantNamespace puts the namespace if the plan creates or changes it.
func (w *wanting) wantNamespace() {
	switch {
	case !w.everything() && w.namespace != nil:
	case w.past != nil:
		w.patch.Put.Namespace = restoredNamespace(w.namespace, w.past.Namespace(), w.Mode, w.now)
	case w.Document != nil:
		w.patch.Put.Namespace = wantedNamespace(w.namespace, w.document.Namespace, w.Mode, w.now)
	}
}

func (w *wanting) wantSegment(want *DocumentSegment) {
	have := w.segments[want.Key]
	switch {
	case have == nil:
		have = &guidon.Segment{CreatedAt: w.now}
	case w.Mode == ImportSkipExisting:
		w.skipped = append(w.skipped, string(change.KindSegment)+"/"+want.Key)
		return
	case sameSegment(have, want):
		w.unchanged++
		return
	}
	w.patch.Put.Segments = append(w.patch.Put.Segments, mergeSegment(w.segmentBefore(have, want.Key), want, w.now))
}

func (w *wanting) wantFlag(want *DocumentFlag) {
	have := w.flags[want.Key]
	switch {
	case have == nil:
		have = &guidon.Flag{CreatedAt: w.now}
	case w.Mode == ImportSkipExisting:
		w.skipped = append(w.skipped, string(change.KindFlag)+"/"+want.Key)
		return
	case sameFlag(have, want):
		w.unchanged++
		return
	}
	w.patch.Put.Flags = append(w.patch.Put.Flags, mergeFlag(w.flagBefore(have, want.Key), want, w.now))
}

// deleteOthers deletes what the source does not have. segments are those that it has.
func (w *wanting) deleteOthers(base change.Objects, segments map[string]bool) {
	kept := w.document.flagKeys()
	for _, f := range base.Flags {
		if !kept[f.Key] && !w.same.flags[f.Key] {
			w.patch.Delete.Flags = append(w.patch.Delete.Flags, f.Key)
		}
	}
	for _, g := range base.Segments {
		if !segments[g.Key] {
			w.patch.Delete.Segments = append(w.patch.Delete.Segments, g.Key)
		}
	}
}

package service

import "github.com/guidonhq/guidon"

// selectObjects sets the document to what is selected of the source, in the order of the
// source, with what flags of the target keep, and with the segments that come along.
func (w *wanting) selectObjects() {
	w.document = &Document{Namespace: w.source.Namespace}
	flags := newSelection(w.planner, "flag", w.Flags)
	for _, f := range w.source.Flags {
		if f == nil || !flags.take(f.Key) {
			continue
		}
		if have := w.flags[f.Key]; have != nil {
			f = w.Keep.of(have, f)
		}
		w.document.Flags = append(w.document.Flags, f)
	}
	flags.end(&w.problems)
	w.selectSegments()
}

func (w *wanting) selectSegments() {
	segments := newSelection(w.planner, "segment", w.Segments)
	segments.all = segments.all && !w.WithoutSegments
	w.required = w.segmentsOfFlags()
	for _, g := range w.source.Segments {
		if g == nil {
			continue
		}
		selected := segments.take(g.Key)
		if selected {
			delete(w.required, g.Key)
		}
		if selected || w.required[g.Key] {
			w.document.Segments = append(w.document.Segments, g)
		}
	}
	segments.end(&w.problems)
}

// segmentsOfFlags returns the segments that come along with the selected flags.
func (w *wanting) segmentsOfFlags() map[string]bool {
	keys := map[string]bool{}
	if w.WithoutSegments {
		return keys
	}
	for _, f := range w.document.Flags {
		for key := range f.segmentKeys() {
			keys[key] = true
		}
	}
	return keys
}

// selection are the selected keys of one kind of object.
type selection struct {
	kind   string
	source string
	all    bool
	keys   []string
	found  map[string]bool // by key
}

func newSelection(p *planner, kind string, keys []string) *selection {
	s := &selection{kind: kind, source: p.Source, all: p.everything(), keys: keys, found: map[string]bool{}}
	for _, key := range keys {
		s.found[key] = false
	}
	return s
}

// take reports whether the object with the key is selected.
func (s *selection) take(key string) bool {
	if _, selected := s.found[key]; selected {
		s.found[key] = true
		return true
	}
	return s.all
}

// end adds a problem for each selected key that the source does not have.
func (s *selection) end(p *problems) {
	for _, key := range s.keys {
		if s.found[key] {
			continue
		}
		s.found[key] = true // once for each key
		if s.source == "" {
			p.add(guidon.Errorf(guidon.InvalidArgument, "%s %q is not in the document", s.kind, key))
		} else {
			p.add(guidon.Errorf(guidon.InvalidArgument, "%s %q not found in namespace %q", s.kind, key, s.source))
		}
	}
}

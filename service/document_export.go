package service

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/internal/lists"
)

// Export converts one state of a namespace to a document. Each object is created when
// the iterators reach it, so the document need not be in memory as a whole.
type Export struct {
	namespace *guidon.Namespace
	flags     []*guidon.Flag
	segments  []*guidon.Segment
	sorted    bool
	err       error
}

// Export returns the export of the state. Flags, segments and variants are in creation
// order or, if sortByKey is set, in the byte order of their keys (contract 13.5). Rules,
// rollouts and constraints keep their order, which is significant. The caller must check
// [Export.Err].
func (v View) Export(sortByKey bool) *Export {
	e := &Export{namespace: v.Snapshot.Namespace(), flags: v.Snapshot.Flags(), segments: v.Snapshot.Segments(), sorted: sortByKey}
	if sortByKey {
		e.flags, e.segments = slices.Clone(e.flags), slices.Clone(e.segments)
		slices.SortFunc(e.flags, func(a, b *guidon.Flag) int { return cmp.Compare(a.Key, b.Key) })
		slices.SortFunc(e.segments, func(a, b *guidon.Segment) int { return cmp.Compare(a.Key, b.Key) })
	}
	if flags, segments := v.Unreadable(); len(flags)+len(segments) > 0 {
		e.err = incompleteExport(flags, segments)
	}
	return e
}

// Err returns Unimplemented if a flag or segment of the state is unreadable, so that no
// document can have it.
func (e *Export) Err() error { return e.err }

// maxNamed limits the objects that an error names.
const maxNamed = 10

func incompleteExport(flags, segments []string) error {
	named := lists.Map(flags, func(key string) string { return fmt.Sprintf("flag %q", key) })
	for _, key := range segments {
		named = append(named, fmt.Sprintf("segment %q", key))
	}
	first := named[:min(len(named), maxNamed)]
	return guidon.UnreadableError("a document cannot have what needs a newer release of Guidon, or is damaged: "+
		strings.Join(first, ", ")+andMore(len(named)-len(first)), errors.New("the document would be incomplete"))
}

// Document returns the whole document.
func (e *Export) Document() *Document {
	return &Document{Namespace: e.Namespace(), Flags: slices.Collect(e.Flags()), Segments: slices.Collect(e.Segments())}
}

// Namespace returns the key of the namespace and its settings that are not empty.
func (e *Export) Namespace() DocumentNamespace { return documentNamespace(e.namespace) }

// Flags returns an iterator over the flags, which belong to the caller. It can be used
// more than once.
func (e *Export) Flags() iter.Seq[*guidon.Flag] {
	return func(yield func(*guidon.Flag) bool) {
		for _, f := range e.flags {
			d := NewDocumentFlag(f)
			if e.sorted {
				slices.SortFunc(d.Variants, func(a, b *guidon.Variant) int { return cmp.Compare(a.Key, b.Key) })
			}
			if !yield(d) {
				return
			}
		}
	}
}

// Segments returns an iterator over the segments, which belong to the caller. It can be
// used more than once.
func (e *Export) Segments() iter.Seq[*guidon.Segment] {
	return func(yield func(*guidon.Segment) bool) {
		for _, g := range e.segments {
			if !yield(NewDocumentSegment(g)) {
				return
			}
		}
	}
}

// DocumentOf returns the objects in the form of a document, or nil if there are none.
func DocumentOf(namespace string, o change.Objects) *Document {
	if o.Namespace == nil && len(o.Flags) == 0 && len(o.Segments) == 0 {
		return nil
	}
	d := &Document{Namespace: DocumentNamespace{Key: namespace}}
	if o.Namespace != nil {
		d.Namespace = documentNamespace(o.Namespace)
	}
	for _, f := range o.Flags {
		d.Flags = append(d.Flags, NewDocumentFlag(f))
	}
	for _, g := range o.Segments {
		d.Segments = append(d.Segments, NewDocumentSegment(g))
	}
	return d
}

func documentNamespace(n *guidon.Namespace) DocumentNamespace {
	d := DocumentNamespace{Key: n.Key, Name: n.Name, Description: n.Description, Color: n.Color}
	if n.ConfirmChanges {
		d.ConfirmChanges = new(true)
	}
	return d
}

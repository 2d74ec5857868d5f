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

// Export is one state of a namespace as a document. Each object is created when the iterators
// reach it, so the document need not be in memory as a whole. The objects belong to the caller.
type Export struct {
	Namespace DocumentNamespace // without settings that are empty
	Flags     iter.Seq[*guidon.Flag]
	Segments  iter.Seq[*guidon.Segment]
	err       error
}

// Export returns the export of the state. Flags, segments and variants are in creation
// order or, if sortByKey is set, in the byte order of their keys (contract 13.5). Rules,
// rollouts and constraints keep their order, which is significant. The caller must check
// [Export.Err].
func (v View) Export(sortByKey bool) *Export {
	flags, segments, document := v.Snapshot.Flags(), v.Snapshot.Segments(), NewDocumentFlag
	if sortByKey {
		flags = slices.SortedFunc(slices.Values(flags), func(a, b *guidon.Flag) int { return cmp.Compare(a.Key, b.Key) })
		segments = slices.SortedFunc(slices.Values(segments), func(a, b *guidon.Segment) int { return cmp.Compare(a.Key, b.Key) })
		document = func(f *guidon.Flag) *guidon.Flag {
			d := NewDocumentFlag(f)
			slices.SortFunc(d.Variants, func(a, b *guidon.Variant) int { return cmp.Compare(a.Key, b.Key) })
			return d
		}
	}
	e := &Export{documentNamespace(v.Snapshot.Namespace()), mapped(flags, document), mapped(segments, NewDocumentSegment), nil}
	if flags, segments := v.Unreadable(); len(flags)+len(segments) > 0 {
		e.err = incompleteExport(flags, segments)
	}
	return e
}

// mapped returns an iterator over what f makes of each item.
func mapped[T any](items []T, f func(T) T) iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, item := range items {
			if !yield(f(item)) {
				return
			}
		}
	}
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
	return &Document{Namespace: e.Namespace, Flags: slices.Collect(e.Flags), Segments: slices.Collect(e.Segments)}
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

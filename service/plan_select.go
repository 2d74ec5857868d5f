package service

import (
	"fmt"
	"slices"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

// selectObjects sets the document to the selected objects of the source, in the order of the
// source, with the parts that flags of the target keep, and with the segments that come along.
func (c *sourceComparison) selectObjects(source *Document) (err error) {
	c.document = &Document{Namespace: source.Namespace}
	c.required = map[string]bool{}
	flags := c.selection(change.KindFlag, c.Flags)
	for _, f := range source.Flags {
		if !flags.take(f.Key) {
			continue
		}
		if f, err = selected(c, flagObjects, f); err != nil {
			return err
		}
		result := f
		if have := c.flags[f.Key]; have != nil {
			result = c.Keep.of(have, f)
		}
		c.document.Flags = append(c.document.Flags, result)
		c.requireSegments(f, result)
	}
	flags.end(&c.problems)
	return c.selectSegments(source)
}

// selected returns a selected object in the form of a document.
func selected[O any](c *sourceComparison, k *objectKind[O], object *O) (*O, error) {
	if !c.stored {
		return object, nil
	}
	return k.document(object), change.MustBeReadable(object)
}

func (c *sourceComparison) selectSegments(source *Document) (err error) {
	segments := c.selection(change.KindSegment, c.Segments)
	segments.all = segments.all && !c.WithoutSegments
	for _, g := range source.Segments {
		if segments.take(g.Key) {
			delete(c.required, g.Key)
		} else if !c.required[g.Key] {
			continue
		}
		if g, err = selected(c, segmentObjects, g); err != nil {
			return err
		}
		c.document.Segments = append(c.document.Segments, g)
	}
	segments.end(&c.problems)
	return nil
}

// requireSegments adds the segments that come along with flag f of the source: those that
// result, which has the parts that the target keeps, refers to as well. To restore flags, only
// segments that do not exist come along.
func (c *sourceComparison) requireSegments(f, result *guidon.Flag) {
	if c.WithoutSegments {
		return
	}
	referred := slices.Collect(result.SegmentKeys())
	for key := range f.SegmentKeys() {
		if slices.Contains(referred, key) && (c.past == nil || c.segments[key] == nil) {
			c.required[key] = true
		}
	}
}

// selection returns the selection of the keys in the source.
func (p *sourcePlan) selection(kind change.Kind, keys []string) *selection {
	absent := "is not in the document"
	if p.Source != "" {
		absent = fmt.Sprintf("not found in namespace %q", p.Source)
	}
	return newSelection(kind, keys, p.everything(), absent)
}

// selection are the selected keys of one kind of object.
type selection struct {
	kind   change.Kind
	keys   []string
	all    bool
	absent string          // the text of the error about a key that is not found
	found  map[string]bool // by key
}

func newSelection(kind change.Kind, keys []string, all bool, absent string) *selection {
	s := &selection{kind: kind, keys: keys, all: all, absent: absent, found: map[string]bool{}}
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

// end adds a problem for each selected key that was not found.
func (s *selection) end(p *problems) {
	for _, key := range s.keys {
		if !s.found[key] {
			s.found[key] = true // once for each key
			p.add(guidon.Errorf(guidon.InvalidArgument, "%s %q %s", s.kind, key, s.absent))
		}
	}
}

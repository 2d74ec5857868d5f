package service

import (
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

// FlagDocument returns a document with only the flag, or nil if f is nil.
func FlagDocument(f *guidon.Flag) *Document { return flagObjects.alone("", flagObjects.documentOf(f)) }

// SegmentDocument returns a document with only the segment, or nil if g is nil.
func SegmentDocument(g *guidon.Segment) *Document {
	return segmentObjects.alone("", segmentObjects.documentOf(g))
}

// Objects returns the flags and segments that an import of the document into an empty
// namespace creates, with other ids and without times. It returns InvalidArgument with the
// problems of the document, as [Document.Validate] does, but flags may refer to segments
// that do not exist: a namespace that came from Flipt v1 can have such flags.
func (d *Document) Objects() (change.Objects, error) {
	known := d.referenced()
	if err := d.check(known); err != nil {
		return change.Objects{}, err
	}
	var p problems // none is left
	namespace := d.Namespace.merge(guidon.Namespace{Key: guidon.NamespaceKey(d.Namespace.Key)})
	objects := change.Objects{Namespace: &namespace}
	for _, g := range d.Segments {
		if g != nil {
			objects.Segments = append(objects.Segments, mergeSegment(nil, g.normalize(&p), time.Time{}))
		}
	}
	for _, f := range d.Flags {
		if f != nil {
			objects.Flags = append(objects.Flags, mergeFlag(nil, f.normalize(&p, known), time.Time{}))
		}
	}
	return objects, nil
}

// referenced returns the keys of the segments that flags of the document refer to.
func (d *Document) referenced() map[string]bool {
	keys := map[string]bool{}
	for _, f := range d.Flags {
		if f == nil {
			continue
		}
		for key := range f.outline().SegmentKeys() {
			keys[key] = true
		}
	}
	return keys
}

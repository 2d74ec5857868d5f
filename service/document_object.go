package service

import (
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

// FlagDocument returns a document with only the flag, or nil if f is nil.
func FlagDocument(f *guidon.Flag) *Document {
	if f == nil {
		return nil
	}
	return &Document{Flags: []*DocumentFlag{NewDocumentFlag(f)}}
}

// SegmentDocument returns a document with only the segment, or nil if g is nil.
func SegmentDocument(g *guidon.Segment) *Document {
	if g == nil {
		return nil
	}
	return &Document{Segments: []*DocumentSegment{NewDocumentSegment(g)}}
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
			objects.Segments = append(objects.Segments, mergeSegment(&guidon.Segment{}, g.normalize(&p), time.Time{}))
		}
	}
	for _, f := range d.Flags {
		if f != nil {
			objects.Flags = append(objects.Flags, mergeFlag(&guidon.Flag{}, f.normalize(&p, known), time.Time{}))
		}
	}
	return objects, nil
}

// referenced returns the keys of the segments that flags of the document refer to.
func (d *Document) referenced() map[string]bool {
	keys := map[string]bool{}
	add := func(some []string) {
		for _, key := range some {
			keys[key] = true
		}
	}
	for _, f := range d.Flags {
		if f == nil {
			continue
		}
		for _, r := range f.Rules {
			if r != nil {
				add(r.SegmentKeys)
			}
		}
		for _, r := range f.Rollouts {
			if r != nil && r.Segment != nil {
				add(r.Segment.SegmentKeys)
			}
		}
	}
	return keys
}

package service

import (
	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

// Segments returns a page of the segments, in creation order, as [View.Flags] does.
func (v View) Segments(request PageRequest) ([]*guidon.Segment, Page, error) {
	if err := request.Validate(); err != nil {
		return nil, Page{}, err
	}
	return paginate(readable(v, v.Snapshot.Segments()), request, segmentKey)
}

func segmentKey(g *guidon.Segment) string { return g.Key }

// Segment returns the segment. It returns NotFound if it does not exist, and Unimplemented if
// it is unreadable.
func (v View) Segment(key string) (*guidon.Segment, error) {
	if err := NotEmpty("key", key); err != nil {
		return nil, err
	}
	if g := v.Snapshot.Segment(key); g != nil {
		return g, change.MustBeReadable(g)
	}
	return nil, segmentNotFound(v.Namespace, key)
}

package service

import (
	"context"
	"errors"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

// objectKind describes flags or segments to the code that treats both alike.
type objectKind[O any] struct {
	kind     change.Kind
	key      func(o *O) *string
	normal   func(o *O, p *problems, segments map[string]bool) *O // as [normalFlag] does
	document func(have *O) *O                                     // in the form of a document, as all that is wanted
	same     func(have, want *O) bool                             // whether the content is the same
	edited   func(have, want *O, now time.Time) *O                // a copy of have, which may be nil, with the content of want
	in       func(d *Document) *[]*O                              // the objects of a document
	get      func(Tx, context.Context, string) (*O, error)        // as [Tx.Flag] does
	put      func(Tx, context.Context, *O) error                  // as [Tx.PutFlag] does
	patch    func(p *change.Patch) (put *[]*O, deleted *[]string)
	created  func(o *O) *time.Time

	// The rest is for merges. The versions may be nil.
	find   func(s *guidon.Snapshot, key string) *O
	ranked func(o *O) *O            // a copy whose ranks are positions, as in documents
	adopt  func(v mergeVersions[O]) // gives the parts that both sides have added the ids that they have in theirs
}

var flagObjects = &objectKind[guidon.Flag]{
	kind: change.KindFlag, key: func(f *guidon.Flag) *string { return &f.Key }, normal: normalFlag,
	document: NewDocumentFlag, same: sameFlag, edited: mergeFlag, get: Tx.Flag, put: Tx.PutFlag,
	in:    func(d *Document) *[]*guidon.Flag { return &d.Flags },
	patch: func(p *change.Patch) (*[]*guidon.Flag, *[]string) { return &p.Put.Flags, &p.Delete.Flags },
	find:  (*guidon.Snapshot).Flag, ranked: rankedFlag, adopt: adoptFlag,
	created: func(f *guidon.Flag) *time.Time { return &f.CreatedAt },
}

var segmentObjects = &objectKind[guidon.Segment]{
	kind: change.KindSegment, key: func(g *guidon.Segment) *string { return &g.Key }, normal: normalSegment,
	document: NewDocumentSegment, same: change.Same[guidon.Segment], edited: mergeSegment, get: Tx.Segment, put: Tx.PutSegment,
	in:    func(d *Document) *[]*guidon.Segment { return &d.Segments },
	patch: func(p *change.Patch) (*[]*guidon.Segment, *[]string) { return &p.Put.Segments, &p.Delete.Segments },
	find:  (*guidon.Snapshot).Segment, ranked: func(g *guidon.Segment) *guidon.Segment { return g }, adopt: adoptSegment,
	created: func(g *guidon.Segment) *time.Time { return &g.CreatedAt },
}

// alone returns a document of the namespace with only the object, or nil if that is nil.
func (k *objectKind[O]) alone(namespace string, object *O) *Document {
	if object == nil {
		return nil
	}
	d := &Document{Namespace: DocumentNamespace{Key: namespace}}
	*k.in(d) = []*O{object}
	return d
}

// checked returns the normal form of an edited object, whose key may be empty. It returns
// InvalidArgument with the problems of the object, which may refer to the segments.
func (k *objectKind[O]) checked(key string, edited *O, segments map[string]bool) (normal *O, err error) {
	put := *edited
	if err := checkEdited(key, k.key(&put)); err != nil {
		return nil, err
	}
	var p problems
	p.at(string(k.kind), func(p *problems) { normal = k.normal(&put, p, segments) })
	return normal, p.err()
}

// documentOf is document, or nil if the object is nil.
func (k *objectKind[O]) documentOf(have *O) *O {
	if have == nil {
		return nil
	}
	return k.document(have)
}

// stored returns the object with the key, or nil if it does not exist.
func (k *objectKind[O]) stored(ctx context.Context, tx Tx, key string) (*O, error) {
	object, err := k.get(tx, ctx, key)
	if errors.Is(err, guidon.NotFound) {
		return nil, nil
	}
	return object, err
}

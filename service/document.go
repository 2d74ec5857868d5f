package service

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

// Document is a namespace with its flags and segments, in the form of import and
// export files (contract 13.2). Package document reads and writes the files.
//
// Flags, segments and their parts have no ids and times. Instead of the ids of variants there
// are their keys. The rank of a rollout is its position, and so is that of a rule if it is 0.
// Lists have no nil.
type Document struct {
	Namespace DocumentNamespace
	Flags     []*guidon.Flag
	Segments  []*guidon.Segment
}

// Additions reports whether the document has something that neither Flipt nor a release of
// Guidon without additions reads (contract 13.3).
func (d *Document) Additions() bool {
	return slices.ContainsFunc(d.Flags, (*guidon.Flag).Additions) || slices.ContainsFunc(d.Segments, (*guidon.Segment).Additions)
}

// DocumentNamespace is the namespace of a document. An empty key means
// [guidon.DefaultNamespace].
type DocumentNamespace struct {
	Key            string
	Name           string
	Description    string
	Color          guidon.Color
	ConfirmChanges *bool // nil if the document does not say it
}

// Validate checks the document by all rules of the management API (contract 4), and
// that it contains everything it refers to. It returns InvalidArgument with one line
// for each of the first 50 problems, which starts with its path in the document.
func (d *Document) Validate() error {
	p := &problems{}
	d.normalize(p, map[string]bool{}, func(*guidon.Segment) {}, func(*guidon.Flag) {})
	d.checkRequirements(p)
	return p.err()
}

// Problems is Validate, but returns the problems one by one, at most limit of them, and how
// many more there are. Objects that are too large to be stored are among them.
func (d *Document) Problems(limit int) (found []Problem, more int) {
	p := &problems{limit: limit}
	d.normalize(p, map[string]bool{},
		func(g *guidon.Segment) { p.add(segmentObjects.checkSize(g)) }, func(f *guidon.Flag) { p.add(flagObjects.checkSize(f)) })
	d.checkRequirements(p)
	return p.found, p.more
}

// check is Validate, but rules may also refer to the segments in known, and requirements to any flags.
// It adds the document's segments to known.
func (d *Document) check(known map[string]bool) error {
	p := &problems{}
	d.normalize(p, known, func(*guidon.Segment) {}, func(*guidon.Flag) {})
	return p.err()
}

// normalize is check, but adds the problems to p, and calls segment and flag with the
// normal form of each object.
func (d *Document) normalize(p *problems, known map[string]bool, segment func(*guidon.Segment), flag func(*guidon.Flag)) {
	namespace := d.Namespace
	namespace.Key = guidon.NamespaceKey(namespace.Key)
	p.at("namespace", func(p *problems) { p.add(namespace.check()) })
	seen := map[string]bool{}
	for i, g := range d.Segments {
		p.item("segments", i, g.Key, func(p *problems) {
			p.checkUnique(seen, "segment", g.Key)
			segment(normalSegment(g, p, nil))
		})
		known[g.Key] = true
	}
	clear(seen)
	for i, f := range d.Flags {
		p.item("flags", i, f.Key, func(p *problems) {
			p.checkUnique(seen, "flag", f.Key)
			flag(normalFlag(f, p, known))
		})
	}
}

// merge returns a copy of the namespace with the settings of the document. Settings that are
// empty in the document stay as they are.
func (n DocumentNamespace) merge(have guidon.Namespace) guidon.Namespace {
	have.Name = cmp.Or(n.Name, have.Name)
	have.Description = cmp.Or(n.Description, have.Description)
	have.Color = cmp.Or(n.Color, have.Color)
	if n.ConfirmChanges != nil {
		have.ConfirmChanges = *n.ConfirmChanges
	}
	return have
}

func (n DocumentNamespace) check() error {
	n.Name = cmp.Or(n.Name, n.Key)
	return cmp.Or(checkNewKey(n.Key, n.Name), checkColor(n.Color), checkTexts(field{"name", n.Name}, field{"description", n.Description}))
}

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
		objects.Segments = append(objects.Segments, mergeSegment(nil, normalSegment(g, &p, nil), time.Time{}))
	}
	for _, f := range d.Flags {
		objects.Flags = append(objects.Flags, mergeFlag(nil, normalFlag(f, &p, known), time.Time{}))
	}
	return objects, nil
}

// referenced returns the keys of the segments that flags of the document refer to.
func (d *Document) referenced() map[string]bool {
	keys := map[string]bool{}
	for _, f := range d.Flags {
		for key := range f.SegmentKeys() {
			keys[key] = true
		}
	}
	return keys
}

// checkRequirements adds the problems of requirements, which must be about flags of the document.
func (d *Document) checkRequirements(p *problems) {
	if !slices.ContainsFunc(d.Flags, (*guidon.Flag).Linked) {
		return // without a copy of all flags
	}
	tx := newLinkTx(plannedFlags{changed: map[string]*guidon.Flag{}}, guidon.NamespaceKey(d.Namespace.Key))
	all := requirements{}
	for _, f := range d.Flags {
		_ = tx.PutFlag(context.Background(), f) // in memory, where nothing fails
		all[f.Key] = f.Requirements()
	}
	found, more := len(p.found), p.more
	d.eachRequiring(p, all, func(p *problems, f *guidon.Flag) { checkReferences(f, p, tx) })
	if len(p.found) > found || p.more > more {
		return // cycles are easier to find without them
	}
	d.eachRequiring(p, all, func(p *problems, f *guidon.Flag) { p.add(all.check([]string{f.Key}, new(int))) })
}

// eachRequiring calls check for each flag that has requirements.
func (d *Document) eachRequiring(p *problems, all requirements, check func(p *problems, f *guidon.Flag)) {
	for i, f := range d.Flags {
		if len(all[f.Key]) > 0 {
			p.item("flags", i, f.Key, func(p *problems) { check(p, f) })
		}
	}
}

func checkReferences(f *guidon.Flag, p *problems, tx *linkTx) {
	check := func(p *problems, stated []guidon.Requirement) {
		for i := range stated {
			if stated[i].FlagKey == "" {
				continue // another problem
			}
			p.entry("requires", i, func(p *problems) { p.add(tx.checkReference(context.Background(), f.Key, &stated[i])) })
		}
	}
	check(p, f.Requires)
	list := "rules"
	if f.Type == guidon.BooleanFlag {
		list = "rollouts"
	}
	for i, c := range f.EachConditions() {
		p.entry(list, i, func(p *problems) { check(p, c.Requires) })
	}
}

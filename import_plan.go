package guidon

import (
	"cmp"
	"time"
)

// importPlan is what an import puts and deletes.
type importPlan struct {
	namespace       *Namespace // nil: stays as it is
	segments        []*Segment
	flags           []*Flag
	deletedFlags    []string
	deletedSegments []string
	result          *ImportResult

	mode ImportMode
	now  time.Time
}

// planImport decides what an import does to the state, which it leaves alone.
func planImport(state importState, doc *Document, mode ImportMode, now time.Time) (*importPlan, error) {
	var stored []string
	if mode != ImportReplace { // which keeps only the document's segments
		for _, g := range state.segments {
			stored = append(stored, g.Key)
		}
	}
	normal, err := doc.withNamespace(state.key).normal(stored)
	if err != nil {
		return nil, err
	}
	p := &importPlan{mode: mode, now: now, result: &ImportResult{Namespace: state.key}}
	flags, segments := map[string]*Flag{}, map[string]*Segment{}
	for _, f := range state.flags {
		flags[f.Key] = f
	}
	for _, g := range state.segments {
		segments[g.Key] = g
	}
	if mode == ImportCreate {
		if err := mustAllBeNew(state.key, normal, flags, segments); err != nil {
			return nil, err
		}
	}
	p.planNamespace(state.namespace, normal.Namespace)
	for _, want := range normal.Segments {
		p.planSegment(segments[want.Key], want)
	}
	for _, want := range normal.Flags {
		p.planFlag(flags[want.Key], want)
	}
	if mode == ImportReplace {
		p.planDeletes(state, normal)
	}
	return p, nil
}

// withNamespace returns the document with the key that it is imported under.
func (d *Document) withNamespace(key string) *Document {
	out := *d
	out.Namespace.Key = key
	return &out
}

// mustAllBeNew returns the error of the first object that exists already, in
// the order of contract 13.4.
func mustAllBeNew(namespace string, d *Document, flags map[string]*Flag, segments map[string]*Segment) error {
	for _, f := range d.Flags {
		if flags[f.Key] != nil {
			return notUnique("flag", namespace, f.Key)
		}
	}
	for _, g := range d.Segments {
		if segments[g.Key] != nil {
			return notUnique("segment", namespace, g.Key)
		}
	}
	return nil
}

func (p *importPlan) planNamespace(have *Namespace, want DocumentNamespace) {
	if want.Key == DefaultNamespace {
		return
	}
	if have == nil {
		p.namespace = &Namespace{
			Key: want.Key, Name: cmp.Or(want.Name, want.Key), Description: want.Description,
			CreatedAt: p.now, UpdatedAt: p.now,
		}
		p.change(KindNamespace, want.Key, nil, &Document{Namespace: documentNamespace(p.namespace)})
		return
	}
	if p.mode != ImportUpdate && p.mode != ImportReplace {
		return
	}
	updated := *have
	updated.Name = cmp.Or(want.Name, have.Name)
	updated.Description = cmp.Or(want.Description, have.Description)
	if updated.Name == have.Name && updated.Description == have.Description {
		return
	}
	updated.UpdatedAt = p.now
	p.namespace = &updated
	p.change(KindNamespace, want.Key,
		&Document{Namespace: documentNamespace(have)}, &Document{Namespace: documentNamespace(&updated)})
}

func (p *importPlan) planSegment(have *Segment, want *DocumentSegment) {
	switch {
	case have == nil:
		p.segments = append(p.segments, mergeSegment(&Segment{CreatedAt: p.now}, want, p.now))
		p.change(KindSegment, want.Key, nil, p.segmentDocument(want))
	case p.mode == ImportSkipExisting:
		p.skip(KindSegment, want.Key)
	case sameSegment(have, want):
		p.result.Unchanged++
	default:
		p.segments = append(p.segments, mergeSegment(have, want, p.now))
		p.change(KindSegment, want.Key, p.segmentDocument(documentSegment(have)), p.segmentDocument(want))
	}
}

func (p *importPlan) planFlag(have *Flag, want *DocumentFlag) {
	switch {
	case have == nil:
		p.flags = append(p.flags, mergeFlag(&Flag{CreatedAt: p.now}, want, p.now))
		p.change(KindFlag, want.Key, nil, p.flagDocument(want))
	case p.mode == ImportSkipExisting:
		p.skip(KindFlag, want.Key)
	case sameFlag(have, want):
		p.result.Unchanged++
	default:
		p.flags = append(p.flags, mergeFlag(have, want, p.now))
		p.change(KindFlag, want.Key, p.flagDocument(documentFlag(have)), p.flagDocument(want))
	}
}

// planDeletes deletes what the document lacks.
func (p *importPlan) planDeletes(state importState, d *Document) {
	kept := map[string]bool{}
	for _, f := range d.Flags {
		kept[string(KindFlag)+"/"+f.Key] = true
	}
	for _, g := range d.Segments {
		kept[string(KindSegment)+"/"+g.Key] = true
	}
	for _, f := range state.flags {
		if !kept[string(KindFlag)+"/"+f.Key] {
			p.deletedFlags = append(p.deletedFlags, f.Key)
			p.change(KindFlag, f.Key, p.flagDocument(documentFlag(f)), nil)
		}
	}
	for _, g := range state.segments {
		if !kept[string(KindSegment)+"/"+g.Key] {
			p.deletedSegments = append(p.deletedSegments, g.Key)
			p.change(KindSegment, g.Key, p.segmentDocument(documentSegment(g)), nil)
		}
	}
}

func (p *importPlan) change(kind Kind, key string, before, after *Document) {
	action := ActionUpdate
	switch {
	case before == nil:
		action = ActionCreate
	case after == nil:
		action = ActionDelete
	}
	p.result.Changes = append(p.result.Changes, &ImportChange{
		Kind: kind, Key: key, Action: action, Before: before, After: after,
	})
}

func (p *importPlan) skip(kind Kind, key string) {
	p.result.Skipped = append(p.result.Skipped, string(kind)+"/"+key)
}

func (p *importPlan) flagDocument(f *DocumentFlag) *Document {
	return &Document{Namespace: DocumentNamespace{Key: p.result.Namespace}, Flags: []*DocumentFlag{f}}
}

func (p *importPlan) segmentDocument(g *DocumentSegment) *Document {
	return &Document{Namespace: DocumentNamespace{Key: p.result.Namespace}, Segments: []*DocumentSegment{g}}
}

package service

import (
	"context"
	"fmt"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

// undoPage is how many records are read at once to undo changes.
const undoPage = 1000

// undoneRecords returns what the changes that the request undoes did to each selected object: its
// first record, with the object as it was after the last one.
func (s *Service) undoneRecords(ctx context.Context, r PlanRequest, admit Admit) ([]*change.Record, error) {
	latest, err := s.LatestChange(ctx, r.Namespace)
	switch {
	case err != nil:
		return nil, err
	case latest == change.After(0):
		return nil, guidon.Errorf(guidon.NotFound, "namespace %q not found", r.Namespace)
	case r.Undo.Last > latest.Revision:
		return nil, guidon.Errorf(guidon.NotFound, "namespace %q has no revision %d yet; the current one is %d",
			r.Namespace, r.Undo.Last, latest.Revision)
	}
	reading := newUndoSelection(r)
	query := change.Query{
		Namespace: r.Namespace, Limit: undoPage,
		After: change.After(r.Undo.First - 1), Before: guidon.Position{Revision: r.Undo.Last + 1},
		Complete: r.everything() || r.Undo.Last > r.Undo.First,
	}
	for {
		page, err := s.store.Changes(ctx, query)
		switch {
		case err != nil:
			return nil, err
		case reading.read == 0 && !startsRange(page, r.Undo):
			return nil, guidon.Errorf(guidon.NotFound, "the changes of revision %d of namespace %q are no longer in the log",
				r.Undo.First, r.Namespace)
		case len(page) == 0:
			return reading.end()
		}
		if err := reading.add(ctx, page, admit); err != nil {
			return nil, err
		}
		query.After = page[len(page)-1].Cursor()
	}
}

// startsRange reports whether the records start with the first revision. Each revision has
// records, but some of them may have been deleted.
func startsRange(records []*change.Record, u *Undo) bool {
	return len(records) > 0 && records[0].Revision == u.First
}

// undoSelection collects the records to undo.
type undoSelection struct {
	flags, segments *selection
	namespace       bool // whether the namespace itself is selected
	first           map[change.Object]*change.Record
	records         []*change.Record // those that are first, in their order
	read            int
	size            int64 // of the objects in the records, in bytes
}

func newUndoSelection(r PlanRequest) *undoSelection {
	absent := fmt.Sprintf("was not changed in revision %d", r.Undo.First)
	if r.Undo.Last > r.Undo.First {
		absent = fmt.Sprintf("was not changed in revisions %d to %d", r.Undo.First, r.Undo.Last)
	}
	return &undoSelection{
		flags:     newSelection(change.KindFlag, r.Flags, r.everything(), absent),
		segments:  newSelection(change.KindSegment, r.Segments, r.everything(), absent),
		namespace: r.everything(),
		first:     map[change.Object]*change.Record{},
	}
}

func (u *undoSelection) selects(r *change.Record) bool {
	switch r.Kind {
	case change.KindFlag:
		return u.flags.take(r.Key)
	case change.KindSegment:
		return u.segments.take(r.Key)
	}
	return u.namespace
}

// add adds the selected records of a page, which it may modify.
func (u *undoSelection) add(ctx context.Context, page []*change.Record, admit Admit) error {
	u.read += len(page)
	for _, r := range page {
		if u.selects(r) {
			u.keep(r)
		}
	}
	if len(u.records) > maxPlanned {
		return guidon.Errorf(guidon.TooLarge, "these are changes of more than %d flags and segments; undo fewer revisions or objects at a time",
			maxPlanned)
	}
	if admit == nil {
		return nil
	}
	return admit(ctx, u.size)
}

// keep keeps the versions of each object before its first record and after its last one.
func (u *undoSelection) keep(r *change.Record) {
	o := change.Object{Kind: r.Kind, Key: r.Key}
	first := u.first[o]
	if first == nil {
		u.first[o], u.records = r, append(u.records, r)
		u.size += int64(len(r.Before) + len(r.After))
		return
	}
	u.size += int64(len(r.After) - len(first.After))
	first.After = r.After
}

// end returns the records that were kept, or InvalidArgument if nothing was changed of
// something that is selected.
func (u *undoSelection) end() ([]*change.Record, error) {
	var p problems
	u.flags.end(&p)
	u.segments.end(&p)
	return u.records, p.err()
}

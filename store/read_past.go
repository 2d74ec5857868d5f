package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
)

// freePast is the size of the changed objects up to which a state is computed without
// asking for memory, in bytes.
const freePast = 64 << 10

// maxPastRuns limits how often a state is computed again because meanwhile it needs more
// memory than was admitted.
const maxPastRuns = 3

// SnapshotAt implements [service.Store].
func (d *DB) SnapshotAt(
	ctx context.Context, namespace string, at service.Moment, _ service.Demand, admit service.Admit,
) (*guidon.Snapshot, error) {
	return d.LoadAt(ctx, namespace, at, nil, admit)
}

// LoadAt returns the state of the namespace at a moment, as [service.Store.SnapshotAt]
// does. It is computed from the current state, which is read as by [DB.Load], by undoing
// for each object the first change after the moment. The cost depends on what has changed
// since then, and not on the older records. No transaction is open while admit waits. The
// caller must not modify the snapshot, which may share objects with held.
func (d *DB) LoadAt(
	ctx context.Context, namespace string, at service.Moment, held *guidon.Snapshot, admit service.Admit,
) (*guidon.Snapshot, error) {
	if namespace == service.AuthenticationsKey || !storable(namespace) {
		return nil, namespaceNotFound(namespace)
	}
	p := past{namespace: namespace, at: at, held: held, admitted: freePast}
	for range maxPastRuns {
		snapshot, err := readValue(ctx, d, p.load)
		if !errors.Is(err, errNotAdmitted) {
			return snapshot, err
		}
		p.admitted = p.size
		if admit == nil {
			continue
		}
		if err := admit(ctx, p.size); err != nil {
			return nil, err
		}
	}
	return nil, unavailable("the namespace changes too fast for an earlier state to be computed; try again later", errNotAdmitted)
}

// errNotAdmitted ends the computation of a state that takes more memory than was admitted.
var errNotAdmitted = errors.New("store: memory for an earlier state was not admitted")

// past computes an earlier state of a namespace.
type past struct {
	namespace string
	at        service.Moment
	held      *guidon.Snapshot
	admitted  int64 // bytes
	size      int64 // the bytes needed; set by load if that is more than admitted
}

func (p *past) load(ctx context.Context, s *session) (*guidon.Snapshot, error) {
	var oldest horizon
	if err := oldest.query(ctx, s, p.namespace); err != nil {
		return nil, err
	}
	h, err := s.head(ctx, p.namespace)
	if err != nil {
		return nil, err
	}
	if !h.stored {
		return nil, namespaceNotFound(p.namespace)
	}
	number, err := p.resolve(ctx, s, h.revision.Number, oldest)
	if err != nil {
		return nil, err
	}
	revision, err := s.revisionAt(ctx, p.namespace, number, h.revision)
	if err != nil {
		return nil, err
	}
	later, err := p.current(ctx, s, h)
	if err != nil {
		return nil, err
	}
	u := undoReader{s: s, namespace: p.namespace, since: number, rewind: change.NewRewind(later, revision), room: p.admitted}
	if err := u.run(ctx, h.live); err != nil {
		p.size = u.used
		return nil, err
	}
	snapshot := u.rewind.Snapshot()
	if snapshot.Namespace() == nil {
		return nil, guidon.Errorf(guidon.NotFound, "namespace %q did not exist at %s", p.namespace, p.moment())
	}
	return snapshot, nil
}

// moment returns the moment in words.
func (p *past) moment() string {
	if p.at.Revision > 0 {
		return "revision " + p.at.String()
	}
	return p.at.String()
}

// current returns the current state of the namespace, which is empty if it was deleted.
func (p *past) current(ctx context.Context, s *session, h head) (*guidon.Snapshot, error) {
	switch {
	case !h.live:
		return guidon.NewSnapshot(nil, h.revision, nil, nil), nil
	case p.held != nil && p.held.Revision() == h.revision:
		return p.held, nil
	}
	return s.load(ctx, p.namespace, p.held)
}

// resolve returns the revision number of the moment, or why there is no such state. last is
// the current revision.
func (p *past) resolve(ctx context.Context, s *session, last int64, oldest horizon) (number int64, err error) {
	number = p.at.Revision
	if number <= 0 {
		micro := p.at.Time.UnixMicro()
		var found bool
		if number, found, err = s.revisionBefore(ctx, p.namespace, micro); err != nil {
			return 0, err
		}
		if number < oldest.revision && oldest.happenedAt <= micro {
			number = oldest.revision // its record has been deleted, the state is kept
		}
		if !found && oldest.revision == 0 {
			return 0, guidon.Errorf(guidon.NotFound, "namespace %q did not exist at %s", p.namespace, p.moment())
		}
	}
	switch {
	case number > last:
		return 0, guidon.Errorf(guidon.NotFound, "namespace %q has no revision %d yet; the current one is %d", p.namespace, number, last)
	case number < oldest.revision:
		return 0, guidon.Errorf(guidon.NotFound, "the state of namespace %q at %s is no longer available; the oldest one is revision %d, of %s",
			p.namespace, p.moment(), oldest.revision, time.UnixMicro(oldest.happenedAt).UTC().Format(time.RFC3339Nano))
	}
	return number, nil
}

const selectNextRevision = `SELECT revision, stamp FROM changes WHERE namespace_key = ? AND revision >= ? ORDER BY revision, seq LIMIT 1`

// revisionAt returns the revision with the number. Its stamp is that of the next revision
// if all of its own records have been deleted, which identifies the state as well.
func (s *session) revisionAt(ctx context.Context, namespace string, number int64, last guidon.Revision) (guidon.Revision, error) {
	if number == last.Number {
		return last, nil
	}
	revision := guidon.Revision{Number: number}
	var next int64
	_, err := s.row(ctx, selectNextRevision, []any{namespace, number}, &next, &revision.Stamp)
	return revision, err
}

// clockRecords is how many records are examined after the newest one by time. The clocks of
// instances need not agree, so some of these may be older.
const clockRecords = 1000

// selectNewestBefore reads the revision of the newest record by time that is not later than
// a time.
const selectNewestBefore = `SELECT revision FROM changes WHERE namespace_key = ? AND happened_at <= ? ORDER BY happened_at DESC LIMIT 1`

// selectBehind reads the revision of the last of the next clockRecords records after a
// revision that is not later than a time, or 0 if all of them are later. The comment is a hint for MySQL, which would
// otherwise sort all records after the revision.
var selectBehind = fmt.Sprintf(`SELECT COALESCE(MAX(n.revision), 0) FROM (SELECT /*+ INDEX(changes PRIMARY) */ revision, happened_at FROM changes
	WHERE namespace_key = ? AND revision > ? ORDER BY revision, seq LIMIT %d) n WHERE n.happened_at <= ?`, clockRecords)

// revisionBefore returns the last revision whose records are not later than a time, and
// reports whether there is one. It begins at the newest of these records by time, so its
// cost does not depend on the length of the log. Later revisions that a slow clock has dated
// before the time are found if they are among the next clockRecords records.
func (s *session) revisionBefore(ctx context.Context, namespace string, micro int64) (number int64, found bool, err error) {
	found, err = s.row(ctx, selectNewestBefore, []any{namespace, micro}, &number)
	if err != nil || !found {
		return 0, false, err
	}
	for {
		var behind int64
		if _, err := s.row(ctx, selectBehind, []any{namespace, number, micro}, &behind); err != nil || behind == 0 {
			return number, true, err
		}
		number = behind
	}
}

package store

import (
	"bytes"
	"context"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
)

// entry is the change of one object by a transaction, from its state before to its
// last state. An object that is deleted and put again has two entries, because the
// second gives it a new position in lists.
type entry struct {
	kind   change.Kind
	key    string
	before []byte // nil if it did not exist
	after  []byte // nil if it no longer exists
	seq    int32  // its position among the records of the revision
	unseen bool   // something changed that is not in the bodies: a token hash

	// listed is the position of the flag or segment in lists before the change. If it did not
	// exist, it is the former position that it returns to, or zero. It is zero for other objects.
	listed guidon.Position

	// created is set to the position of the record of the creation, once it is known. It
	// is nil for other changes.
	created *guidon.Position
}

func (e *entry) action() change.Action {
	switch {
	case e.before == nil:
		return change.ActionCreate
	case e.after == nil:
		return change.ActionDelete
	}
	return change.ActionUpdate
}

// event returns the kind of event that the change was.
func (e *entry) event() change.Event {
	c := change.Record{Kind: e.kind, Key: e.key, Action: e.action(), Before: e.before, After: e.after}
	return c.Event()
}

// isNoOp reports whether nothing is left of the change.
func (e *entry) isNoOp() bool {
	return !e.unseen && bytes.Equal(e.before, e.after) && (e.before == nil) == (e.after == nil)
}

// record collects the entries of one transaction in the order of first touch.
type record struct {
	by       service.Caller
	message  string
	reason   change.Reason
	revision guidon.Revision
	now      time.Time
	entries  []*entry
}

// newRecord returns the record of a transaction that begins now.
func newRecord(w service.Write, revision guidon.Revision) record {
	return record{by: w.By, message: w.Message, reason: w.Reason, revision: revision, now: transactionTime()}
}

func (r *record) add(kind change.Kind, key string, before, after []byte) *entry {
	e := &entry{kind: kind, key: key, before: before, after: after, seq: int32(len(r.entries))} // #nosec G115 -- far below 2^31 objects
	r.entries = append(r.entries, e)
	return e
}

// cursor returns the position of the entry in the change log.
func (r *record) cursor(e *entry) guidon.Position {
	return guidon.Position{Revision: r.revision.Number, Sequence: e.seq}
}

// position returns the position in lists of the object that the entry creates.
func (r *record) position(e *entry) guidon.Position {
	if e.listed != (guidon.Position{}) {
		return e.listed
	}
	return r.cursor(e)
}

// finalize drops the entries that change nothing, numbers the others without a gap
// and sets the positions of the created objects. It reports whether any entries are
// left.
func (r *record) finalize() bool {
	var kept []*entry
	for _, e := range r.entries {
		if e.isNoOp() {
			continue
		}
		e.seq = int32(len(kept)) // #nosec G115 -- far below 2^31 objects
		if e.created != nil {
			*e.created = r.cursor(e)
		}
		kept = append(kept, e)
	}
	r.entries = kept
	return len(kept) > 0
}

var changeColumns = []string{
	"namespace_key", "revision", "seq", "stamp", "kind", "object_key", "action",
	"actor", "actor_name", "actor_method", "happened_at", "request_id", "body_size", "before_body", "after_body", "event",
}

// write stores the entries as change records of the namespace.
func (r *record) write(ctx context.Context, s *session, namespace string) error {
	s.proof = &proof{namespace: namespace, revision: r.revision}
	by := r.by.Author()
	actor, name, method := storableKey(by.ID), storableText(by.Name), storableText(by.Method)
	insert := newInsert(s, "changes", changeColumns)
	for _, e := range r.entries {
		size := len(e.before) + len(e.after)
		insert.Add(ctx, size, namespace, r.revision.Number, e.seq, r.revision.Stamp,
			string(e.kind), e.key, string(e.action()),
			actor, name, method, r.now.UnixMicro(), storableText(r.by.RequestID),
			size, nullable(e.before), nullable(e.after), string(e.event()))
	}
	if err := insert.Flush(ctx); err != nil {
		return err
	}
	if err := r.writeNote(ctx, s, namespace); err != nil {
		return err
	}
	if err := r.writeDeletions(ctx, s, namespace); err != nil || namespace != service.AuthenticationsKey || r.by.Address == "" {
		return err
	}
	return r.writeAddress(ctx, s)
}

// writeNote stores why the entries were made, if that is known. It is stored once for the
// revision, however many entries there are.
func (r *record) writeNote(ctx context.Context, s *session, namespace string) error {
	if r.message == "" && r.reason == (change.Reason{}) {
		return nil
	}
	var reason []byte
	if r.reason != (change.Reason{}) {
		var err error
		if reason, err = encode(&r.reason); err != nil {
			return err
		}
	}
	return s.later(ctx, "INSERT INTO change_notes (namespace_key, revision, message, reason, reason_body) VALUES (?, ?, ?, ?, ?)",
		namespace, r.revision.Number, storableText(r.message), string(r.reason.Kind), nullable(reason))
}

var deletionColumns = []string{"namespace_key", "revision", "seq", "created_rev", "created_seq"}

// writeDeletions stores where the deleted flags and segments were in lists.
func (r *record) writeDeletions(ctx context.Context, s *session, namespace string) error {
	insert := newInsert(s, "change_deletions", deletionColumns)
	for _, e := range r.entries {
		if e.after != nil || e.listed == (guidon.Position{}) {
			continue
		}
		insert.Add(ctx, len(namespace), namespace, r.revision.Number, e.seq, e.listed.Revision, e.listed.Sequence)
	}
	return insert.Flush(ctx)
}

// writeAddress stores the address that the entries came from.
func (r *record) writeAddress(ctx context.Context, s *session) error {
	insert := newInsert(s, "change_addresses", []string{"revision", "seq", "address"})
	for _, e := range r.entries {
		insert.Add(ctx, len(r.by.Address), r.revision.Number, e.seq, r.by.Address)
	}
	return insert.Flush(ctx)
}

// nullable returns the body as a string, or nil (NULL) if there is none.
func nullable(body []byte) any {
	if body == nil {
		return nil
	}
	return string(body)
}

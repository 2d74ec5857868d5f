package store

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service"
)

// Authentications implements [service.Store].
func (d *DB) Authentications(ctx context.Context, _ service.Demand, _ string) (*service.AuthenticationSet, time.Duration, error) {
	set, err := d.LoadAuthentications(ctx, nil)
	return set, 0, err
}

// LoadAuthentications returns all stored authentications. If held, which may be nil,
// is an earlier set of the same database, only the authentications that have changed
// since are read, unless there are too many. If held is current, it is returned
// itself. The errors are those of [service.Store].
func (d *DB) LoadAuthentications(ctx context.Context, held *service.AuthenticationSet) (*service.AuthenticationSet, error) {
	if held != nil {
		current, err := d.isCurrent(ctx, service.AuthenticationsKey, held.Revision())
		if err != nil {
			return nil, err
		}
		if current {
			return held, nil
		}
	}
	return readValue(ctx, d, func(ctx context.Context, s *session) (*service.AuthenticationSet, error) {
		return s.loadAuthentications(ctx, held)
	})
}

func (s *session) loadAuthentications(ctx context.Context, held *service.AuthenticationSet) (*service.AuthenticationSet, error) {
	l := &lineage{}
	if held != nil {
		l.held, l.known = held.Revision(), true
	}
	if err := l.queryStamp(ctx, s, service.AuthenticationsKey); err != nil {
		return nil, err
	}
	h, err := s.head(ctx, service.AuthenticationsKey)
	if err != nil {
		return nil, err
	}
	var from guidon.Revision
	if l.descends(h.revision.Number) {
		from = l.held
	}
	from, delta, err := s.authenticationsSince(ctx, from, h.revision.Number, nil)
	if err != nil {
		return nil, err
	}
	delta.Revision = h.revision
	if from == (guidon.Revision{}) {
		return delta.Set(), nil
	}
	return held.Apply(delta), nil
}

// maxChanged limits the change records whose authentications are read by id, and the
// number of those. If there are more, all authentications are read.
const maxChanged = 500

// authenticationsSince returns the changes between two revisions. The entries are
// changes that have no change records yet. The returned revision is from, or the zero
// revision, that of the empty set, if reading everything is cheaper. The caller must
// set the revision of the delta.
func (s *session) authenticationsSince(
	ctx context.Context, from guidon.Revision, to int64, entries []*entry,
) (guidon.Revision, service.AuthenticationDelta, error) {
	changed, err := s.changedSince(ctx, from, to)
	if err != nil {
		return from, service.AuthenticationDelta{}, err
	}
	for _, e := range entries {
		changed.add(e.kind, e.key)
	}
	everything := !changed.complete || len(changed.authentications) > maxChanged
	var bindings *service.Bindings
	if everything || changed.bindings {
		if bindings, err = s.bindings(ctx); err != nil {
			return from, service.AuthenticationDelta{}, err
		}
	}
	if everything {
		all, err := s.authentications(ctx, "")
		return guidon.Revision{}, service.AuthenticationDelta{Created: inCreationOrder(all), Bindings: bindings}, err
	}
	if len(changed.authentications) == 0 {
		return from, service.AuthenticationDelta{Bindings: bindings}, nil
	}
	args := make([]any, 0, len(changed.authentications))
	for id := range changed.authentications {
		args = append(args, id)
	}
	stored, err := s.authentications(ctx, "WHERE id IN (?"+strings.Repeat(", ?", len(args)-1)+")", args...)
	delta := authenticationDelta(from, changed.authentications, stored)
	delta.Bindings = bindings
	return from, delta, err
}

// changedIDs are the authentications that changed between two revisions.
type changedIDs struct {
	authentications map[string]bool
	bindings        bool // some changed
	complete        bool // false if there are too many, or the first revision is that of the empty set
}

func (c *changedIDs) add(kind change.Kind, id string) {
	switch kind {
	case change.KindBinding:
		c.bindings = true
	case change.KindWebhook: // no part of the set
	default:
		c.authentications[id] = true
	}
}

// selectChangedSince reads the kinds and ids of the objects that have change records after a
// revision, some of them more than once. Unlike a column of the row, the records also show
// deletions, and the changes by servers of earlier releases, none of which writes an
// authentication without one. [DB.DeleteChanges] keeps the newest record of each. The order
// is that of the primary key: with DISTINCT instead, databases may read the whole log in the
// order of the ids.
const selectChangedSince = `SELECT kind, object_key FROM changes WHERE namespace_key = ? AND revision > ?` + oldestFirst

// changedSince returns the ids of the objects that changed between the revisions.
func (s *session) changedSince(ctx context.Context, from guidon.Revision, to int64) (*changedIDs, error) {
	changed := &changedIDs{authentications: map[string]bool{}}
	switch {
	case from == (guidon.Revision{}):
		return changed, nil
	case from.Number == to:
		changed.complete = true
		return changed, nil
	}
	records := 0
	err := s.rows(ctx, selectChangedSince, []any{service.AuthenticationsKey, from.Number, maxChanged + 1}, func(rows *sql.Rows) error {
		var kind, id string
		err := rows.Scan(&kind, &id)
		changed.add(change.Kind(kind), id)
		records++
		return err
	})
	changed.complete = records <= maxChanged
	return changed, err
}

// authenticationDelta returns the difference between a revision and the current state.
// stored are those of the changed authentications that exist.
func authenticationDelta(
	from guidon.Revision, changed map[string]bool, stored []*storedAuthentication,
) (delta service.AuthenticationDelta) {
	isNew := func(a *storedAuthentication) bool { return a.created.Revision > from.Number }
	for _, a := range stored {
		if !isNew(a) {
			delta.Changed = append(delta.Changed, a.Authentication)
			delete(changed, a.ID)
		}
	}
	delta.Created = inCreationOrder(slices.DeleteFunc(stored, func(a *storedAuthentication) bool { return !isNew(a) }))
	delta.Deleted = slices.Collect(maps.Keys(changed)) // includes those that were created again
	return delta
}

// storedAuthentication is a row of the table.
type storedAuthentication struct {
	*service.Authentication
	created guidon.Position
	body    []byte // nil once it is decoded
}

// authentications returns the authentications that the SQL clauses select. Sorting many
// of them is cheaper here than in the database, which would move the bodies.
func (s *session) authentications(ctx context.Context, clauses string, args ...any) ([]*storedAuthentication, error) {
	const columns = "SELECT token_hash, created_rev, created_seq, body FROM authentications "
	all, err := collect(ctx, s, columns+clauses, args, func(rows *sql.Rows) (*storedAuthentication, error) {
		a := &storedAuthentication{Authentication: new(service.Authentication)}
		return a, rows.Scan(&a.TokenHash, &a.created.Revision, &a.created.Sequence, &a.body)
	})
	if err != nil {
		return nil, err
	}
	return all, eachInParallel(len(all), func(i int) error {
		body := all[i].body
		all[i].body = nil
		return decode(body, all[i].Authentication)
	})
}

// inCreationOrder sorts the authentications.
func inCreationOrder(all []*storedAuthentication) []*service.Authentication {
	slices.SortFunc(all, func(a, b *storedAuthentication) int { return compareCursors(a.created, b.created) })
	return unwrap(all)
}

func unwrap(all []*storedAuthentication) []*service.Authentication {
	return lists.Map(all, func(a *storedAuthentication) *service.Authentication { return a.Authentication })
}

// UpdateAuthentications implements [service.Store].
func (d *DB) UpdateAuthentications(
	ctx context.Context, w service.Write, fn func(ctx context.Context, tx service.AuthenticationTx) error,
) error {
	return d.UpdateAuthenticationsMirrored(ctx, w, nil, fn)
}

// UpdateAuthenticationsMirrored is [DB.UpdateAuthentications] for a caller that keeps
// a copy of the authentications. If it succeeds, it advances the copy through mirror,
// which may be nil, as [service.Mirror] describes.
func (d *DB) UpdateAuthenticationsMirrored(
	ctx context.Context, w service.Write, mirror service.Mirror[service.AuthenticationDelta],
	fn func(ctx context.Context, tx service.AuthenticationTx) error,
) error {
	u := &update[service.AuthenticationDelta]{key: service.AuthenticationsKey, mirror: mirror}
	return u.end(d.writeTo(ctx, u.key, func(ctx context.Context, s *session) error {
		u.begin()
		tx, err := beginAuthentications(ctx, s, w, mirror)
		if err != nil {
			return err
		}
		err = fn(ctx, tx)
		tx.dead = true
		if err != nil {
			return err
		}
		return u.store(ctx, s, &tx.record, tx)
	}))
}

func beginAuthentications(
	ctx context.Context, s *session, w service.Write, mirror service.Mirror[service.AuthenticationDelta],
) (*authenticationTx, error) {
	c, err := s.claim(ctx, service.AuthenticationsKey)
	if err != nil {
		return nil, err
	}
	lineage, err := newLineage(ctx, s, service.AuthenticationsKey, mirror)
	if err != nil {
		return nil, err
	}
	if err := s.flush(ctx); err != nil {
		return nil, err
	}
	h, err := c.head()
	if err != nil {
		return nil, err
	}
	if !h.stored {
		return nil, errNoSeed
	}
	return &authenticationTx{
		s: s, lineage: lineage, record: newRecord(w, h.revision), changes: map[object]*entry{},
	}, nil
}

// authenticationTx is the [service.AuthenticationTx] of one run. Unlike flags,
// authentications are written immediately, so that queries see them. Only the change
// records are written at the end.
type authenticationTx struct {
	s       *session
	lineage *lineage
	record  record
	changes map[object]*entry
	dead    bool
}

// object identifies an authentication or a binding.
type object struct {
	kind change.Kind
	id   string
}

var _ service.AuthenticationTx = (*authenticationTx)(nil)

func (tx *authenticationTx) Now() time.Time { return tx.record.now }

func (tx *authenticationTx) Authentication(ctx context.Context, id string) (*service.Authentication, error) {
	if !storable(id) {
		return nil, authenticationNotFound(id)
	}
	found, err := tx.s.authentications(ctx, "WHERE id = ?", id)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, authenticationNotFound(id)
	}
	return found[0].Authentication, nil
}

func authenticationNotFound(id string) error {
	return guidon.Errorf(guidon.NotFound, "authentication %q not found", id)
}

// First relies on the revision of the authentications. It starts at 0, rises with
// every change and, unlike the rows and their change records, is never deleted.
func (tx *authenticationTx) First() bool { return tx.record.revision.Number == 1 }

func (tx *authenticationTx) OfOwner(ctx context.Context, owner string) ([]*service.Authentication, error) {
	found, err := tx.s.authentications(ctx, "WHERE id IN (SELECT authentication_id FROM authentication_subjects WHERE subject_hash = ?)",
		digestOf(owner))
	return inCreationOrder(found), err
}

func (tx *authenticationTx) OfMethod(ctx context.Context, method service.Method) ([]*service.Authentication, error) {
	found, err := tx.s.authentications(ctx, "WHERE method = ?", int32(method))
	return inCreationOrder(found), err
}

func (tx *authenticationTx) Expired(
	ctx context.Context, method service.Method, before time.Time, limit int,
) ([]*service.Authentication, error) {
	expired, err := tx.s.authentications(ctx, "WHERE method = ? AND expires_at < ? ORDER BY expires_at, id LIMIT ?",
		int32(method), ceilMicro(before), limit)
	return unwrap(expired), err
}

func (tx *authenticationTx) PutAuthentication(ctx context.Context, a *service.Authentication) error {
	if tx.dead {
		return errDead
	}
	if !storable(a.ID) || !storable(a.TokenHash) {
		return guidon.Errorf(guidon.InvalidArgument, "authentication %q cannot be stored", a.ID)
	}
	if err := tx.mustBeUnique(ctx, a); err != nil {
		return err
	}
	normalizeAuthentication(a)
	body, err := encode(a)
	if err != nil {
		return err
	}
	if len(body) > service.MaxObjectSize {
		return guidon.Errorf(guidon.TooLarge, "authentication %q is too large", a.ID)
	}
	before, hash, err := tx.stored(ctx, &authenticationTable, a.ID)
	if err != nil || string(before) == string(body) && string(hash) == a.TokenHash {
		return err
	}
	e, err := tx.put(ctx, &authenticationTable, a.ID, before, body, int32(a.Method), a.TokenHash, expiry(a))
	if err != nil {
		return err
	}
	e.unseen = e.unseen || before != nil && string(hash) != a.TokenHash
	return tx.index(ctx, a, before)
}

// index records whose the authentication is, unless the one with the body before has the same owner. A
// server of an earlier release leaves the row behind when it deletes the authentication, which is created
// again with the same id if a workload exchanges the same token again.
func (tx *authenticationTx) index(ctx context.Context, a *service.Authentication, before []byte) error {
	var replaced service.Authentication
	if (before == nil || decode(before, &replaced) == nil) && replaced.Owner() == a.Owner() { // nearly always
		return nil
	}
	if err := tx.s.later(ctx, deleteSubject, a.ID); err != nil || a.Owner() == "" {
		return err
	}
	_, err := tx.s.exec(ctx, "INSERT INTO authentication_subjects (authentication_id, subject_hash) VALUES (?, ?)", a.ID, digestOf(a.Owner()))
	return err
}

func (tx *authenticationTx) DeleteAuthentication(ctx context.Context, id string) error {
	return tx.delete(ctx, &authenticationTable, id)
}

// recordChange adds an entry for the authentication or binding, or updates the one that
// the transaction has.
func (tx *authenticationTx) recordChange(kind change.Kind, id string, before, after []byte) *entry {
	o := object{kind, id}
	e := tx.changes[o]
	if e == nil {
		e = tx.record.add(kind, id, before, after)
		tx.changes[o] = e
	}
	e.after = after
	return e
}

// write stores the change records.
func (tx *authenticationTx) write(ctx context.Context) error {
	return tx.record.write(ctx, tx.s, service.AuthenticationsKey)
}

func (tx *authenticationTx) mustBeUnique(ctx context.Context, a *service.Authentication) error {
	var other string
	found, err := tx.s.row(ctx, "SELECT id FROM authentications WHERE token_hash = ? AND id <> ?", []any{a.TokenHash, a.ID}, &other)
	if err != nil || !found {
		return err
	}
	return guidon.Errorf(guidon.InvalidArgument, "token is not unique")
}

// expiry returns when the authentication expires, in microseconds since 1970, or nil
// (NULL) if it does not.
func expiry(a *service.Authentication) any {
	if a.ExpiresAt.IsZero() {
		return nil
	}
	return a.ExpiresAt.UnixMicro()
}

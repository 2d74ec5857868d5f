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
	var set *service.AuthenticationSet
	err := d.read(ctx, func(ctx context.Context, s *session) error {
		var err error
		set, err = s.loadAuthentications(ctx, held)
		return err
	})
	if err != nil {
		return nil, err
	}
	return set, nil
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
	base := service.NewAuthenticationSet(guidon.Revision{}, nil)
	if l.descends(h.revision.Number) {
		base = held
	}
	from, delta, err := s.authenticationsSince(ctx, base.Revision(), h.revision.Number, nil)
	if err != nil {
		return nil, err
	}
	if from != base.Revision() {
		base = service.NewAuthenticationSet(from, nil)
	}
	delta.Revision = h.revision
	return base.Apply(delta), nil
}

// maxChanged is the largest number of changed authentications that are read by id. If
// more have changed, all authentications are read.
const maxChanged = 500

// authenticationsSince returns the changes between two revisions. The entries are
// changes that have no change records yet. The returned revision is from, or the zero
// revision, that of the empty set, if reading everything is cheaper. The caller must
// set the revision of the delta.
func (s *session) authenticationsSince(ctx context.Context, from guidon.Revision, to int64, entries []*entry) (guidon.Revision, service.AuthenticationDelta, error) {
	var delta service.AuthenticationDelta
	changed, err := s.changedAuthentications(ctx, from, to, entries)
	if err != nil {
		return from, delta, err
	}
	if from == (guidon.Revision{}) || len(changed) > maxChanged {
		delta.Created, err = s.authentications(ctx, "ORDER BY created_rev, created_seq")
		return guidon.Revision{}, delta, err
	}
	if len(changed) == 0 {
		return from, delta, nil
	}
	args := make([]any, 0, len(changed))
	for id := range changed {
		args = append(args, id)
	}
	err = s.rows(ctx, "SELECT token_hash, body, created_rev FROM authentications WHERE id IN (?"+
		strings.Repeat(", ?", len(args)-1)+") ORDER BY created_rev, created_seq", args, func(rows *sql.Rows) error {
		var created int64
		a, err := scanAuthentication(rows, &created)
		switch {
		case err != nil:
			return err
		case created > from.Number:
			delta.Created = append(delta.Created, a)
			return nil
		}
		delta.Changed = append(delta.Changed, a)
		delete(changed, a.ID)
		return nil
	})
	delta.Deleted = slices.Collect(maps.Keys(changed)) // includes those that were created again
	return from, delta, err
}

// changedAuthentications returns the ids of the authentications that changed between
// the revisions, and those of the entries.
func (s *session) changedAuthentications(ctx context.Context, from guidon.Revision, to int64, entries []*entry) (map[string]bool, error) {
	ids := make(map[string]bool, len(entries))
	for _, e := range entries {
		ids[e.key] = true
	}
	if from == (guidon.Revision{}) || from.Number == to {
		return ids, nil
	}
	err := s.rows(ctx, `SELECT DISTINCT object_key FROM changes WHERE namespace_key = ? AND revision > ?`,
		[]any{service.AuthenticationsKey, from.Number}, func(rows *sql.Rows) error {
			var id string
			err := rows.Scan(&id)
			ids[id] = true
			return err
		})
	return ids, err
}

// authentications returns the authentications that the SQL clauses select.
func (s *session) authentications(ctx context.Context, clauses string, args ...any) ([]*service.Authentication, error) {
	var all []*service.Authentication
	err := s.rows(ctx, "SELECT token_hash, body FROM authentications "+clauses, args, func(rows *sql.Rows) error {
		a, err := scanAuthentication(rows)
		all = append(all, a)
		return err
	})
	return all, err
}

// scanAuthentication scans token_hash, body and the further columns of a row.
func scanAuthentication(rows *sql.Rows, further ...any) (*service.Authentication, error) {
	a := new(service.Authentication)
	var body sql.RawBytes
	if err := rows.Scan(append([]any{&a.TokenHash, &body}, further...)...); err != nil {
		return nil, err
	}
	return a, decode(body, a)
}

// UpdateAuthentications implements [service.Store].
func (d *DB) UpdateAuthentications(ctx context.Context, w service.Write, fn func(ctx context.Context, tx service.AuthenticationTx) error) error {
	return d.UpdateAuthenticationsMirrored(ctx, w, nil, fn)
}

// UpdateAuthenticationsMirrored is [DB.UpdateAuthentications] for a caller that keeps
// a copy of the authentications. If it succeeds, it advances the copy through mirror,
// which may be nil, as [service.Mirror] describes.
func (d *DB) UpdateAuthenticationsMirrored(ctx context.Context, w service.Write, mirror service.Mirror[service.AuthenticationDelta], fn func(ctx context.Context, tx service.AuthenticationTx) error) error {
	var onUnchanged func() // set by a run that stores nothing
	err := d.writeTo(ctx, service.AuthenticationsKey, func(ctx context.Context, s *session) error {
		onUnchanged = nil
		tx, err := beginAuthentications(ctx, s, w.By, mirror)
		if err != nil {
			return err
		}
		err = fn(ctx, tx)
		tx.dead = true
		if err != nil {
			return err
		}
		stores := tx.record.finalize()
		steps, err := tx.steps(ctx, stores)
		if err != nil {
			return err
		}
		if !stores {
			onUnchanged = func() { steps.advance(mirror) }
			return errNothingStored
		}
		s.onCommit(service.AuthenticationsKey, tx.record.revision, steps.known, func() { steps.advance(mirror) })
		return tx.record.write(ctx, s, service.AuthenticationsKey)
	})
	if err == nil && onUnchanged != nil {
		onUnchanged()
	}
	return err
}

func beginAuthentications(ctx context.Context, s *session, by service.Caller, mirror service.Mirror[service.AuthenticationDelta]) (*authenticationTx, error) {
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
		s: s, lineage: lineage, record: record{by: by, revision: h.revision, now: transactionTime()}, changes: map[string]*entry{},
	}, nil
}

// authenticationTx is the [service.AuthenticationTx] of one run. Unlike flags,
// authentications are written immediately, so that queries see them. Only the change
// records are written at the end.
type authenticationTx struct {
	s       *session
	lineage *lineage
	record  record
	changes map[string]*entry
	dead    bool
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
	return found[0], nil
}

func authenticationNotFound(id string) error {
	return guidon.Errorf(guidon.NotFound, "authentication %q not found", id)
}

// First relies on the revision of the authentications. It starts at 0, rises with
// every change and, unlike the rows and their change records, is never deleted.
func (tx *authenticationTx) First() bool { return tx.record.revision.Number == 1 }

func (tx *authenticationTx) Expired(ctx context.Context, method service.Method, before time.Time, limit int) ([]*service.Authentication, error) {
	return tx.s.authentications(ctx, "WHERE method = ? AND expires_at < ? ORDER BY expires_at, id LIMIT ?",
		int32(method), ceilMicro(before), limit)
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
	before, hash, err := tx.stored(ctx, a.ID)
	switch {
	case err != nil:
		return err
	case before == nil:
		return tx.insert(ctx, a, body)
	case string(before) == string(body) && hash == a.TokenHash:
		return nil
	}
	e := tx.recordChange(a.ID, before, body)
	e.unseen = e.unseen || hash != a.TokenHash
	_, err = tx.s.exec(ctx, "UPDATE authentications SET method = ?, token_hash = ?, expires_at = ?, body = ? WHERE id = ?",
		int32(a.Method), a.TokenHash, expiry(a), string(body), a.ID)
	return err
}

func (tx *authenticationTx) insert(ctx context.Context, a *service.Authentication, body []byte) error {
	e := tx.recordChange(a.ID, nil, body)
	_, err := tx.s.exec(ctx,
		"INSERT INTO authentications (id, method, token_hash, expires_at, created_rev, created_seq, body) VALUES (?, ?, ?, ?, ?, ?, ?)",
		a.ID, int32(a.Method), a.TokenHash, expiry(a), tx.record.revision.Number, e.seq, string(body))
	return err
}

func (tx *authenticationTx) DeleteAuthentication(ctx context.Context, id string) error {
	if tx.dead {
		return errDead
	}
	before, _, err := tx.stored(ctx, id)
	if err != nil || before == nil {
		return err
	}
	tx.recordChange(id, before, nil)
	delete(tx.changes, id) // if put again, it is a new one
	_, err = tx.s.exec(ctx, "DELETE FROM authentications WHERE id = ?", id)
	return err
}

// stored returns the body and the token hash of the authentication, or a nil body if
// there is none.
func (tx *authenticationTx) stored(ctx context.Context, id string) (body []byte, hash string, err error) {
	if !storable(id) {
		return nil, "", nil
	}
	_, err = tx.s.row(ctx, "SELECT body, token_hash FROM authentications WHERE id = ?", []any{id}, &body, &hash)
	return body, hash, err
}

// recordChange adds an entry for the authentication, or updates the one that the
// transaction has.
func (tx *authenticationTx) recordChange(id string, before, after []byte) *entry {
	e := tx.changes[id]
	if e == nil {
		e = tx.record.add(change.KindAuthentication, id, before, after)
		tx.changes[id] = e
	}
	e.after = after
	return e
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

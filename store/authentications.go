package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/guidonhq/guidon"
)

// Authentications implements [guidon.Store].
func (d *DB) Authentications(ctx context.Context) (*guidon.AuthenticationSet, error) {
	return d.LoadAuthentications(ctx, nil)
}

// LoadAuthentications returns all stored authentications: held itself, which may
// be nil, when that is current.
func (d *DB) LoadAuthentications(ctx context.Context, held *guidon.AuthenticationSet) (*guidon.AuthenticationSet, error) {
	if held != nil {
		current, err := d.isCurrent(ctx, guidon.AuthenticationsKey, held.Revision())
		if err != nil {
			return nil, err
		}
		if current {
			return held, nil
		}
	}
	var set *guidon.AuthenticationSet
	err := d.read(ctx, func(ctx context.Context, s *session) error {
		h, err := s.head(ctx, guidon.AuthenticationsKey)
		if err != nil {
			return err
		}
		all, err := s.authentications(ctx, "ORDER BY created_rev, created_seq")
		set = guidon.NewAuthenticationSet(h.revision, all)
		return err
	})
	if err != nil {
		return nil, err
	}
	return set, nil
}

// authentications returns those that a condition and order select.
func (s *session) authentications(ctx context.Context, clauses string, args ...any) ([]*guidon.Authentication, error) {
	var all []*guidon.Authentication
	err := s.rows(ctx, "SELECT token_hash, body FROM authentications "+clauses, args, func(rows *sql.Rows) error {
		a := new(guidon.Authentication)
		var body sql.RawBytes
		if err := rows.Scan(&a.TokenHash, &body); err != nil {
			return err
		}
		all = append(all, a)
		return decode(body, a)
	})
	return all, err
}

// UpdateAuthentications implements [guidon.Store].
func (d *DB) UpdateAuthentications(ctx context.Context, fn func(ctx context.Context, tx guidon.AuthenticationTx) error) error {
	return d.writeTo(ctx, guidon.AuthenticationsKey, func(ctx context.Context, s *session) error {
		c, err := s.claim(ctx, guidon.AuthenticationsKey)
		if err != nil {
			return err
		}
		if err := s.flush(ctx); err != nil {
			return err
		}
		h, err := c.head()
		if err != nil {
			return err
		}
		if !h.stored {
			return errNoSeed
		}
		tx := &authenticationTx{s: s, record: record{revision: h.revision, now: transactionTime()}, changes: map[string]*entry{}}
		err = fn(ctx, tx)
		tx.dead = true
		if err != nil {
			return err
		}
		if !tx.record.settle() {
			return errNothingStored
		}
		return tx.record.write(ctx, s, guidon.AuthenticationsKey)
	})
}

// authenticationTx is the [guidon.AuthenticationTx] of one run. Unlike flags,
// authentications are written at once, so that the questions asked by SQL see
// them; only the change records wait for the end.
type authenticationTx struct {
	s       *session
	record  record
	changes map[string]*entry
	dead    bool
}

var _ guidon.AuthenticationTx = (*authenticationTx)(nil)

func (tx *authenticationTx) Now() time.Time { return tx.record.now }

func (tx *authenticationTx) Authentication(ctx context.Context, id string) (*guidon.Authentication, error) {
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

// First reads the revision of the authentications, which starts at 0, rises with
// every change and, unlike the rows and their change records, is never deleted.
func (tx *authenticationTx) First() bool { return tx.record.revision.Number == 1 }

func (tx *authenticationTx) Expired(ctx context.Context, method guidon.Method, before time.Time, limit int) ([]*guidon.Authentication, error) {
	return tx.s.authentications(ctx, "WHERE method = ? AND expires_at < ? ORDER BY expires_at, id LIMIT ?",
		int32(method), ceilMicro(before), limit)
}

func (tx *authenticationTx) PutAuthentication(ctx context.Context, a *guidon.Authentication) error {
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
	if len(body) > guidon.MaxObjectSize {
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
	e := tx.note(a.ID, before, body)
	e.unseen = e.unseen || hash != a.TokenHash
	_, err = tx.s.exec(ctx, "UPDATE authentications SET method = ?, token_hash = ?, expires_at = ?, body = ? WHERE id = ?",
		int32(a.Method), a.TokenHash, expiry(a), string(body), a.ID)
	return err
}

func (tx *authenticationTx) insert(ctx context.Context, a *guidon.Authentication, body []byte) error {
	e := tx.note(a.ID, nil, body)
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
	tx.note(id, before, nil)
	delete(tx.changes, id) // put again, it is a new one
	_, err = tx.s.exec(ctx, "DELETE FROM authentications WHERE id = ?", id)
	return err
}

// stored returns body and token hash under the id, or nil.
func (tx *authenticationTx) stored(ctx context.Context, id string) (body []byte, hash string, err error) {
	if !storable(id) {
		return nil, "", nil
	}
	_, err = tx.s.row(ctx, "SELECT body, token_hash FROM authentications WHERE id = ?", []any{id}, &body, &hash)
	return body, hash, err
}

// note records the change of one authentication.
func (tx *authenticationTx) note(id string, before, after []byte) *entry {
	e := tx.changes[id]
	if e == nil {
		e = tx.record.add(guidon.KindAuthentication, id, before, after)
		tx.changes[id] = e
	}
	e.after = after
	return e
}

func (tx *authenticationTx) mustBeUnique(ctx context.Context, a *guidon.Authentication) error {
	var other string
	found, err := tx.s.row(ctx, "SELECT id FROM authentications WHERE token_hash = ? AND id <> ?", []any{a.TokenHash, a.ID}, &other)
	if err != nil || !found {
		return err
	}
	return guidon.Errorf(guidon.InvalidArgument, "token is not unique")
}

// expiry returns when the authentication expires, or NULL for never.
func expiry(a *guidon.Authentication) any {
	if a.ExpiresAt.IsZero() {
		return nil
	}
	return a.ExpiresAt.UnixMicro()
}

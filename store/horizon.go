package store

import "context"

// horizon is the oldest state that can be computed; see the table change_horizons.
type horizon struct{ revision, happenedAt int64 }

const selectHorizon = `SELECT revision, happened_at FROM change_horizons WHERE namespace_key = ?`

// query reads the horizon together with the next statement.
func (h *horizon) query(ctx context.Context, s *session, namespace string) error {
	_, err := s.rowLater(ctx, selectHorizon, []any{namespace}, &h.revision, &h.happenedAt)
	return err
}

// extend moves the horizon to another one, unless that is before it.
func (h *horizon) extend(other horizon) {
	if other.revision > h.revision {
		*h = other
	}
}

// store moves the stored horizon of the namespace to h, unless h is before it. The caller
// must hold the lock of [session.lockReaders].
func (h horizon) store(ctx context.Context, s *session, namespace string) error {
	var stored horizon
	found, err := s.row(ctx, selectHorizon, []any{namespace}, &stored.revision, &stored.happenedAt)
	switch {
	case err != nil:
		return err
	case !found:
		_, err = s.exec(ctx, `INSERT INTO change_horizons (namespace_key, revision, happened_at) VALUES (?, ?, ?)`,
			namespace, h.revision, h.happenedAt)
	case h.revision > stored.revision:
		_, err = s.exec(ctx, `UPDATE change_horizons SET revision = ?, happened_at = ? WHERE namespace_key = ?`,
			h.revision, h.happenedAt, namespace)
	}
	return err
}

package store

import (
	"context"
	"database/sql"
	"slices"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service"
)

// bindings returns all stored bindings.
func (s *session) bindings(ctx context.Context) (*service.Bindings, error) {
	type row struct {
		binding *service.Binding
		created guidon.Position
	}
	const query = "SELECT created_rev, created_seq, body FROM bindings"
	all, err := collect(ctx, s, query, nil, func(rows *sql.Rows) (row, error) {
		r := row{binding: new(service.Binding)}
		var body []byte
		if err := rows.Scan(&r.created.Revision, &r.created.Sequence, &body); err != nil {
			return r, err
		}
		return r, decode(body, r.binding)
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b row) int { return compareCursors(a.created, b.created) })
	return service.NewBindings(lists.Map(all, func(r row) *service.Binding { return r.binding })), nil
}

func (tx *authenticationTx) Bindings(ctx context.Context) (*service.Bindings, error) {
	return tx.s.bindings(ctx)
}

func (tx *authenticationTx) PutBinding(ctx context.Context, b *service.Binding) error {
	if tx.dead {
		return errDead
	}
	if !storable(b.ID) {
		return guidon.Errorf(guidon.InvalidArgument, "binding %q cannot be stored", b.ID)
	}
	normalizeTimes(&b.CreatedAt)
	body, err := encode(b)
	if err != nil {
		return err
	}
	before, err := tx.storedBinding(ctx, b.ID)
	switch {
	case err != nil, string(before) == string(body):
		return err
	case before == nil:
		e := tx.recordChange(change.KindBinding, b.ID, nil, body)
		_, err = tx.s.exec(ctx, "INSERT INTO bindings (id, created_rev, created_seq, body) VALUES (?, ?, ?, ?)",
			b.ID, tx.record.revision.Number, e.seq, string(body))
		return err
	}
	tx.recordChange(change.KindBinding, b.ID, before, body)
	_, err = tx.s.exec(ctx, "UPDATE bindings SET body = ? WHERE id = ?", string(body), b.ID)
	return err
}

func (tx *authenticationTx) DeleteBinding(ctx context.Context, id string) error {
	if tx.dead {
		return errDead
	}
	before, err := tx.storedBinding(ctx, id)
	if err != nil || before == nil {
		return err
	}
	tx.recordChange(change.KindBinding, id, before, nil)
	delete(tx.changes, object{change.KindBinding, id})
	_, err = tx.s.exec(ctx, "DELETE FROM bindings WHERE id = ?", id)
	return err
}

// storedBinding returns the body of the binding, or nil if there is none.
func (tx *authenticationTx) storedBinding(ctx context.Context, id string) (body []byte, err error) {
	if !storable(id) {
		return nil, nil
	}
	_, err = tx.s.row(ctx, "SELECT body FROM bindings WHERE id = ?", []any{id}, &body)
	return body, err
}

package store

import (
	"context"
	"database/sql"
	"slices"

	"github.com/guidonhq/guidon"
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
	before, _, err := tx.stored(ctx, &bindingTable, b.ID)
	if err != nil || string(before) == string(body) {
		return err
	}
	_, err = tx.put(ctx, &bindingTable, b.ID, before, body)
	return err
}

func (tx *authenticationTx) DeleteBinding(ctx context.Context, id string) error {
	return tx.delete(ctx, &bindingTable, id)
}

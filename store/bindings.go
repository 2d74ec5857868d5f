package store

import (
	"context"
	"database/sql"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// bindings returns all stored bindings.
func (s *session) bindings(ctx context.Context) (*service.Bindings, error) {
	const query = "SELECT body FROM bindings ORDER BY created_rev, created_seq"
	all, err := collect(ctx, s, query, nil, func(rows *sql.Rows) (*service.Binding, error) {
		var body []byte
		if err := rows.Scan(&body); err != nil {
			return nil, err
		}
		b := new(service.Binding)
		return b, decode(body, b)
	})
	if err != nil {
		return nil, err
	}
	return service.NewBindings(all), nil
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

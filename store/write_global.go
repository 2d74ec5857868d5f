package store

import (
	"context"
	"slices"
	"strings"

	"github.com/guidonhq/guidon/change"
)

// globalTable is a table of objects that belong to no namespace, and have change records.
type globalTable struct {
	kind    change.Kind
	name    string
	hidden  string   // the column of what is not in the body, or that of the id
	columns []string // besides the id, the position and the body
	parts   []string // statements that delete what belongs to the object with an id
}

const (
	deleteSubject    = "DELETE FROM authentication_subjects WHERE authentication_id = ?"
	deleteFailures   = "DELETE FROM webhook_states WHERE webhook_id = ?"
	deleteDeliveries = "DELETE FROM webhook_deliveries WHERE webhook_id = ?"
)

var (
	authenticationTable = globalTable{
		change.KindAuthentication, "authentications", "token_hash", []string{"method", "token_hash", "expires_at"}, []string{deleteSubject},
	}
	bindingTable = globalTable{kind: change.KindBinding, name: "bindings", hidden: "id"}
	webhookTable = globalTable{
		change.KindWebhook, "webhooks", "private", []string{"private"}, []string{deleteFailures, deleteDeliveries},
	}
)

// stored returns the body of the object and what is hidden, or a nil body if there is none.
func (tx *authenticationTx) stored(ctx context.Context, t *globalTable, id string) (body, hidden []byte, err error) {
	if !storable(id) {
		return nil, nil, nil
	}
	_, err = tx.s.row(ctx, "SELECT body, "+t.hidden+" FROM "+t.name+" WHERE id = ?", []any{id}, &body, &hidden)
	return body, hidden, err
}

// put records the change of the object, whose body before is nil if it is a new one, and stores it with the
// values of the columns.
func (tx *authenticationTx) put(ctx context.Context, t *globalTable, id string, before, body []byte, values ...any) (*entry, error) {
	e := tx.recordChange(t.kind, id, before, body)
	columns, values := append(slices.Clone(t.columns), "body"), append(values, string(body))
	if before != nil {
		_, err := tx.s.exec(ctx, "UPDATE "+t.name+" SET "+strings.Join(columns, " = ?, ")+" = ? WHERE id = ?", append(values, id)...)
		return e, err
	}
	_, err := tx.s.exec(ctx, "INSERT INTO "+t.name+" (id, created_rev, created_seq, "+strings.Join(columns, ", ")+
		") VALUES (?, ?, ?"+strings.Repeat(", ?", len(columns))+")",
		append([]any{id, tx.record.revision.Number, e.seq}, values...)...)
	return e, err
}

// delete deletes the object if it exists.
func (tx *authenticationTx) delete(ctx context.Context, t *globalTable, id string) error {
	if tx.dead {
		return errDead
	}
	before, _, err := tx.stored(ctx, t, id)
	if err != nil || before == nil {
		return err
	}
	tx.recordChange(t.kind, id, before, nil)
	delete(tx.changes, object{t.kind, id}) // if put again, it is a new one
	for _, part := range t.parts {
		if err := tx.s.later(ctx, part, id); err != nil {
			return err
		}
	}
	_, err = tx.s.exec(ctx, "DELETE FROM "+t.name+" WHERE id = ?", id)
	return err
}

package store

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"time"

	"github.com/guidonhq/guidon/service"
)

var _ service.WebhookStore = (*DB)(nil)

// Webhooks implements [service.WebhookStore].
func (d *DB) Webhooks(ctx context.Context) ([]*service.Webhook, error) {
	return readValue(ctx, d, func(ctx context.Context, s *session) ([]*service.Webhook, error) { return s.webhooks(ctx) })
}

func (s *session) webhooks(ctx context.Context) ([]*service.Webhook, error) {
	const query = `SELECT body, private,
		(SELECT d.at FROM webhook_deliveries d WHERE d.webhook_id = w.id ORDER BY d.delivery_seq DESC LIMIT 1)
		FROM webhooks w ORDER BY created_rev, created_seq`
	return collect(ctx, s, query, nil, func(rows *sql.Rows) (*service.Webhook, error) {
		h := new(service.Webhook)
		var body, private []byte
		var last sql.NullInt64
		if err := rows.Scan(&body, &private, &last); err != nil {
			return nil, err
		}
		if last.Valid {
			h.LastAt = time.UnixMicro(last.Int64).UTC()
		}
		return h, errors.Join(decode(body, h), decode(private, &h.Private))
	})
}

func (tx *authenticationTx) Webhooks(ctx context.Context) ([]*service.Webhook, error) {
	return tx.s.webhooks(ctx)
}

func (tx *authenticationTx) PutWebhook(ctx context.Context, h *service.Webhook) error {
	if tx.dead {
		return errDead
	}
	normalizeTimes(&h.CreatedAt, &h.UpdatedAt, &h.StateSince, &h.PrivateAt, &h.SecretAt)
	body, err := encode(h)
	if err != nil {
		return err
	}
	private, err := encode(h.Private)
	if err != nil {
		return err
	}
	before, privateBefore, err := tx.stored(ctx, &webhookTable, h.ID)
	if err != nil || string(before) == string(body) && string(privateBefore) == string(private) {
		return err
	}
	_, err = tx.put(ctx, &webhookTable, h.ID, before, body, string(private))
	return err
}

func (tx *authenticationTx) DeleteWebhook(ctx context.Context, id string) error {
	return tx.delete(ctx, &webhookTable, id)
}

func (tx *authenticationTx) ForgetFailures(ctx context.Context, id string) error {
	return tx.s.later(ctx, deleteFailures, id)
}

// WebhookFailures implements [service.WebhookStore].
func (d *DB) WebhookFailures(ctx context.Context, id string) ([]service.WebhookFailure, error) {
	query, args := "SELECT webhook_id, namespace_key, part, attempts, next_at, failing_since FROM webhook_states", []any(nil)
	if id != "" {
		query, args = query+" WHERE webhook_id = ?", []any{id}
	}
	query += " ORDER BY webhook_id, namespace_key"
	return readRows(ctx, d, query, args, func(rows *sql.Rows) (f service.WebhookFailure, err error) {
		var next, since int64
		err = rows.Scan(&f.Webhook, &f.Namespace, &f.Part, &f.Attempts, &next, &since)
		f.NextAt, f.Since = time.UnixMicro(next).UTC(), time.UnixMicro(since).UTC()
		return f, err
	})
}

// RecordAttempt implements [service.WebhookStore].
func (d *DB) RecordAttempt(ctx context.Context, a *service.WebhookAttempt) error {
	return d.write(ctx, func(ctx context.Context, s *session) error {
		if a.Past != nil {
			if err := s.advance(ctx, service.WebhookReader(a.Webhook), a.From, a.Past); err != nil {
				return err
			}
		}
		number, err := s.nextDelivery(ctx, a.Webhook)
		if err != nil || number == 0 {
			return err
		}
		a.Number = number
		if err := s.putFailure(ctx, a); err != nil {
			return err
		}
		return s.addDelivery(ctx, &a.WebhookDelivery)
	})
}

// nextDelivery returns the number of the webhook's next delivery, or 0 if the webhook has been deleted.
func (s *session) nextDelivery(ctx context.Context, webhook string) (number int64, err error) {
	var last sql.NullInt64
	found, err := s.row(ctx, `SELECT (SELECT MAX(delivery_seq) FROM webhook_deliveries d WHERE d.webhook_id = w.id)
		FROM webhooks w WHERE w.id = ?`, []any{webhook}, &last)
	if err != nil || !found {
		return 0, err
	}
	return last.Int64 + 1, nil
}

func (s *session) putFailure(ctx context.Context, a *service.WebhookAttempt) error {
	err := s.later(ctx, "DELETE FROM webhook_states WHERE webhook_id = ? AND namespace_key = ?", a.Webhook, a.Namespace)
	if f := a.Failure; err == nil && f != nil {
		err = s.later(ctx, `INSERT INTO webhook_states (webhook_id, namespace_key, part, attempts, next_at, failing_since)
			VALUES (?, ?, ?, ?, ?, ?)`, a.Webhook, a.Namespace, f.Part, f.Attempts, f.NextAt.UnixMicro(), f.Since.UnixMicro())
	}
	return err
}

// addDelivery stores the delivery and deletes old ones.
func (s *session) addDelivery(ctx context.Context, v *service.WebhookDelivery) error {
	if err := s.later(ctx, "DELETE FROM webhook_deliveries WHERE webhook_id = ? AND (delivery_seq <= ? OR at < ?)",
		v.Webhook, v.Number-service.MaxDeliveries, v.At.Add(-service.KeepDeliveries).UnixMicro()); err != nil {
		return err
	}
	_, err := s.exec(ctx, `INSERT INTO webhook_deliveries
		(webhook_id, delivery_seq, namespace_key, revision, part, attempt, at, millis, status, error, answer)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		v.Webhook, v.Number, v.Namespace, v.Revision, v.Part, v.Attempt, v.At.UnixMicro(), v.Took.Milliseconds(), v.Status, v.Error, v.Answer)
	return err
}

// Deliveries implements [service.WebhookStore].
func (d *DB) Deliveries(ctx context.Context, id string, before int64, limit int) ([]*service.WebhookDelivery, error) {
	if !storable(id) {
		return nil, nil
	}
	if before == 0 {
		before = math.MaxInt64
	}
	const query = `SELECT delivery_seq, namespace_key, revision, part, attempt, at, millis, status, error, answer
		FROM webhook_deliveries WHERE webhook_id = ? AND delivery_seq < ? ORDER BY delivery_seq DESC LIMIT ?`
	return readRows(ctx, d, query, []any{id, before, limit}, func(rows *sql.Rows) (*service.WebhookDelivery, error) {
		v, at, millis := &service.WebhookDelivery{Webhook: id}, int64(0), int64(0)
		err := rows.Scan(&v.Number, &v.Namespace, &v.Revision, &v.Part, &v.Attempt, &at, &millis, &v.Status, &v.Error, &v.Answer)
		v.At, v.Took = time.UnixMicro(at).UTC(), time.Duration(millis)*time.Millisecond
		return v, err
	})
}

// Revisions returns the sum of all revisions, which differs after every change.
func (d *DB) Revisions(ctx context.Context) (sum int64, err error) {
	return readValue(ctx, d, func(ctx context.Context, s *session) (sum int64, err error) {
		_, err = s.row(ctx, "SELECT COALESCE(SUM(revision), 0) FROM namespaces", nil, &sum)
		return sum, err
	})
}

package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
)

func newWebhook(id string) *service.Webhook {
	at := time.Date(2024, 5, 6, 7, 8, 9, 123000, time.UTC)
	return &service.Webhook{
		ID: id, Name: "<" + id + ">", Namespace: "shop", Host: "https://receiver.example", Events: []service.Event{service.EventChange},
		Keys: []string{"pay-*"}, Format: service.FormatGuidon, State: service.WebhookActive, StateSince: at, PrivateAt: at, SecretAt: at, CreatedAt: at, UpdatedAt: at,
		Private: service.WebhookPrivate{
			URL: "https://receiver.example/secret-path", Headers: map[string]string{"X-Key": "secret-value"},
			Secrets: []service.WebhookSecret{{Value: "whsec_secret"}, {Value: "whsec_old", Until: at}},
		},
	}
}

func putWebhook(h *service.Webhook) tokenChange {
	return func(ctx context.Context, tx service.AuthenticationTx) error { return tx.PutWebhook(ctx, h) }
}

func wantWebhooks(t testing.TB, what string, s *store.DB, want ...*service.Webhook) {
	t.Helper()
	got, err := s.Webhooks(t.Context())
	mustSucceed(t, err)
	wantEqual(t, what, want, got)
}

// A webhook is kept with its private part, of which nothing is in records; the authentications
// change their revision and nothing else.
func testWebhookLifeCycle(t *testing.T, s *store.DB) {
	wantWebhooks(t, "at the start", s)
	before := authentications(t, s)
	b, a := newWebhook("b"), newWebhook("a")
	updateAuthentications(t, s, putWebhook(b))
	updateAuthentications(t, s, putWebhook(a))
	wantWebhooks(t, "created", s, b, a)
	if got := authentications(t, s); got.Revision().Number != before.Revision().Number+2 || len(got.All()) != len(before.All()) {
		t.Errorf("authentications: got revision %v and %d of them, want two more revisions and as many", got.Revision(), len(got.All()))
	}
	unchanged := authentications(t, s).Revision()
	updateAuthentications(t, s, putWebhook(newWebhook("b")))
	wantEqual(t, "the same again: revision", unchanged, authentications(t, s).Revision())
	b = newWebhook("b")
	b.Private.Secrets, b.UpdatedAt = b.Private.Secrets[:1], b.UpdatedAt.Add(time.Second)
	updateAuthentications(t, s, putWebhook(b))
	wantWebhooks(t, "one replaced", s, b, a)
	if err := s.RecordAttempt(t.Context(), &service.WebhookAttempt{
		WebhookDelivery: service.WebhookDelivery{Webhook: "b", Namespace: "shop"}, Failure: &service.WebhookFailure{Attempts: 1},
	}); err != nil {
		t.Fatal(err)
	}
	updateAuthentications(t, s, func(ctx context.Context, tx service.AuthenticationTx) error {
		return errors.Join(tx.DeleteWebhook(ctx, "b"), tx.DeleteWebhook(ctx, "nope"), tx.DeleteWebhook(ctx, "\x00"))
	})
	wantWebhooks(t, "one deleted", s, a)
	failures, err := s.WebhookFailures(t.Context(), "")
	deliveries, err2 := s.Deliveries(t.Context(), "b", 0, 10)
	if len(failures)+len(deliveries) != 0 || errors.Join(err, err2) != nil {
		t.Errorf("of the deleted one: got %v, %v, %v, %v, want nothing", failures, deliveries, err, err2)
	}
	records := allChanges(t, s, change.Query{Kind: change.KindWebhook})
	var actions []string
	for _, r := range records {
		actions = append(actions, fmt.Sprint(r.Action, " ", r.Key))
		text := string(r.Before) + string(r.After)
		for _, secret := range []string{"secret-path", "secret-value", "whsec"} {
			if strings.Contains(text, secret) || !strings.Contains(text, "receiver.example") {
				t.Errorf("record %d: got %s, want the host and no secret", r.Revision, text)
			}
		}
	}
	wantEqual(t, "records", []string{"create b", "create a", "update b", "delete b"}, actions)
}

// A delivery moves the cursor in the same transaction, or nothing is stored.
func testWebhookAttempts(t *testing.T, s *store.DB) {
	updateAuthentications(t, s, putWebhook(newWebhook("w")))
	mustSucceed(t, s.RegisterReader(t.Context(), "webhook:w"))
	putFlags(t, s, defaultNamespace, newFlag("a"))
	from, err := positionOf(t.Context(), s, "webhook:w", defaultNamespace)
	mustSucceed(t, err)
	records := allChanges(t, s, change.Query{Namespace: defaultNamespace})
	record := records[len(records)-1]
	at := time.Date(2024, 5, 6, 7, 8, 9, 123000, time.UTC)
	failure := service.WebhookFailure{Webhook: "w", Namespace: defaultNamespace, Part: 3, Attempts: 2, NextAt: at, Since: at.Add(-time.Hour)}
	delivery := service.WebhookDelivery{
		Webhook: "w", Namespace: defaultNamespace, Revision: 2, Part: 3, Attempt: 2, At: at, Took: 1500 * time.Millisecond,
		Status: 500, Error: "status 500", Answer: "no\n<b>",
	}
	mustSucceed(t, s.RecordAttempt(t.Context(), &service.WebhookAttempt{WebhookDelivery: delivery, Failure: &failure}))
	got, err := s.WebhookFailures(t.Context(), "w")
	mustSucceed(t, err)
	wantEqual(t, "failures", []service.WebhookFailure{failure}, got)
	if others, err := s.WebhookFailures(t.Context(), "other"); len(others) != 0 || err != nil {
		t.Errorf("of another: got %v, %v", others, err)
	}
	if all, err := s.Webhooks(t.Context()); err != nil || len(all) != 1 || !all[0].LastAt.Equal(at) {
		t.Errorf("got %+v, %v, want one whose last delivery was at %v", all, err, at)
	}
	done := &service.WebhookAttempt{WebhookDelivery: service.WebhookDelivery{Webhook: "w", Namespace: defaultNamespace, At: at, Status: 204}, From: from, Past: record}
	back := *done
	if back.Past = records[0]; s.RecordAttempt(t.Context(), &back) == nil {
		t.Error("a reader was moved back")
	}
	mustSucceed(t, s.RecordAttempt(t.Context(), done))
	if err := s.RecordAttempt(t.Context(), done); !errors.Is(err, guidon.FailedPrecondition) {
		t.Errorf("the same advance again: got %v, want FailedPrecondition", err)
	}
	if got, err := s.WebhookFailures(t.Context(), ""); len(got) != 0 || err != nil {
		t.Errorf("after a success: got %v, %v, want none", got, err)
	}
	wantPosition(t, s, "webhook:w", defaultNamespace, record.Cursor())
	deliveries, err := s.Deliveries(t.Context(), "w", 0, 10)
	delivery.Number = 1
	if len(deliveries) != 2 || err != nil || deliveries[0].Number != 2 || !cmp.Equal(*deliveries[1], delivery) {
		t.Errorf("deliveries: got %+v, %v, want the two that were stored", deliveries, err)
	}
}

// Deliveries are listed in pages, and bounded by number and age.
func testDeliveries(t *testing.T, s *store.DB) {
	updateAuthentications(t, s, putWebhook(newWebhook("w")))
	now := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	add := func(id string, at time.Time) {
		t.Helper()
		a := &service.WebhookAttempt{WebhookDelivery: service.WebhookDelivery{Webhook: id, At: at}}
		mustSucceed(t, s.RecordAttempt(t.Context(), a))
	}
	list := func(before int64, limit int) (numbers []int64) {
		t.Helper()
		got, err := s.Deliveries(t.Context(), "w", before, limit)
		mustSucceed(t, err)
		for _, v := range got {
			numbers = append(numbers, v.Number)
		}
		return numbers
	}
	add("deleted", now)
	for range 5 {
		add("w", now)
	}
	wantEqual(t, "pages", [][]int64{{5, 4}, {3, 2}, nil}, [][]int64{list(0, 2), list(4, 2), list(1, 2)})
	add("w", now.Add(service.KeepDeliveries+time.Second))
	wantEqual(t, "after a week", []int64{6}, list(0, 100))
	gone := service.WebhookAttempt{WebhookDelivery: service.WebhookDelivery{Webhook: "deleted"}, Failure: &service.WebhookFailure{Webhook: "deleted"}}
	mustSucceed(t, s.RecordAttempt(t.Context(), &gone))
	if got, err := s.Deliveries(t.Context(), "deleted", 0, 10); len(got) != 0 || err != nil {
		t.Errorf("of a webhook that does not exist: got %v, %v", got, err)
	}
	if got, err := s.WebhookFailures(t.Context(), "deleted"); len(got) != 0 || err != nil {
		t.Errorf("failures of a webhook that does not exist: got %v, %v", got, err)
	}
}

// A reader is moved back, and never forward.
func testRewindReader(t *testing.T, s *store.DB) {
	const reader = "webhook:w"
	if err := s.RewindReader(t.Context(), reader, defaultNamespace, 1); !errors.Is(err, guidon.NotFound) {
		t.Errorf("without a reader: got %v, want NotFound", err)
	}
	putFlags(t, s, defaultNamespace, newFlag("a"))
	putFlags(t, s, defaultNamespace, newFlag("b"), newFlag("c"))
	last := putFlags(t, s, defaultNamespace, newFlag("d"))
	mustSucceed(t, s.RegisterReader(t.Context(), reader))
	for _, tt := range []struct {
		revision int64
		want     guidon.Position
	}{
		{last, guidon.Position{Revision: 3, Sequence: 1}},
		{3, guidon.Position{Revision: 2}},
		{last, guidon.Position{Revision: 2}},
		{1, change.After(0)},
		{3, change.After(0)},
	} {
		mustSucceed(t, s.RewindReader(t.Context(), reader, defaultNamespace, tt.revision))
		wantPosition(t, s, reader, defaultNamespace, tt.want)
	}
	for namespace, revision := range map[string]int64{defaultNamespace: last + 1, "nowhere": 1} {
		if err := s.RewindReader(t.Context(), reader, namespace, revision); !errors.Is(err, guidon.InvalidArgument) {
			t.Errorf("%s@%d: got %v, want InvalidArgument", namespace, revision, err)
		}
	}
}

// The sum of revisions differs after every change of anything.
func testRevisions(t *testing.T, s *store.DB) {
	seen := map[int64]bool{}
	for _, write := range []func(){
		func() {}, func() { putFlags(t, s, defaultNamespace, newFlag("a")) }, func() { createNamespace(t, s, "shop") },
		func() { updateAuthentications(t, s, putWebhook(newWebhook("w"))) },
	} {
		write()
		sum, err := s.Revisions(t.Context())
		if seen[sum] || err != nil {
			t.Errorf("got %d, %v after %d changes, want another number", sum, err, len(seen))
		}
		seen[sum] = true
	}
}

package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
)

// What is changed after a webhook was created is delivered in order, signed, once for each revision, and listed.
func TestDelivers(t *testing.T) {
	i, r := newInstance(t), newReceiver(t, nil)
	i.put(t, flag("before"))
	h, secret := i.create(t, "default", service.WebhookInput{URL: r.URL + "/hook?a=b", Headers: map[string]string{"x-key": "value"}})
	i.put(t, flag("a"), flag("b"))
	i.run(t)
	i.put(t, flag("c"))
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	first, second := r.next(t), r.next(t)
	for _, got := range []*received{first, second} {
		if err := verifier.Verify(got.body, got.header); err != nil {
			t.Errorf("%s: %v", got.id(), err)
		}
		if got.header.Get("X-Key") != "value" || got.header.Get("User-Agent") != "Guidon/test" || got.header.Get("Content-Type") != "application/json" || got.path != "/hook" {
			t.Errorf("got %s %v", got.path, got.header)
		}
	}
	if want := h.ID + ".default@3.0"; first.id() != want {
		t.Errorf("got id %q, want %q", first.id(), want)
	}
	want := data{
		Namespace: "default", Revision: 3, Actor: &change.Actor{ID: "token:1", Name: "Mira"}, Message: "because",
		URL: "https://flags.example/base/namespaces/default/changes/3",
		Changes: []object{
			{Kind: "flag", Key: "a", Action: "create", Summary: `created (variant flag "Flag a")`},
			{Kind: "flag", Key: "b", Action: "create", Summary: `created (variant flag "Flag b")`},
		},
	}
	for n := range first.event.Data.Changes {
		var after guidon.Flag
		if err := json.Unmarshal(first.event.Data.Changes[n].After, &after); err != nil || after.Key != want.Changes[n].Key {
			t.Errorf("after: got %+v, %v", after, err)
		}
		first.event.Data.Changes[n].After = nil
	}
	if diff := cmp.Diff(want, first.event.Data); diff != "" || second.String() != "change 4 create flag c" {
		t.Errorf("then %s, (-want +got):\n%s", second, diff)
	}
	i.idle(t, h)
	deliveries, err := i.ListDeliveries(t.Context(), service.Caller{}, "default", h.ID, 0, 0)
	if err != nil || len(deliveries) != 2 || deliveries[0].Revision != 4 || deliveries[0].Status != 204 || deliveries[0].Error != "" {
		t.Errorf("deliveries: got %+v, %v", deliveries, err)
	}
	if s := i.deliverer.Stats(); s.Succeeded != 2 || s.Failed != 0 || s.States[service.WebhookActive] != 1 {
		t.Errorf("got %+v", s)
	}
}

// Only what a webhook selects is delivered; it passes over the rest.
func TestFilters(t *testing.T) {
	i, r := newInstance(t), newReceiver(t, nil)
	if _, _, err := i.CreateNamespace(t.Context(), service.Write{}, service.NamespaceInput{Key: "other", Name: "other"}); err != nil {
		t.Fatal(err)
	}
	input := func(in service.WebhookInput) service.WebhookInput { in.URL = r.URL; return in }
	hooks := map[string]*service.Webhook{}
	for _, h := range []struct {
		name, namespace string
		in              service.WebhookInput
	}{
		{"keys", "default", service.WebhookInput{Keys: []string{"pay-*", "exact"}}},
		{"segments", "default", service.WebhookInput{Kinds: []change.Kind{change.KindSegment}}},
		{"deletions", "default", service.WebhookInput{Actions: []change.Action{change.ActionDelete}}},
		{"elsewhere", "other", service.WebhookInput{}},
		{"webhooks", service.Everywhere, service.WebhookInput{Events: []service.Event{service.EventWebhook, service.EventBinding}}},
	} {
		h.in.Name = h.name
		hooks[h.name], _ = i.create(t, h.namespace, input(h.in))
	}
	i.put(t, flag("pay-a"), flag("other"), flag("exact"))
	i.put(t, flag("exactly"))
	for range 3 {
		i.put(t, &guidon.Flag{Key: "other", Name: time.Now().String()})
	}
	if _, _, err := i.CreateSegment(t.Context(), service.Write{}, "default", guidon.Segment{Key: "s", Name: "s"}); err != nil {
		t.Fatal(err)
	}
	if _, err := i.DeleteFlag(t.Context(), service.Write{}, "default", "other"); err != nil {
		t.Fatal(err)
	}
	if _, err := i.CreateBinding(t.Context(), service.Write{}, service.RoleViewer, "jwt:*", nil); err != nil {
		t.Fatal(err)
	}
	i.run(t)
	for _, h := range hooks {
		i.idle(t, h)
	}
	byHook := map[string][]string{}
	for len(r.got) > 0 {
		got := r.next(t)
		for name, h := range hooks {
			if strings.HasPrefix(got.id(), h.ID) {
				byHook[name] = append(byHook[name], strings.ReplaceAll(got.String(), got.event.Data.Changes[0].Key, "KEY"))
			}
		}
	}
	want := map[string][]string{
		"keys": {"change 2 create flag KEY create flag exact"}, "segments": {"change 7 create KEYegment KEY"}, "deletions": {"change 8 delete flag KEY"},
		"webhooks": {"webhook 5 create webhook KEY", "binding 6 create binding KEY"}, // its own creation too
	}
	if diff := cmp.Diff(want, byHook); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A large revision is delivered in parts, and an object that is too large is left out.
func TestParts(t *testing.T) {
	i, r := newInstance(t), newReceiver(t, nil)
	h, _ := i.create(t, "default", service.WebhookInput{URL: r.URL})
	var many []*guidon.Flag
	for n := range 250 {
		many = append(many, flag(fmt.Sprintf("f%03d", n)))
	}
	i.put(t, many...)
	large := flag("large")
	large.Description = strings.Repeat("<", 2<<20)
	i.put(t, large, flag("small"))
	i.run(t)
	var got []string
	for range 5 {
		next := r.next(t)
		got = append(got, fmt.Sprint(strings.TrimPrefix(next.id(), h.ID), " ", len(next.event.Data.Changes), " ", next.event.Data.Changes[0].Abridged))
		if len(next.body) > 1<<20 {
			t.Errorf("%s: got a body of %d bytes", next.id(), len(next.body))
		}
	}
	want := []string{".default@2.0 100 false", ".default@2.100 100 false", ".default@2.200 50 false", ".default@3.0 1 true", ".default@3.1 1 false"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	i.idle(t, h)
}

// What fails is tried again, with the same id and body, and what comes after it waits; other namespaces do not.
func TestRetries(t *testing.T) {
	i := newInstance(t)
	statuses := make(chan int, 10)
	r := newReceiver(t, func(w http.ResponseWriter, q *http.Request) {
		if !strings.HasSuffix(q.Header.Get("webhook-id"), "default@2.0") || len(statuses) == 0 {
			return
		}
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(<-statuses)
		fmt.Fprint(w, "no\x00 \xff<b>")
	})
	h, _ := i.create(t, service.Everywhere, service.WebhookInput{URL: r.URL})
	statuses <- 500
	statuses <- 404
	i.put(t, flag("a"))
	i.put(t, flag("b"))
	i.run(t)
	first := r.next(t)
	if _, _, err := i.CreateNamespace(t.Context(), service.Write{}, service.NamespaceInput{Key: "other", Name: "other"}); err != nil {
		t.Fatal(err)
	}
	var rest []*received
	for range 4 {
		rest = append(rest, r.next(t))
	}
	var ids []string
	for _, got := range rest {
		ids = append(ids, strings.TrimPrefix(got.id(), h.ID+"."))
	}
	slices.Sort(ids)
	if diff := cmp.Diff([]string{"default@2.0", "default@2.0", "default@3.0", "other@1.0"}, ids); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, got := range rest {
		if got.id() == first.id() && string(got.body) != string(first.body) {
			t.Error("the body of the second attempt differs")
		}
	}
	i.idle(t, h)
	deliveries, err := i.ListDeliveries(t.Context(), service.Caller{}, service.Everywhere, h.ID, 0, 0)
	if err != nil || len(deliveries) != 5 {
		t.Fatalf("got %d deliveries, %v, want 5", len(deliveries), err)
	}
	oldest := deliveries[4]
	if oldest.Status != 500 || oldest.Error != "status 500" || oldest.Answer != "no \uFFFD<b>" || oldest.Attempt != 1 {
		t.Errorf("the first: got %+v", oldest)
	}
	if view, err := i.Webhook(t.Context(), service.Caller{}, service.Everywhere, h.ID); err != nil || len(view.Failures) != 0 {
		t.Errorf("got %+v, %v, want no failures", view.Failures, err)
	}
}

// A receiver that is gone, or has failed for three days, stops its webhook; resumed, it goes on where it was.
func TestStops(t *testing.T) {
	i := newInstance(t)
	status := http.StatusGone
	r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
	gone, _ := i.create(t, "default", service.WebhookInput{URL: r.URL})
	i.put(t, flag("a"))
	stop := i.run(t)
	state := func(h *service.Webhook) service.WebhookState {
		view, err := i.Webhook(t.Context(), service.Caller{}, "default", h.ID)
		if err != nil {
			t.Fatal(err)
		}
		return view.State
	}
	eventually(t, "stopped by 410", func() bool { return state(gone) == service.WebhookStopped })
	stop()
	status = 200
	first := r.next(t)
	i.run(t)
	if _, err := i.ResumeWebhook(t.Context(), service.Write{}, "default", gone.ID); err != nil {
		t.Fatal(err)
	}
	if again := r.next(t); again.id() != first.id() {
		t.Errorf("after resume: got %s, want %s", again.id(), first.id())
	}
	records, _, _, err := i.ListChanges(t.Context(), service.Demand{}, change.Search{Query: change.Query{Kind: change.KindWebhook}}, "")
	if err != nil || len(records) != 3 || records[1].Actor.ID != "system:webhooks" || !strings.Contains(records[1].Summary(), "stopped") {
		t.Errorf("records: got %+v, %v, want one of the stop", records, err)
	}

	i.idle(t, gone)
	status = 500
	i.put(t, flag("b"))
	r.next(t)
	eventually(t, "a failure", func() bool { f, _ := i.db.WebhookFailures(t.Context(), gone.ID); return len(f) == 1 })
	old := time.Now().Add(-73 * time.Hour).UnixMicro()
	if _, err := i.db.SQL().ExecContext(t.Context(), "UPDATE webhook_states SET failing_since = ?, next_at = ?", old, old); err != nil {
		t.Fatal(err)
	}
	i.create(t, "default", service.WebhookInput{URL: r.URL + "/other"}) // a change
	eventually(t, "stopped after three days", func() bool { return state(gone) == service.WebhookStopped })
}

// 31 slow receivers do not delay the one that is not.
func TestSlowReceivers(t *testing.T) {
	i := newInstance(t)
	release := make(chan struct{})
	slow := newReceiver(t, func(http.ResponseWriter, *http.Request) { <-release })
	defer close(release)
	for range 31 {
		i.create(t, "default", service.WebhookInput{URL: slow.URL})
	}
	fast := newReceiver(t, nil)
	i.create(t, "default", service.WebhookInput{URL: fast.URL})
	i.put(t, flag("a"))
	i.run(t)
	for range 31 {
		slow.next(t)
	}
	for n := range 3 {
		begun := time.Now()
		i.put(t, flag(fmt.Sprint("b", n)))
		fast.next(t)
		if took := time.Since(begun); took > 5*time.Second {
			t.Errorf("delivered after %v", took)
		}
	}
}

// Replaying sends the same events again, from the revision on.
func TestReplay(t *testing.T) {
	i, r := newInstance(t), newReceiver(t, nil)
	h, _ := i.create(t, "default", service.WebhookInput{URL: r.URL})
	for _, key := range []string{"a", "b", "c"} {
		i.put(t, flag(key))
	}
	i.run(t)
	var first []string
	for range 3 {
		first = append(first, r.next(t).id())
	}
	i.idle(t, h)
	if _, err := i.ReplayWebhook(t.Context(), service.Write{}, "default", h.ID, 3); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first[1:], []string{r.next(t).id(), r.next(t).id()}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A process that stops leaves what is under way to its successor.
func TestStopsGracefully(t *testing.T) {
	i := newInstance(t)
	hang := make(chan struct{})
	r := newReceiver(t, func(_ http.ResponseWriter, q *http.Request) {
		select {
		case <-hang:
		case <-q.Context().Done():
		}
	})
	h, _ := i.create(t, "default", service.WebhookInput{URL: r.URL})
	i.put(t, flag("a"))
	stop := i.run(t)
	first := r.next(t)
	begun := time.Now()
	if stop(); time.Since(begun) > 3*time.Second {
		t.Errorf("stopped after %v", time.Since(begun))
	}
	close(hang)
	instanceOn(t, i.db).run(t)
	if again := r.next(t); again.id() != first.id() {
		t.Errorf("got %s, want %s again", again.id(), first.id())
	}
	i.idle(t, h)
	if deliveries, err := i.db.Deliveries(t.Context(), h.ID, 0, 10); err != nil || len(deliveries) != 1 {
		t.Errorf("got %+v, %v, want only the second attempt", deliveries, err)
	}
}

// A test is sent whatever the state, and says what came of it.
func TestTest(t *testing.T) {
	i, r := newInstance(t), newReceiver(t, nil)
	h, secret := i.create(t, "default", service.WebhookInput{Name: "n", URL: r.URL})
	if _, err := i.PauseWebhook(t.Context(), service.Write{}, "default", h.ID); err != nil {
		t.Fatal(err)
	}
	delivery, err := i.TestWebhook(t.Context(), service.Write{}, "default", h.ID)
	if err != nil || delivery.Status != 204 || delivery.Number != 1 {
		t.Fatalf("got %+v, %v", delivery, err)
	}
	got := r.next(t)
	verifier, _ := standardwebhooks.NewWebhook(secret)
	if err := verifier.Verify(got.body, got.header); err != nil || got.event.Type != "test" || got.event.Data.Message != "This is a test of the webhook n." {
		t.Errorf("got %s, %v", got.body, err)
	}
}

// After a rotation both secrets sign, until the overlap has ended.
func TestRotation(t *testing.T) {
	i, r := newInstance(t), newReceiver(t, nil)
	h, first := i.create(t, "default", service.WebhookInput{URL: r.URL})
	verifies := func(secret string) bool {
		t.Helper()
		if _, err := i.TestWebhook(t.Context(), service.Write{}, "default", h.ID); err != nil {
			t.Fatal(err)
		}
		verifier, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			t.Fatal(err)
		}
		got := r.next(t)
		return verifier.Verify(got.body, got.header) == nil
	}
	_, second, err := i.RotateWebhookSecret(t.Context(), service.Write{}, "default", h.ID, time.Hour)
	if err != nil || !verifies(first) || !verifies(second) {
		t.Errorf("one of both secrets does not verify (%v)", err)
	}
	_, third, err := i.RotateWebhookSecret(t.Context(), service.Write{}, "default", h.ID, 0)
	if err != nil || verifies(first) || verifies(second) || !verifies(third) {
		t.Errorf("not only the last secret verifies (%v)", err)
	}
}

// The clock of Lambda: everything that there is, once.
func TestDrain(t *testing.T) {
	i, r := newInstance(t), newReceiver(t, nil)
	h, _ := i.create(t, "default", service.WebhookInput{URL: r.URL})
	for n := range 150 {
		i.put(t, flag(fmt.Sprint("f", n)))
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := i.runner().Drain(ctx); err != nil || len(r.got) != 150 {
		t.Errorf("got %d deliveries, %v, want 150", len(r.got), err)
	}
	i.idle(t, h)
}

// A receiver that sends its requests elsewhere gets nothing there.
func TestRedirect(t *testing.T) {
	i := newInstance(t)
	target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }))
	defer target.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		r := newReceiver(t, func(w http.ResponseWriter, q *http.Request) { http.Redirect(w, q, target.URL, status) })
		h, _ := i.create(t, "default", service.WebhookInput{URL: r.URL})
		got, err := i.TestWebhook(t.Context(), service.Write{}, "default", h.ID)
		if want := fmt.Sprintf("status %d: redirects are not followed", status); err != nil || got.Error != want {
			t.Errorf("%d: got %+v, %v, want %q", status, got, err, want)
		}
	}
}

// A webhook that is deleted while there are changes to deliver leaves no reader behind.
func TestDeletedWhileDelivering(t *testing.T) {
	i := newInstance(t)
	var h *service.Webhook
	const turn = 100 // deliveries of a namespace, before it is the turn of others
	deliveries := 0
	r := newReceiver(t, func(w http.ResponseWriter, q *http.Request) {
		if deliveries++; deliveries > turn {
			if err := i.DeleteWebhook(q.Context(), service.Write{}, service.Everywhere, h.ID); err != nil {
				t.Error(err)
			}
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	h, _ = i.create(t, service.Everywhere, service.WebhookInput{URL: r.URL})
	for n := range turn + 1 {
		i.put(t, flag(fmt.Sprint("f", n)))
	}
	if _, _, err := i.CreateNamespace(t.Context(), service.Write{}, service.NamespaceInput{Key: "shop", Name: "Shop"}); err != nil {
		t.Fatal(err)
	}
	if err := i.runner().Drain(t.Context()); err != nil || deliveries != turn+1 {
		t.Errorf("got %d deliveries, %v, want %d", deliveries, err, turn+1)
	}
	if readers, err := i.db.Readers(t.Context()); len(readers) > 0 || err != nil {
		t.Errorf("got %v, %v, want no readers", readers, err)
	}
}

// A webhook that gets another URL and another secret sends nothing more to the old URL, or with the old secret, although there
// is much to deliver.
func TestUpdatedWhileDelivering(t *testing.T) {
	i := newInstance(t)
	var h *service.Webhook
	update := sync.OnceFunc(func() {
		in := service.WebhookInput{Name: "test", URL: h.Private.URL + "/new"}
		_, updateErr := i.UpdateWebhook(t.Context(), service.Write{}, "default", h.ID, in)
		if _, _, err := i.RotateWebhookSecret(t.Context(), service.Write{}, "default", h.ID, 0); err != nil || updateErr != nil {
			t.Error(err, updateErr)
		}
	})
	r := newReceiver(t, func(_ http.ResponseWriter, q *http.Request) {
		if update(); q.URL.Path != "/new" {
			<-q.Context().Done() // so slow that the change is noticed first
		}
	})
	h, secret := i.create(t, "default", service.WebhookInput{URL: r.URL})
	const changes = 90 // fewer than before it is the turn of others
	for n := range changes {
		i.put(t, flag(fmt.Sprint("f", n)))
	}
	i.run(t)
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	for {
		got := r.next(t)
		if !strings.HasSuffix(got.id(), fmt.Sprintf("@%d.0", changes+1)) {
			continue
		}
		if got.path != "/new" || verifier.Verify(got.body, got.header) == nil {
			t.Errorf("the last was sent to %s, or is signed by the old secret", got.path)
		}
		return
	}
}

// A webhook that has not been active for 30 days loses its reader, and says so; readers without a webhook go too.
func TestDetaches(t *testing.T) {
	i, r := newInstance(t), newReceiver(t, nil)
	old, _ := i.create(t, "default", service.WebhookInput{URL: r.URL})
	fresh, _ := i.create(t, "default", service.WebhookInput{URL: r.URL})
	left, _ := i.create(t, "default", service.WebhookInput{URL: r.URL})
	for _, h := range []*service.Webhook{old, fresh, left} {
		if _, err := i.PauseWebhook(t.Context(), service.Write{}, "default", h.ID); err != nil {
			t.Fatal(err)
		}
	}
	for _, reader := range []string{"webhook:orphan", "webhook:new", "other"} {
		if err := i.db.RegisterReader(t.Context(), reader); err != nil {
			t.Fatal(err)
		}
	}
	err := i.db.UpdateAuthentications(t.Context(), service.Write{}, func(ctx context.Context, tx service.AuthenticationTx) error {
		all, err := tx.Webhooks(ctx)
		if err != nil {
			return err
		}
		all[0].StateSince = time.Now().Add(-31 * 24 * time.Hour)
		all[2].Detached = true // by a process that ended then
		return errors.Join(tx.PutWebhook(ctx, all[0]), tx.PutWebhook(ctx, all[2]))
	})
	if err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-2 * time.Hour).UnixMicro()
	if _, err := i.db.SQL().ExecContext(t.Context(), "UPDATE change_readers SET created_at = ? WHERE reader_name NOT IN ('webhook:new')", long); err != nil {
		t.Fatal(err)
	}
	if targets, err := i.deliverer.Targets(t.Context()); err != nil || len(targets) != 0 {
		t.Errorf("got %v, %v, want no targets", targets, err)
	}
	readers, err := i.db.Readers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, reader := range readers {
		names = append(names, reader.Name)
	}
	if diff := cmp.Diff([]string{"other", service.WebhookReader(fresh.ID), "webhook:new"}, names); diff != "" {
		t.Errorf("readers (-want +got):\n%s", diff)
	}
	if view, err := i.Webhook(t.Context(), service.Caller{}, "default", old.ID); err != nil || !view.Detached {
		t.Errorf("got %+v, %v, want it to say that it has no reader", view.Webhook, err)
	}
}

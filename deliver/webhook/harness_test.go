package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/deliver"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
	"github.com/guidonhq/guidon/store/storetest"
)

// loopback are the networks of receivers in tests.
var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// instance is a service with webhooks on a new database.
type instance struct {
	*service.Service
	db        *store.DB
	deliverer *Deliverer
	logger    *slog.Logger
}

func newInstance(t *testing.T) *instance {
	t.Helper()
	db := storetest.NewSQLite(t)
	return instanceOn(t, db)
}

func instanceOn(t *testing.T, db *store.DB) *instance {
	t.Helper()
	i := &instance{db: db, logger: slog.New(slog.NewTextHandler(t.Output(), nil))}
	webhooks := &service.Webhooks{Store: db, AllowHTTP: true}
	i.Service = service.NewService(db, time.Now).WithWebhooks(webhooks)
	i.deliverer = NewDeliverer(Config{
		Service: i.Service, Store: db, PublicURL: "https://flags.example/base/", Logger: i.logger,
		Client: NewClient(ClientConfig{Version: "test", Allowed: loopback}),
	})
	webhooks.Send = i.deliverer.Test
	return i
}

func (i *instance) runner() *deliver.Runner {
	return deliver.NewRunner("webhooks", i.db, i.deliverer.Targets, i.logger)
}

// run delivers until the test ends, or the returned function is called.
func (i *instance) run(t *testing.T) (stop func()) {
	t.Helper()
	runner := i.runner()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		for ctx.Err() == nil {
			if err := runner.Run(ctx); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
			time.Sleep(10 * time.Millisecond)
		}
	})
	stop = func() { cancel(); running.Wait() }
	t.Cleanup(stop)
	return stop
}

// create creates a webhook and returns it with its secret.
func (i *instance) create(t *testing.T, namespace string, in service.WebhookInput) (*service.Webhook, string) {
	t.Helper()
	if in.Name == "" {
		in.Name = "test"
	}
	view, secret, err := i.CreateWebhook(t.Context(), service.Write{}, namespace, in)
	if err != nil {
		t.Fatal(err)
	}
	return view.Webhook, secret
}

// put stores flags in one revision.
func (i *instance) put(t *testing.T, flags ...*guidon.Flag) {
	t.Helper()
	by := service.Caller{Actor: change.Actor{ID: "token:1", Name: "Mira"}}
	_, err := i.db.Update(t.Context(), "default", service.Write{By: by, Message: "because"}, func(ctx context.Context, tx service.Tx) error {
		for _, f := range flags {
			if err := tx.PutFlag(ctx, f); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func flag(key string) *guidon.Flag { return &guidon.Flag{Key: key, Name: "Flag " + key} }

// received is a request that a receiver got.
type received struct {
	header http.Header
	path   string
	body   []byte
	event  event
}

func (r *received) id() string { return r.header.Get("webhook-id") }

// receiver is a server that records what it gets.
type receiver struct {
	*httptest.Server
	got chan *received
}

// newReceiver returns a receiver that answers by the function, or with 204.
func newReceiver(t *testing.T, answer http.HandlerFunc) *receiver {
	t.Helper()
	r := &receiver{got: make(chan *received, 1000)}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		if err != nil {
			t.Error(err)
		}
		got := &received{header: q.Header.Clone(), path: q.URL.Path, body: body}
		_ = json.Unmarshal(body, &got.event)
		r.got <- got
		if answer == nil {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		answer(w, q)
	}))
	t.Cleanup(r.Close)
	return r
}

// next returns what comes next.
func (r *receiver) next(t *testing.T) *received {
	t.Helper()
	select {
	case got := <-r.got:
		return got
	case <-time.After(30 * time.Second):
		t.Fatal("nothing was delivered within 30 seconds")
		return nil
	}
}

// eventually waits until the condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !holds(); {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within 30 seconds", what)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// idle waits until the reader of the webhook has passed everything.
func (i *instance) idle(t *testing.T, h *service.Webhook) {
	t.Helper()
	eventually(t, "idle", func() bool {
		changed, err := i.db.ChangedNamespaces(t.Context(), service.WebhookReader(h.ID), "", 10)
		if err != nil {
			t.Fatal(err)
		}
		return len(changed) == 0
	})
}

func (r *received) String() string {
	text := fmt.Sprint(r.event.Type, " ", r.event.Data.Revision)
	for _, o := range r.event.Data.Changes {
		text += fmt.Sprintf(" %s %s %s", o.Action, o.Kind, o.Key)
	}
	return text
}

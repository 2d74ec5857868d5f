package webhook

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/deliver"
	"github.com/guidonhq/guidon/service"
)

// Times after which webhooks that do not work are given up.
const (
	stopAfter   = 3 * 24 * time.Hour
	detachAfter = 30 * 24 * time.Hour
	orphanAge   = time.Hour // of a reader without a webhook
)

// Config configures a [Deliverer].
type Config struct {
	Service   *service.Service
	Store     service.WebhookStore
	Client    *Client
	PublicURL string // of this service, or ""
	Logger    *slog.Logger
}

// Deliverer delivers to the webhooks of the database. [deliver.Runner] decides when.
type Deliverer struct {
	Config
	succeeded, failed atomic.Int64
	states            atomic.Pointer[map[service.WebhookState]int]
	tidied            atomic.Int64 // when readers were compared with webhooks, in Unix seconds
}

// NewDeliverer returns a deliverer.
func NewDeliverer(c Config) *Deliverer { return &Deliverer{Config: c} }

// Stats are the numbers for metrics.
type Stats struct {
	Succeeded, Failed int64                        // attempts of this process
	States            map[service.WebhookState]int // webhooks, when this process looked last
}

// Stats returns the current numbers.
func (d *Deliverer) Stats() Stats {
	s := Stats{Succeeded: d.succeeded.Load(), Failed: d.failed.Load()}
	if states := d.states.Load(); states != nil {
		s.States = *states
	}
	return s
}

// Targets returns the active webhooks. Those that have not been active for long lose their readers.
func (d *Deliverer) Targets(ctx context.Context) ([]deliver.Target, error) {
	all, err := d.Store.Webhooks(ctx)
	if err != nil {
		return nil, err
	}
	var targets []deliver.Target
	states := map[service.WebhookState]int{service.WebhookActive: 0, service.WebhookPaused: 0, service.WebhookStopped: 0}
	for _, h := range all {
		states[h.State]++
		switch {
		case h.State == service.WebhookActive:
			targets = append(targets, &hook{Webhook: h, d: d, Encoder: Encoder{h.Format, d.PublicURL}})
		case !h.Detached && time.Since(h.StateSince) > detachAfter:
			if err := d.Service.DetachWebhook(ctx, h.ID); err != nil {
				return nil, err
			}
		}
	}
	d.states.Store(&states)
	return targets, d.removeOrphans(ctx, all)
}

// removeOrphans removes readers that were left behind when their webhook was created, deleted or detached.
func (d *Deliverer) removeOrphans(ctx context.Context, all []*service.Webhook) error {
	now := time.Now()
	if last := d.tidied.Swap(now.Unix()); now.Unix()-last < int64(orphanAge/time.Second) {
		d.tidied.Store(last)
		return nil
	}
	readers, err := d.Store.Readers(ctx)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, h := range all {
		known[service.WebhookReader(h.ID)] = !h.Detached
	}
	for _, r := range readers {
		if service.IsWebhookReader(r.Name) && !known[r.Name] && now.Sub(r.RegisteredAt) > orphanAge {
			err := d.Store.RemoveReader(ctx, r.Name)
			if err != nil && !errors.Is(err, guidon.NotFound) { // then another process has removed it
				return err
			}
		}
	}
	return nil
}

// Test sends a test, whatever the state of the webhook.
func (d *Deliverer) Test(ctx context.Context, h *service.Webhook) service.WebhookDelivery {
	s := d.sender(h)
	body := s.encodeTest(h.Namespace, "This is a test of the webhook "+h.Name+".", time.Now().UTC())
	a, err := d.Client.post(ctx, s, h.ID+".test."+rand.Text(), body)
	if err != nil {
		a = &answer{at: time.Now().UTC(), err: "timeout"}
	}
	return deliveryOf(h, a)
}

func (d *Deliverer) sender(h *service.Webhook) *Sender {
	return &Sender{
		Encoder: Encoder{h.Format, d.PublicURL}, Client: d.Client, Name: h.ID,
		URL: h.Private.URL, Headers: h.Private.Headers, Secrets: h.ValidSecrets(time.Now()),
	}
}

func deliveryOf(h *service.Webhook, a *answer) service.WebhookDelivery {
	return service.WebhookDelivery{Webhook: h.ID, Attempt: 1, At: a.at, Took: a.took, Status: a.status, Error: a.err, Answer: a.text}
}

// hook is the [deliver.Target] of an active webhook.
type hook struct {
	*service.Webhook // says what it covers and selects
	Encoder
	d        *Deliverer
	failures map[string]service.WebhookFailure // by namespace
}

// Reader implements [deliver.Target].
func (h *hook) Reader() string { return service.WebhookReader(h.ID) }

// Version implements [deliver.Target].
func (h *hook) Version() string { return h.UpdatedAt.String() }

// Waiting implements [deliver.Target].
func (h *hook) Waiting(ctx context.Context) (map[string]time.Time, error) {
	all, err := h.d.Store.WebhookFailures(ctx, h.ID)
	waiting := map[string]time.Time{}
	h.failures = map[string]service.WebhookFailure{}
	for _, f := range all {
		h.failures[f.Namespace], waiting[f.Namespace] = f, f.NextAt
	}
	return waiting, err
}

// Deliver implements [deliver.Target].
func (h *hook) Deliver(ctx context.Context, p *deliver.Parcel) (again time.Time, err error) {
	a, err := h.d.sender(h.Webhook).deliver(ctx, p)
	if err != nil {
		return again, err
	}
	attempt := &service.WebhookAttempt{WebhookDelivery: deliveryOf(h.Webhook, a)}
	attempt.Namespace, attempt.Revision, attempt.Part = p.Namespace, p.Revision, p.Part
	failure := h.failures[p.Namespace]
	attempt.Attempt = failure.Attempts + 1
	if a.ok() {
		h.d.succeeded.Add(1)
		delete(h.failures, p.Namespace)
		attempt.From, attempt.Past = p.From, p.Past
		return again, h.d.Store.RecordAttempt(ctx, attempt)
	}
	h.d.failed.Add(1)
	if failure.Attempts == 0 {
		failure = service.WebhookFailure{Webhook: h.ID, Namespace: p.Namespace, Since: a.at}
	}
	failure.Attempts, failure.Part = failure.Attempts+1, p.Part
	failure.NextAt = time.Now().Add(deliver.Retry(failure.Attempts, a.asked)).UTC()
	h.failures[p.Namespace], attempt.Failure = failure, &failure
	if err := h.d.Store.RecordAttempt(ctx, attempt); err != nil {
		return again, err
	}
	return failure.NextAt, h.giveUp(ctx, a, failure)
}

// giveUp stops the webhook if its receiver is gone, or has failed for long.
func (h *hook) giveUp(ctx context.Context, a *answer, f service.WebhookFailure) error {
	cause := ""
	switch {
	case a.status == http.StatusGone:
		cause = "the receiver answered with status 410, which means that it wants no more"
	case a.at.Sub(f.Since) > stopAfter:
		cause = "no delivery has succeeded for three days: " + a.err
	default:
		return nil
	}
	h.d.Logger.Warn("webhook stopped", "webhook", h.ID, "name", h.Name, "namespace", f.Namespace, "cause", cause)
	return h.d.Service.StopWebhook(ctx, h.ID, cause)
}

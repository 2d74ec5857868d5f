package service

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

// Webhooks is what a [Service] needs to manage webhooks.
type Webhooks struct {
	Store     WebhookStore
	AllowHTTP bool // URLs may be http
	// Send sends a test to the webhook and returns what came of it.
	Send func(ctx context.Context, h *Webhook) WebhookDelivery
}

// WithWebhooks returns the same service, which manages webhooks.
func (s *Service) WithWebhooks(w *Webhooks) *Service {
	next := *s
	next.webhooks = w
	return &next
}

var errNoWebhooks = guidon.Errorf(guidon.Unimplemented, "webhooks are not supported here")

// WebhookView is a webhook with what its deliveries fail at.
type WebhookView struct {
	*Webhook
	Failures []WebhookFailure
}

// ListWebhooks returns the webhooks of the namespace, or all for [Everywhere], in creation order. The caller
// must be an admin there, which the transport checks for the namespace that a request names; so it is with
// the other methods.
func (s *Service) ListWebhooks(ctx context.Context, namespace string) ([]WebhookView, error) {
	if s.webhooks == nil {
		return nil, errNoWebhooks
	}
	all, err := s.webhooks.Store.Webhooks(ctx)
	if err != nil {
		return nil, err
	}
	failures, err := s.webhooks.Store.WebhookFailures(ctx, "")
	if err != nil {
		return nil, err
	}
	var views []WebhookView
	for _, h := range all {
		if namespace == Everywhere || h.Namespace == namespace {
			other := func(f WebhookFailure) bool { return f.Webhook != h.ID }
			views = append(views, WebhookView{h, slices.DeleteFunc(slices.Clone(failures), other)})
		}
	}
	return views, nil
}

// Webhook returns one webhook. It returns NotFound if the namespace has none with the id, and the caller may
// not know of it.
func (s *Service) Webhook(ctx context.Context, by Caller, namespace, id string) (WebhookView, error) {
	if s.webhooks == nil {
		return WebhookView{}, errNoWebhooks
	}
	all, err := s.webhooks.Store.Webhooks(ctx)
	if err != nil {
		return WebhookView{}, err
	}
	h, err := webhookOf(all, by, namespace, id)
	if err != nil {
		return WebhookView{}, err
	}
	failures, err := s.webhooks.Store.WebhookFailures(ctx, id)
	return WebhookView{h, failures}, err
}

func webhookOf(all []*Webhook, by Caller, namespace, id string) (*Webhook, error) {
	for _, h := range all {
		if h.ID == id && (h.Namespace == namespace || by.administers(h.Namespace)) {
			return h, nil
		}
	}
	return nil, guidon.Errorf(guidon.NotFound, "webhook %q not found", id)
}

// administers reports whether the caller is an admin in the namespace. Without authentication everybody is.
func (c Caller) administers(namespace string) bool {
	a := c.Authentication
	if a == nil {
		return true
	}
	only, limited := a.Scope()
	return a.May(RoleAdmin, namespace) && (!limited || only == namespace)
}

// CreateWebhook creates a webhook, which gets what is changed from now on, and returns its secret.
// It returns NotFound if the namespace does not exist.
func (s *Service) CreateWebhook(
	ctx context.Context, w Write, namespace string, in WebhookInput,
) (view WebhookView, secret string, err error) {
	if s.webhooks == nil {
		return view, "", errNoWebhooks
	}
	if namespace != Everywhere && !ValidNamespaceKey(namespace) {
		return view, "", invalidField("namespaceKey", "must be the key of a namespace, or *")
	}
	secret = newWebhookSecret()
	h := &Webhook{ID: NewID(), Namespace: namespace, State: WebhookActive, CreatedBy: w.By.Author().ID}
	h.Private.Secrets = []WebhookSecret{{Value: secret}}
	if err := in.apply(h, s.webhooks.AllowHTTP); err != nil {
		return view, "", err
	}
	if namespace != Everywhere {
		if _, err := s.View(ctx, namespace, Demand{Fresh: true}); err != nil {
			return view, "", err
		}
	}
	if !w.DryRun {
		if err := s.webhooks.Store.RegisterReader(ctx, WebhookReader(h.ID)); err != nil {
			return view, "", err
		}
	}
	err = s.updateAuthentications(ctx, w, func(ctx context.Context, tx AuthenticationTx) error {
		all, err := tx.Webhooks(ctx)
		if err != nil {
			return err
		}
		if len(all) >= maxWebhooks {
			return guidon.Errorf(guidon.FailedPrecondition, "there are %d webhooks already; at most %d are allowed", len(all), maxWebhooks)
		}
		now := tx.Now()
		h.CreatedAt, h.UpdatedAt, h.StateSince, h.PrivateAt, h.SecretAt = now, now, now, now, now
		return tx.PutWebhook(ctx, h)
	})
	switch {
	case w.DryRun:
		secret = "" // it is not stored
	case err != nil:
		_ = s.webhooks.Store.RemoveReader(context.WithoutCancel(ctx), WebhookReader(h.ID)) // or the deliverer does it
	}
	return WebhookView{Webhook: h}, secret, err
}

// newWebhookSecret returns a secret in the form of Standard Webhooks.
func newWebhookSecret() string {
	var raw [32]byte
	_, _ = rand.Read(raw[:]) // never fails
	return "whsec_" + base64.StdEncoding.EncodeToString(raw[:])
}

// updateWebhook stores the webhook after fn has changed it.
func (s *Service) updateWebhook(
	ctx context.Context, w Write, namespace, id string, fn func(tx AuthenticationTx, h *Webhook) error,
) (view WebhookView, err error) {
	if s.webhooks == nil {
		return view, errNoWebhooks
	}
	err = s.updateAuthentications(ctx, w, func(ctx context.Context, tx AuthenticationTx) error {
		all, err := tx.Webhooks(ctx)
		if err != nil {
			return err
		}
		h, err := webhookOf(all, w.By, namespace, id)
		if err != nil {
			return err
		}
		h.UpdatedAt = tx.Now()
		was := h.Private
		if err := fn(tx, h); err != nil {
			return err
		}
		if !slices.Equal(was.Secrets, h.Private.Secrets) {
			h.SecretAt = tx.Now()
		}
		if was.URL != h.Private.URL || !maps.Equal(was.Headers, h.Private.Headers) {
			h.PrivateAt = tx.Now()
		}
		view.Webhook = h
		return tx.PutWebhook(ctx, h)
	})
	if err != nil {
		return WebhookView{}, err
	}
	view.Failures, err = s.webhooks.Store.WebhookFailures(ctx, id)
	return view, err
}

// UpdateWebhook replaces what the input has; see [WebhookInput] for what it may leave out.
func (s *Service) UpdateWebhook(ctx context.Context, w Write, namespace, id string, in WebhookInput) (WebhookView, error) {
	return s.updateWebhook(ctx, w, namespace, id, func(_ AuthenticationTx, h *Webhook) error {
		return in.apply(h, s.webhooks.AllowHTTP)
	})
}

// DeleteWebhook deletes a webhook with its deliveries.
func (s *Service) DeleteWebhook(ctx context.Context, w Write, namespace, id string) error {
	if _, err := s.Webhook(ctx, w.By, namespace, id); err != nil {
		return err
	}
	err := s.updateAuthentications(ctx, w, func(ctx context.Context, tx AuthenticationTx) error { return tx.DeleteWebhook(ctx, id) })
	if err == nil && !w.DryRun {
		_ = s.webhooks.Store.RemoveReader(ctx, WebhookReader(id)) // or the deliverer does it
	}
	return err
}

// Bounds of how long a replaced secret signs.
const (
	DefaultSecretOverlap = 24 * time.Hour
	maxSecretOverlap     = 7 * 24 * time.Hour
	maxSecrets           = 5
)

// RotateWebhookSecret gives the webhook a new secret and returns it. Those that it has sign too, for the overlap.
func (s *Service) RotateWebhookSecret(
	ctx context.Context, w Write, namespace, id string, overlap time.Duration,
) (view WebhookView, secret string, err error) {
	if overlap < 0 || overlap > maxSecretOverlap {
		return view, "", invalidField("overlap", "must be between 0s and 168h")
	}
	secret = newWebhookSecret()
	view, err = s.updateWebhook(ctx, w, namespace, id, func(tx AuthenticationTx, h *Webhook) error {
		kept := []WebhookSecret{{Value: secret}}
		until := tx.Now().Add(overlap)
		for _, old := range h.Private.Secrets {
			if old.Until.IsZero() || old.Until.After(until) {
				old.Until = until
			}
			if old.Until.After(tx.Now()) && len(kept) < maxSecrets {
				kept = append(kept, old)
			}
		}
		h.Private.Secrets = kept
		return nil
	})
	if w.DryRun {
		secret = "" // it is not stored
	}
	return view, secret, err
}

// TestWebhook sends a test at once and returns what came of it, which is also listed.
func (s *Service) TestWebhook(ctx context.Context, w Write, namespace, id string) (*WebhookDelivery, error) {
	view, err := s.Webhook(ctx, w.By, namespace, id)
	if err != nil || w.DryRun {
		return new(WebhookDelivery), err
	}
	a := &WebhookAttempt{WebhookDelivery: s.webhooks.Send(ctx, view.Webhook)}
	return &a.WebhookDelivery, s.webhooks.Store.RecordAttempt(context.WithoutCancel(ctx), a)
}

// PauseWebhook makes the webhook deliver nothing until it is resumed.
func (s *Service) PauseWebhook(ctx context.Context, w Write, namespace, id string) (WebhookView, error) {
	return s.updateWebhook(ctx, w, namespace, id, func(tx AuthenticationTx, h *Webhook) error {
		h.setState(WebhookPaused, "", tx.Now())
		return nil
	})
}

func (h *Webhook) setState(state WebhookState, cause string, now time.Time) {
	if h.State != state {
		h.State, h.StateSince = state, now
	}
	h.Cause = cause
}

// ResumeWebhook makes the webhook deliver again, from where it was, at once. One that has lost its reader begins with
// the next change.
func (s *Service) ResumeWebhook(ctx context.Context, w Write, namespace, id string) (WebhookView, error) {
	view, err := s.Webhook(ctx, w.By, namespace, id)
	if err == nil && view.Detached && !w.DryRun {
		err = s.webhooks.Store.RegisterReader(ctx, WebhookReader(id))
	}
	if err != nil {
		return WebhookView{}, err
	}
	return s.updateWebhook(ctx, w, namespace, id, func(tx AuthenticationTx, h *Webhook) error {
		h.setState(WebhookActive, "", tx.Now())
		h.Detached = false
		return tx.ForgetFailures(ctx, id)
	})
}

// ReplayWebhook makes the webhook deliver the changes of the namespace from the revision on, again.
func (s *Service) ReplayWebhook(ctx context.Context, w Write, namespace, id string, revision int64) (WebhookView, error) {
	view, err := s.Webhook(ctx, w.By, namespace, id)
	switch {
	case err != nil:
		return view, err
	case revision < 1:
		return view, invalidField("revision", "must be positive")
	case !view.Covers(namespace) || namespace == Everywhere:
		return view, invalidField("namespaceKey", "must be a namespace that the webhook is about")
	case view.Detached:
		return view, guidon.Errorf(guidon.FailedPrecondition, "the webhook has not been active for long; resume it first")
	}
	if !w.DryRun {
		if err := s.webhooks.Store.RewindReader(ctx, WebhookReader(id), namespace, revision); err != nil {
			return view, err
		}
	}
	return s.updateWebhook(ctx, w, namespace, id, func(tx AuthenticationTx, h *Webhook) error {
		h.Replayed = fmt.Sprintf("%s@%d", namespace, revision)
		return tx.ForgetFailures(ctx, id)
	})
}

// ListDeliveries returns deliveries whose numbers are less than before, or all for 0, the newest first.
func (s *Service) ListDeliveries(
	ctx context.Context, by Caller, namespace, id string, before int64, limit int,
) ([]*WebhookDelivery, error) {
	if _, err := s.Webhook(ctx, by, namespace, id); err != nil {
		return nil, err
	}
	if before < 0 || limit < 0 {
		return nil, invalidField("limit", "must not be negative")
	}
	all, err := s.webhooks.Store.Deliveries(ctx, id, before, pageSize(limit))
	kept := s.now().Add(-KeepDeliveries) // older ones are deleted with the next delivery
	return slices.DeleteFunc(all, func(v *WebhookDelivery) bool { return v.At.Before(kept) }), err
}

// webhookActor changes webhooks on behalf of the service.
var webhookActor = Caller{Actor: change.Actor{ID: "system:webhooks"}}

// StopWebhook stops an active webhook because of the cause, which admins are shown.
func (s *Service) StopWebhook(ctx context.Context, id, cause string) error {
	_, err := s.updateWebhook(ctx, Write{By: webhookActor}, Everywhere, id, func(tx AuthenticationTx, h *Webhook) error {
		if h.State == WebhookActive {
			h.setState(WebhookStopped, cause, tx.Now())
		}
		return nil
	})
	return err
}

// DetachWebhook removes the reader of a webhook that has not been active for long, so that the change log can
// be pruned. It does nothing if another process has done so, deleted or resumed the webhook.
func (s *Service) DetachWebhook(ctx context.Context, id string) error {
	view, err := s.updateWebhook(ctx, Write{By: webhookActor}, Everywhere, id, func(_ AuthenticationTx, h *Webhook) error {
		h.Detached = h.State != WebhookActive
		return nil
	})
	if err == nil && view.Detached {
		err = s.webhooks.Store.RemoveReader(ctx, WebhookReader(id)) // or the deliverer does it
	}
	if errors.Is(err, guidon.NotFound) {
		return nil
	}
	return err
}

package settings

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// webhookPage is the model of a webhook.
type webhookPage struct {
	webhookForm
	Hook         *guidonv1.Webhook
	Deliveries   []*guidonv1.WebhookDelivery // the newest first
	Test         *guidonv1.WebhookDelivery   // that was sent just now, or nil
	Changed      bool                        // somebody else has changed the webhook since the form was shown
	Of, Revision string                      // from where deliveries are to be repeated
}

// webhookDone says what was done, by the action.
var webhookDone = map[string]string{
	"save": "Saved.", "pause": "Paused. What is changed is kept for 30 days, and sent when you resume it.",
	"resume": "Resumed.", "replay": "Everything from that revision on is sent again.",
}

// overlaps are how long a replaced secret can sign.
var overlaps = part.Options("24h", "24 hours", "1h", "1 hour", "168h", "7 days", "0s", "Not at all")

// maxDeliveries is how many deliveries a page has.
const maxDeliveries = 25

// findWebhook returns the webhook of the address.
func findWebhook(v *page.Visit) (*guidonv1.Webhook, error) {
	h, err := page.GetWebhook.Run(v, &guidonv1.WebhookRequest{Id: v.Variable("id"), NamespaceKey: webhooksOf(v)})
	if guidon.CodeOf(err) == guidon.NotFound || err == nil && v.Namespace != nil && h.GetNamespaceKey() != v.Key() {
		return nil, notFound("There is no such webhook", "It may have been deleted already.")
	}
	return h, err
}

// showWebhook shows a webhook, and what it has sent.
func showWebhook(v *page.Visit, h *guidonv1.Webhook) error {
	return webhookPage{Hook: h, webhookForm: webhookFormOf(h)}.show(v, http.StatusOK)
}

func (p webhookPage) show(v *page.Visit, status int) error {
	before, _ := strconv.ParseInt(v.Query().Get("before"), 10, 64)
	list, err := page.ListDeliveries.Run(v, &guidonv1.ListDeliveriesRequest{
		Id: p.Hook.GetId(), NamespaceKey: p.Hook.GetNamespaceKey(), Before: max(before, 0), Limit: maxDeliveries,
	})
	if err != nil {
		return err
	}
	p.Deliveries = list.GetDeliveries()
	return replyWebhooks(v, status, webhookName(p.Hook), p.main(v))
}

// path returns the path of the page.
func (p webhookPage) path(v *page.Visit) string { return webhookPath(v, "webhooks", p.Hook.GetId()) }

// failures returns what an active webhook tries again: at most as much as a page lists.
func (p webhookPage) failures() []*guidonv1.WebhookFailure {
	if p.Hook.GetState() != string(service.WebhookActive) {
		return nil
	}
	return p.Hook.GetFailures()[:min(len(p.Hook.GetFailures()), maxPatterns)]
}

// changeWebhook does what a button says, unless its form shows what somebody else has changed since.
func changeWebhook(v *page.Visit, h *guidonv1.Webhook) error {
	form, err := v.Form()
	if err != nil {
		return err
	}
	p, verb := webhookPage{Hook: h, webhookForm: webhookFormOf(h)}, page.ActionOf(form).Verb
	if verb == "save" {
		p.webhookForm = readWebhook(form, h.GetNamespaceKey())
	}
	if p.Changed = form.Has("base") && form.Get("base") != version(p.Hook); p.Changed {
		return p.show(v, http.StatusConflict)
	}
	err = p.act(v, verb, form)
	switch {
	case len(p.Problems) > 0 || p.refused(err):
		return p.show(v, unprocessable)
	case err != nil:
		return err
	case p.Test != nil:
		return p.show(v, http.StatusOK)
	case p.Hook.GetSecret() != "":
		return replyWebhooks(v, http.StatusOK, "New secret", newSecret(v, p.Hook, "has a new secret"))
	}
	return v.Redirect(p.path(v) + "?done=" + verb)
}

// act does what a button says. A new secret is then in the webhook of the page.
func (p *webhookPage) act(v *page.Visit, verb string, form url.Values) (err error) {
	request := &guidonv1.WebhookRequest{Id: p.Hook.GetId(), NamespaceKey: p.Hook.GetNamespaceKey()}
	switch verb {
	case "save":
		return p.save(v)
	case "replay":
		return p.replay(v, form)
	case "rotate":
		return p.rotate(v, form.Get("overlap"))
	case "test":
		p.Test, err = page.TestWebhook.Run(v, request)
	case "pause":
		_, err = page.PauseWebhook.Run(v, request)
	case "resume":
		_, err = page.ResumeWebhook.Run(v, request)
	default:
		err = guidon.Errorf(guidon.InvalidArgument, "the form does not say what to do")
	}
	return err
}

// save replaces what the webhook sends, and where.
func (p *webhookPage) save(v *page.Visit) (err error) {
	request := &guidonv1.UpdateWebhookRequest{
		Id: p.Hook.GetId(), Name: p.Name, Url: p.URL, NamespaceKey: p.Namespace, Events: p.Events, Kinds: p.Kinds, Keys: listed(p.Keys),
		Actions: p.Actions, Format: p.Format, Headers: p.headers(),
	}
	if len(p.Problems) == 0 {
		_, err = page.UpdateWebhook.Run(v, request)
	}
	return err
}

// replay repeats the deliveries of a namespace, which only a webhook of all can choose.
func (p *webhookPage) replay(v *page.Visit, form url.Values) error {
	p.Revision, p.Of = strings.TrimSpace(form.Get("revision")), p.Hook.GetNamespaceKey()
	if p.Of == service.Everywhere {
		p.Of = strings.TrimSpace(form.Get("of"))
	}
	if v.NamespaceWith(p.Of) == nil && p.Of != service.AuthenticationsKey {
		p.Problems.Add("of", "There is no namespace with this key.")
		return nil
	}
	revision, _ := strconv.ParseInt(p.Revision, 10, 64) // 0 is refused
	_, err := page.ReplayWebhook.Run(v, &guidonv1.ReplayWebhookRequest{Id: p.Hook.GetId(), NamespaceKey: p.Of, Revision: revision})
	return err
}

// rotate gives the webhook a new secret.
func (p *webhookPage) rotate(v *page.Visit, text string) error {
	overlap, err := time.ParseDuration(text)
	if err != nil {
		overlap = -1 // is refused
	}
	h, err := page.RotateWebhookSecret.Run(v, &guidonv1.RotateWebhookSecretRequest{
		Id: p.Hook.GetId(), NamespaceKey: p.Hook.GetNamespaceKey(), Overlap: durationpb.New(overlap),
	})
	if err == nil {
		p.Hook = h
	}
	return err
}

// askDeleteWebhook asks whether to delete a webhook.
func askDeleteWebhook(v *page.Visit, h *guidonv1.Webhook) error {
	return replyWebhooks(v, http.StatusOK, "Delete a webhook", webhookQuestion(v, h))
}

// removeWebhook deletes a webhook.
func removeWebhook(v *page.Visit, h *guidonv1.Webhook) error {
	if _, err := page.DeleteWebhook.Run(v, &guidonv1.WebhookRequest{Id: h.GetId(), NamespaceKey: h.GetNamespaceKey()}); err != nil {
		return err
	}
	return v.Redirect(webhookPath(v, "webhooks") + "?deleted=1")
}

// outcome returns why a delivery failed, or the status of its success.
func outcome(d *guidonv1.WebhookDelivery) string {
	return cmp.Or(d.GetError(), strconv.Itoa(int(d.GetStatus())))
}

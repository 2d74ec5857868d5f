package settings

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// webhookRoutes returns the pages about the webhooks of a namespace, or about all, below the path.
func webhookRoutes(below string) []page.Route {
	one := below + "/webhooks/{id}"
	return guarded(requireWebhooks,
		page.Route{Pattern: below + "/webhooks", Get: showWebhooks},
		page.Route{Pattern: below + "/new-webhook", Get: showNewWebhook, Post: page.WithForm(makeWebhook)},
		page.Route{Pattern: one, Get: page.With(findWebhook, showWebhook), Post: page.With(findWebhook, changeWebhook)},
		page.Route{Pattern: one + "/delete", Get: page.With(findWebhook, askDeleteWebhook), Post: page.With(findWebhook, removeWebhook)},
	)
}

// requireWebhooks returns an error with a page of its own unless the visitor is an administrator of the namespace of
// the visit or, without one, of everything.
func requireWebhooks(v *page.Visit) error {
	if v.Namespace == nil {
		return requireAdministrator(v)
	}
	return requireAdministratorHere(v)
}

// webhooksOf returns the namespace whose webhooks the visit is about, or that of all.
func webhooksOf(v *page.Visit) string { return cmp.Or(v.Key(), service.Everywhere) }

// webhookPath returns the path of a page about these webhooks.
func webhookPath(v *page.Visit, segments ...string) string {
	if v.Namespace == nil {
		return page.Below(append([]string{"settings"}, segments...)...)
	}
	return page.Below(append([]string{"namespaces", v.Key()}, segments...)...)
}

// replyWebhooks responds with a page about these webhooks. title is that of the list if it is "".
func replyWebhooks(v *page.Visit, status int, title string, main templ.Component) error {
	p := sectionPage(v, webhooksSection, title, main)
	if v.Namespace != nil {
		p.Crumbs[0].Address, p.Main = v.In("settings"), layout(v, namespacesSection, main)
	}
	if title != "" {
		p.Crumbs[1].Address = v.Site.Path(webhookPath(v, "webhooks"))
	}
	return v.Reply(status, p)
}

// showWebhooks lists the webhooks.
func showWebhooks(v *page.Visit) error {
	list, err := page.ListWebhooks.Run(v, &guidonv1.ListWebhooksRequest{NamespaceKey: webhooksOf(v)})
	if err != nil {
		return err
	}
	return replyWebhooks(v, http.StatusOK, "", webhookList(v, list.GetWebhooks()))
}

// webhookName returns the name of the webhook for people.
func webhookName(h *guidonv1.Webhook) string {
	return cmp.Or(page.Printable(h.GetName(), maxShown), "Webhook "+h.GetId())
}

// webhookEvents returns what the webhook sends, in words.
func webhookEvents(h *guidonv1.Webhook) string {
	var words []string
	for _, event := range h.GetEvents() {
		words = append(words, strings.ToLower(part.TextOf(eventOptions, event)))
		if kinds := h.GetKinds(); event == string(service.EventChange) && len(kinds) > 0 {
			words[len(words)-1] += " of " + strings.Join(kinds, "s, ") + "s"
		}
	}
	return page.Capital(strings.Join(words, ", "))
}

// webhookState returns the state of the webhook in words, with the class of their tag.
func webhookState(v *page.Visit, h *guidonv1.Webhook) (text, class string) {
	switch service.WebhookState(h.GetState()) {
	case service.WebhookPaused:
		return "Paused", ""
	case service.WebhookStopped:
		return "Stopped", "gone"
	}
	if len(h.GetFailures()) == 0 {
		return "Active", "new"
	}
	first := slices.MinFunc(h.GetFailures(), func(a, b *guidonv1.WebhookFailure) int {
		return a.GetSince().AsTime().Compare(b.GetSince().AsTime())
	})
	return "Failing since " + clock(v, first.GetSince().AsTime()) + ", " + page.Count(int(first.GetAttempts()), "attempt"), "dep"
}

// clock returns a time of today or, before that, also the day.
func clock(v *page.Visit, at time.Time) string {
	at = at.In(v.Location())
	if at.Format(time.DateOnly) == v.Now().Format(time.DateOnly) {
		return at.Format("15:04")
	}
	return at.Format("2 Jan, 15:04")
}

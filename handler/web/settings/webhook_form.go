package settings

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// webhookForm has the fields of a webhook.
type webhookForm struct {
	Name, URL, Namespace, Keys, Format, Headers string
	Events, Kinds, Actions                      []string

	Shown    string // when the form of a new one was shown, in microseconds since 1970
	Problems part.Problems
}

// What can be chosen of a webhook.
var (
	eventOptions = part.Options(
		"change", "Changes", "authentication", "Tokens and sign-ins", "binding", "Roles", "webhook", "Webhooks",
	)
	kindOptions   = part.Options("flag", "Flags", "segment", "Segments", "namespace", "The namespace")
	actionOptions = part.Options("create", "Created", "update", "Changed", "delete", "Deleted")
	formatOptions = part.Options(
		"guidon", "Guidon JSON", "cloudevents", "CloudEvents", "slack", "Slack", "discord", "Discord", "teams", "Teams",
	)
)

// webhookFormOf returns the fields of a stored webhook.
func webhookFormOf(h *guidonv1.Webhook) webhookForm {
	f := webhookForm{
		Name: h.GetName(), Namespace: h.GetNamespaceKey(), Events: h.GetEvents(), Kinds: h.GetKinds(), Actions: h.GetActions(),
		Keys: strings.Join(h.GetKeys(), " "), Format: h.GetFormat(),
	}
	for _, name := range slices.Sorted(maps.Keys(h.GetHeaders())) {
		f.Headers += name + ":\n"
	}
	return f
}

// readWebhook returns the fields of the form that was sent, for a webhook of the namespace.
func readWebhook(form url.Values, namespace string) webhookForm {
	return webhookForm{
		Name: strings.TrimSpace(form.Get("name")), URL: strings.TrimSpace(form.Get("url")), Namespace: namespace,
		Keys: form.Get("keys"), Format: form.Get("format"), Headers: form.Get("headers"),
		Events: form["events"], Kinds: form["kinds"], Actions: form["actions"], Shown: form.Get("shown"),
	}
}

// headers returns the headers of the form, and adds what is wrong with them to the problems. An empty value means the
// stored one.
func (f *webhookForm) headers() map[string]string {
	headers := make(map[string]string)
	for _, line := range strings.FieldsFunc(f.Headers, func(r rune) bool { return r == '\n' || r == '\r' }) {
		name, value, ok := strings.Cut(line, ":")
		if _, repeated := headers[name]; !ok || repeated {
			f.Problems.Add("headers", "Write each header once, on a line of its own, such as Authorization: Bearer ….")
			break
		}
		headers[name] = strings.TrimSpace(value)
	}
	return headers
}

// refused reports whether the operation refused the form, and adds why to the problems.
func (f *webhookForm) refused(err error) bool {
	problems, ok := refusedAs(err, nil)
	if guidon.CodeOf(err) == guidon.FailedPrecondition { // such as too many webhooks
		problems, ok = part.Problems{{Field: "name", Message: page.Sentence(guidon.PublicMessage(err))}}, true
	}
	f.Problems = append(f.Problems, problems...)
	return ok
}

// showNewWebhook shows the form for a new webhook.
func showNewWebhook(v *page.Visit) error {
	f := webhookForm{Events: []string{string(service.EventChange)}, Shown: strconv.FormatInt(v.Site.Now().UnixMicro(), 10)}
	return replyWebhooks(v, http.StatusOK, "New webhook", f.create(v))
}

// makeWebhook creates the webhook, and shows its secret in the response: once, and nowhere else.
func makeWebhook(v *page.Visit, form url.Values) error {
	f := readWebhook(form, cmp.Or(v.Key(), strings.TrimSpace(form.Get("namespaceKey"))))
	request := &guidonv1.CreateWebhookRequest{
		Name: f.Name, Url: f.URL, NamespaceKey: f.Namespace, Events: f.Events, Kinds: f.Kinds, Keys: listed(f.Keys), Actions: f.Actions,
		Format: f.Format, Headers: f.headers(),
	}
	h, err := f.sentBefore(v)
	if h == nil && err == nil && len(f.Problems) == 0 {
		h, err = page.CreateWebhook.Run(v, request)
	}
	if guidon.CodeOf(err) == guidon.NotFound {
		f.Problems.Add("namespaceKey", "There is no namespace with this key.")
	}
	if len(f.Problems) > 0 || f.refused(err) {
		return replyWebhooks(v, unprocessable, "New webhook", f.create(v))
	}
	if err != nil {
		return err
	}
	return replyWebhooks(v, http.StatusOK, "Webhook created", newSecret(v, h, "created"))
}

// sentBefore returns the webhook that this form of the visitor has created already, or nil: the page was reloaded, or the
// button pressed twice.
func (f *webhookForm) sentBefore(v *page.Visit) (*guidonv1.Webhook, error) {
	shown, err := strconv.ParseInt(f.Shown, 10, 64)
	if err != nil {
		return nil, nil
	}
	list, err := page.ListWebhooks.Run(v, &guidonv1.ListWebhooksRequest{NamespaceKey: f.Namespace})
	for _, h := range list.GetWebhooks() {
		if h.GetCreatedBy() == v.Visitor.ActorID() && h.GetName() == f.Name && h.GetCreatedAt().AsTime().UnixMicro() >= shown {
			return h, nil
		}
	}
	return nil, err
}

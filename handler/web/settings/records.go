package settings

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// maxRecords is how many records a page has.
const maxRecords = 50

// recordsPage is the model of the records of tokens and sessions, of bindings, or of webhooks.
type recordsPage struct {
	Kind    change.Kind
	Records []*guidonv1.Change // newest first
	Next    string             // the token of the next page, or ""
	First   bool               // this is the first page
}

// showRecords lists who created and deleted tokens, signed in, gave roles, or changed webhooks.
func showRecords(v *page.Visit) error {
	p := recordsPage{Kind: change.KindAuthentication, First: v.Query().Get("page") == ""}
	if kind := change.Kind(v.Query().Get("kind")); kind.Global() {
		p.Kind = kind
	}
	answer, err := page.ListChanges.Run(v, &guidonv1.ListChangesRequest{
		NamespaceKey: guidon.DefaultNamespace, // which makes no difference
		Kind:         string(p.Kind), Limit: maxRecords, PageToken: v.Query().Get("page"),
	})
	if err != nil {
		return err
	}
	p.Records, p.Next = answer.GetChanges(), answer.GetNextPageToken()
	return show(v, http.StatusOK, recordsSection, "", p.main(v))
}

// tabs returns the links to the kinds of records.
func (p recordsPage) tabs(v *page.Visit) (links []part.Link) {
	for _, k := range []struct {
		kind change.Kind
		text string
	}{{change.KindAuthentication, "Tokens and sign-ins"}, {change.KindBinding, "Roles"}, {change.KindWebhook, "Webhooks"}} {
		links = append(links, part.Link{Text: k.text, Address: p.address(v, k.kind, ""), Current: k.kind == p.Kind})
	}
	return links
}

// address returns the address of a page of records of the kind; that of the first has no token.
func (p recordsPage) address(v *page.Visit, kind change.Kind, token string) string {
	if kind == change.KindAuthentication {
		kind = ""
	}
	return v.To("settings", recordsSection.Path) + page.Query("kind", string(kind), "page", token)
}

// hasAddresses reports whether the address of a caller is in one of the records.
func (p recordsPage) hasAddresses() bool {
	return slices.ContainsFunc(p.Records, func(r *guidonv1.Change) bool { return r.GetAddress() != "" })
}

// recordText describes a record in words.
func recordText(r *guidonv1.Change) string {
	text := authenticationText
	switch change.Kind(r.GetKind()) {
	case change.KindBinding:
		text = bindingText
	case change.KindWebhook:
		text = webhookText
	}
	return page.Printable(text(r), maxRecordText)
}

// maxRecordText limits the description of a record, in bytes.
const maxRecordText = 1024

// stateOf decodes the object of a record after the change or, if that deleted it, before. What
// is not understood stays zero.
func stateOf[T any](r *guidonv1.Change) (state T) {
	object := cmp.Or(r.GetAfter(), r.GetBefore())
	if object == nil {
		return state
	}
	if text, err := object.MarshalJSON(); err == nil {
		_ = json.Unmarshal(text, &state)
	}
	return state
}

// authenticationText describes the change of a token or session.
func authenticationText(r *guidonv1.Change) string {
	a := stateOf[service.Authentication](r)
	name, action := page.NameOf(a.Metadata), change.Action(r.GetAction())
	switch {
	case a.Client != "" && action == change.ActionCreate:
		return "Signed in " + signedInBy(&a) + onClient(&a)
	case a.Client != "":
		return "Session of " + name + " " + later(r, "ended")
	case a.Method == service.MethodToken && action == change.ActionCreate:
		return "Token " + name + " created: " + tokenAccess(&a)
	case a.Method == service.MethodToken:
		return "Token " + name + " " + later(r, "deleted")
	case action == change.ActionCreate:
		return "Token for " + name + " issued, " + signedInBy(&a)
	}
	return "Token of " + name + " " + later(r, "deleted")
}

// later returns the action on an object that existed, in words. deleted is the word for its end.
func later(r *guidonv1.Change, deleted string) string {
	if change.Action(r.GetAction()) == change.ActionDelete {
		return deleted
	}
	return "changed: " + r.GetSummary()
}

// onClient returns where a session is, unless that is a browser.
func onClient(a *service.Authentication) string {
	if a.Client != service.ClientCLI {
		return ""
	}
	if name := a.Metadata[service.MetadataSessionName]; name != "" {
		return " on the command line of " + name
	}
	return " on the command line"
}

// tokenAccess returns the access of a static token, in words.
func tokenAccess(a *service.Authentication) string {
	if a.Role == service.RoleUnset {
		return "the role of tokens without one" + inNamespaces(a.Namespaces)
	}
	return page.RoleLabel(a.Role) + inNamespaces(a.Namespaces)
}

// bindingText describes the change of a binding.
func bindingText(r *guidonv1.Change) string {
	b := stateOf[service.Binding](r)
	role := page.RoleLabel(b.Role) + inNamespaces(b.Namespaces)
	switch change.Action(r.GetAction()) {
	case change.ActionCreate:
		return whom(b.Subject) + " was given " + role
	case change.ActionDelete:
		return whom(b.Subject) + " lost " + role
	}
	return "Role of " + whom(b.Subject) + " changed: " + r.GetSummary()
}

// webhookText describes the change of a webhook.
func webhookText(r *guidonv1.Change) string {
	h := stateOf[service.Webhook](r)
	if change.Action(r.GetAction()) == change.ActionCreate {
		return "Webhook " + h.Name + " created, to " + h.Host + inNamespaces([]string{h.Namespace})
	}
	return "Webhook " + h.Name + " " + later(r, "deleted")
}

// inNamespaces returns where a role is, in words.
func inNamespaces(patterns []string) string {
	if len(patterns) == 0 || patterns[0] == service.Everywhere {
		return " everywhere"
	}
	return " in " + page.Listed(patterns, maxPatterns)
}

package settings

import (
	"net/http"
	"net/url"
	"strconv"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/service"
)

// namespacePage is the model of the settings of a namespace.
type namespacePage struct {
	namespaceForm
	Base  string // when the namespace that the form is based on was changed, in microseconds
	Saved bool
	// Theirs is the namespace as another user has saved it since then, or nil.
	Theirs *flipt.Namespace
}

// version returns the token that forms keep to detect changes of the namespace or webhook.
func version(object interface{ GetUpdatedAt() *timestamppb.Timestamp }) string {
	return strconv.FormatInt(object.GetUpdatedAt().AsTime().UnixMicro(), 10)
}

// showNamespace shows the settings of the namespace.
func showNamespace(v *page.Visit) error {
	p := namespacePage{namespaceForm: formOf(v.Namespace), Base: version(v.Namespace), Saved: v.Query().Get("saved") != ""}
	return p.show(v, http.StatusOK)
}

func (p namespacePage) show(v *page.Visit, status int) error {
	return v.Reply(status, page.Page{
		Title: "Settings", Place: page.PlaceSettings, Crumbs: []page.Crumb{{Text: "Settings"}},
		Main: layout(v, namespacesSection, p.main(v)),
	})
}

// maxAttempts limits how often a change is tried again because something else in the
// namespace has changed at the same time.
const maxAttempts = 10

// saveNamespace changes the namespace, unless another user has done so since the form was
// shown.
func saveNamespace(v *page.Visit, form url.Values) error {
	p := namespacePage{namespaceForm: readNamespace(form), Base: form.Get("base")}
	p.Key = v.Key()
	if p.check(); len(p.Problems) > 0 {
		return p.show(v, unprocessable)
	}
	err := p.save(v)
	if p.Theirs != nil {
		p.Base = version(p.Theirs)
		return p.show(v, http.StatusConflict)
	}
	if p.refused(v, &err); len(p.Problems) > 0 {
		return p.show(v, unprocessable)
	}
	if err != nil {
		return err
	}
	return v.Redirect(page.Below("namespaces", v.Key(), "settings") + "?saved=1")
}

// save changes the namespace, or sets Theirs.
func (p *namespacePage) save(v *page.Visit) (err error) {
	request := &flipt.UpdateNamespaceRequest{Key: p.Key, Name: p.Name, Description: p.Description, Color: &p.Color, ConfirmChanges: &p.Confirm}
	for range maxAttempts {
		now, state, err := page.GetNamespace.RunAt(v, &flipt.GetNamespaceRequest{Key: p.Key})
		if err != nil {
			return err
		}
		if version(now) != p.Base {
			p.Theirs = now
			return nil
		}
		if _, err = page.UpdateNamespace.RunIf(v, request, state); guidon.CodeOf(err) != guidon.FailedPrecondition {
			return err
		}
	}
	return guidon.Errorf(guidon.FailedPrecondition, "namespace %q keeps changing", p.Key)
}

// requireManagement returns an error with a page of its own unless the visitor may change
// the namespace.
func requireManagement(v *page.Visit) error {
	if v.Site.ReadOnly {
		return &page.Error{
			Heading: "This server is read-only", Text: "Namespaces cannot be changed here.",
			Err: guidon.Errorf(guidon.PermissionDenied, "the server is read-only"),
		}
	}
	return requireAdministratorHere(v)
}

// requireAdministratorHere returns an error with a page of its own unless the visitor is an administrator of the
// namespace of the visit.
func requireAdministratorHere(v *page.Visit) error {
	if v.May(service.RoleAdmin) {
		return nil
	}
	return &page.Error{
		Heading: "This takes Admin in " + page.NamespaceName(v.Namespace),
		Text:    "You have " + page.RoleLabel(v.RoleIn(v.Key())) + ". Ask an administrator.",
		Err:     service.Refusal(service.RoleAdmin, v.Key()),
	}
}

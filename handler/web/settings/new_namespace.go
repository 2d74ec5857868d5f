package settings

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/service"
)

// requireCreation returns an error with a page of its own unless the visitor may create
// some namespace.
func requireCreation(v *page.Visit) error {
	switch {
	case v.Site.ReadOnly:
		return &page.Error{
			Heading: "This server is read-only", Text: "Namespaces cannot be created here.",
			Err: guidon.Errorf(guidon.PermissionDenied, "the server is read-only"),
		}
	case !mayCreate(v):
		return &page.Error{
			Heading: "This takes Admin", Text: "Namespaces are created by administrators. Ask one of them.",
			Err: service.Refusal(service.RoleAdmin, service.Everywhere),
		}
	}
	return nil
}

// showNewNamespace shows the form for a new namespace.
func showNewNamespace(v *page.Visit) error {
	return namespaceForm{}.showNew(v, http.StatusOK)
}

func (f namespaceForm) showNew(v *page.Visit, status int) error {
	return show(v, status, namespacesSection, "New namespace", f.newMain(v))
}

// makeNamespace creates a namespace.
func makeNamespace(v *page.Visit, form url.Values) error {
	f := readNamespace(form)
	if action := page.ActionOf(form); action.Verb == "key" { // the suggested one is taken
		f.Key = action.Text(0)
		return f.showNew(v, http.StatusOK)
	}
	f.check()
	f.checkKey(v)
	if len(f.Problems) == 0 {
		_, err := page.CreateNamespace.Run(v, &flipt.CreateNamespaceRequest{
			Key: f.Key, Name: f.Name, Description: f.Description, Color: f.Color, ConfirmChanges: f.Confirm,
		})
		f.refused(v, &err)
		if err != nil {
			return err
		}
	}
	if len(f.Problems) > 0 {
		return f.showNew(v, unprocessable)
	}
	return v.Redirect(page.Below("namespaces", f.Key, "flags"))
}

// refused makes the error a problem of a field, if it is about one.
func (f *namespaceForm) refused(v *page.Visit, err *error) {
	problems, ok := refusedAs(*err, map[string]string{"key": "key", "name": "name", "description": "description", "color": "color"})
	switch {
	case ok:
		f.Problems = problems
	case guidon.CodeOf(*err) == guidon.InvalidArgument && strings.HasSuffix(guidon.PublicMessage(*err), "is not unique"):
		f.taken(v)
	default:
		return
	}
	*err = nil
}

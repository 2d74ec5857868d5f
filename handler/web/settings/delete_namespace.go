package settings

import (
	"net/http"
	"net/url"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/wire/flipt"
)

// deletionPage is the model of the page that asks whether to delete a namespace.
type deletionPage struct {
	Flags, Segments int
	Typed           string // the key, as typed
	Refused         string
	Problems        part.Problems
}

// undeletable returns why the namespace cannot be deleted here, or "".
func undeletable(n *flipt.Namespace) string {
	switch {
	case n.GetKey() == guidon.DefaultNamespace:
		return "The namespace default cannot be deleted here: clients that name no namespace use it."
	case n.GetProtected():
		return "This namespace is protected, so it cannot be deleted here."
	}
	return ""
}

// askDeleteNamespace asks whether to delete the namespace.
func askDeleteNamespace(v *page.Visit) error {
	return deletionPage{}.ask(v, http.StatusOK)
}

func (p deletionPage) ask(v *page.Visit, status int) error {
	flags, err := page.ListFlags.Run(v, &flipt.ListFlagRequest{NamespaceKey: v.Key(), Limit: 1})
	if err != nil {
		return err
	}
	segments, err := page.ListSegments.Run(v, &flipt.ListSegmentRequest{NamespaceKey: v.Key(), Limit: 1})
	if err != nil {
		return err
	}
	p.Flags, p.Segments = int(flags.GetTotalCount()), int(segments.GetTotalCount())
	return v.Reply(status, page.Page{
		Title: "Delete namespace", Place: page.PlaceSettings,
		Crumbs: []page.Crumb{{Text: "Settings", Address: v.In("settings")}, {Text: "Delete namespace"}},
		Main:   layout(v, namespacesSection, p.main(v)),
	})
}

// removeNamespace deletes the namespace, if its key was typed.
func removeNamespace(v *page.Visit, form url.Values) error {
	p := deletionPage{Typed: form.Get("key"), Refused: undeletable(v.Namespace)}
	if p.Refused == "" && p.Typed != v.Key() {
		p.Problems.Add("key", "This is not the key. Type it as it is written above, case and all.")
	}
	if p.Refused != "" || len(p.Problems) > 0 {
		return p.ask(v, unprocessable)
	}
	if _, err := page.DeleteNamespace.Run(v, &flipt.DeleteNamespaceRequest{Key: v.Key(), Force: true}); err != nil {
		return err
	}
	preferences := v.Preferences
	if preferences.Namespace == v.Key() {
		preferences.Namespace = ""
		v.SetPreferences(preferences)
	}
	return v.Redirect(page.Below("settings", "namespaces") + "?deleted=1")
}

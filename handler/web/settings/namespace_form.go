package settings

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/service"
)

// namespaceForm has the fields of a namespace.
type namespaceForm struct {
	Name, Key, Description, Color string
	Confirm                       bool // ask before changes
	Suggested                     string
	Problems                      part.Problems
}

// formOf returns the fields of a stored namespace.
func formOf(n *flipt.Namespace) namespaceForm {
	return namespaceForm{
		Name: n.GetName(), Key: n.GetKey(), Description: n.GetDescription(), Color: n.GetColor(), Confirm: n.GetConfirmChanges(),
	}
}

// readNamespace returns the fields of the form that was sent.
func readNamespace(form url.Values) namespaceForm {
	return namespaceForm{
		Name: strings.TrimSpace(form.Get("name")), Key: strings.TrimSpace(form.Get("key")),
		Description: strings.TrimSpace(form.Get("description")),
		Color:       form.Get("color"), Confirm: form.Get("confirm") != "",
	}
}

// maxDescription limits the description of a namespace on pages, in bytes.
const maxDescription = 1 << 10

// maxDescriptionText limits the description that a form takes, in characters.
const maxDescriptionText = 10_000

// check adds the problems of the fields besides the key.
func (f *namespaceForm) check() {
	f.Problems.Add("name", page.CheckText(f.Name, "A name is needed."))
	f.Problems.Add("description", page.TooLong(f.Description, maxDescriptionText))
	if !guidon.Color(f.Color).Known() {
		f.Problems.Add("color", "Choose one of the colors.")
	}
}

// checkKey makes the key of a new namespace of its name if it has none, and adds its problems.
func (f *namespaceForm) checkKey(v *page.Visit) {
	f.Key = cmp.Or(f.Key, page.Slug(f.Name))
	problem := page.CheckText(f.Key, "A key is needed.")
	switch {
	case problem != "":
		f.Problems.Add("key", problem)
	case !service.ValidNamespaceKey(f.Key):
		f.Suggested = page.Slug(f.Key)
		f.Problems.Add("key", "Letters, digits, - and _ only.")
	case v.NamespaceWith(f.Key) != nil:
		f.taken(v)
	}
}

// taken adds the problem that there is a namespace with the key.
func (f *namespaceForm) taken(v *page.Visit) {
	name := "Another namespace"
	if n := v.NamespaceWith(f.Key); n != nil {
		name = "The namespace “" + page.NamespaceName(n) + "”"
	}
	f.Problems.Add("key", name+" has this key. Take another one.")
}

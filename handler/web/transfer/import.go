package transfer

import (
	"fmt"
	"net/http"
	"net/url"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/web/review"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// mode is the way in which an import treats existing objects.
type mode struct {
	Value, Text, Hint string
	plan              guidonv1.PlanMode
}

// modes are the modes. The first is the default.
var modes = []mode{
	{"update", "Update", "What exists becomes as in the file. The rest stays.", guidonv1.PlanMode_UPDATE_PLAN_MODE},
	{"create", "Create only", "Nothing in the file may exist yet.", guidonv1.PlanMode_CREATE_PLAN_MODE},
	{"skip", "Skip existing", "What exists stays as it is.", guidonv1.PlanMode_SKIP_EXISTING_PLAN_MODE},
	{
		"replace", "Replace everything", "What exists becomes as in the file, and what the file does not have is deleted.",
		guidonv1.PlanMode_REPLACE_PLAN_MODE,
	},
}

const fieldMode = "mode"

// modeOf returns the mode of the form.
func modeOf(form url.Values) mode {
	for _, m := range modes {
		if m.Value == form.Get(fieldMode) {
			return m
		}
	}
	return modes[0]
}

// importPage is the page that imports a file.
type importPage struct {
	Text     string
	Mode     mode
	Fault    *fault
	Others   []string // the namespaces of a file that has others, and not this one
	Foreign  string   // the namespace of the file, if it is another one
	Settings bool     // the file has settings of the namespace that the visitor may not change
	Review   *review.Plan
	Problems part.Problems
}

// showImport is the page without a file.
func showImport(v *page.Visit) error {
	return (&importPage{Mode: modes[0]}).reply(v, http.StatusOK)
}

// postImport shows the changes of a file, and imports it.
func postImport(v *page.Visit, form url.Values) error {
	if page.ActionOf(form).Verb == "example" {
		return importExample(v, form.Get("example"))
	}
	i := &importPage{Text: textOf(form), Mode: modeOf(form)}
	if page.ActionOf(form).Verb == "edit" {
		return i.reply(v, http.StatusOK)
	}
	d, err := i.read(v)
	if err != nil {
		return err
	}
	if d == nil {
		return i.reply(v, http.StatusUnprocessableEntity)
	}
	i.Review = &review.Plan{
		Request: &guidonv1.PlanRequest{NamespaceKey: v.Key(), Document: convert.WireDocument(d), Mode: i.Mode.plan},
		Target:  v.Namespace, Words: review.Words{Created: "new"}, Text: i.Text,
	}
	if page.ActionOf(form).Verb != "apply" || form.Get(review.FieldDigest) == "" {
		return i.preview(v)
	}
	revision, status, err := i.Review.Submit(v, form)
	if err != nil {
		return err
	}
	if revision == 0 {
		return i.reply(v, status)
	}
	return v.Redirect(fmt.Sprintf("%s?saved=%d", page.Below("namespaces", v.Key(), "flags"), revision))
}

// preview shows the changes of the file.
func (i *importPage) preview(v *page.Visit) error {
	if err := i.Review.Make(v, nil); err != nil {
		return err
	}
	if i.Review.Answer == nil {
		return i.reply(v, http.StatusUnprocessableEntity)
	}
	return i.reply(v, http.StatusOK)
}

// read returns the document of the namespace in the file, or nil if there is none.
func (i *importPage) read(v *page.Visit) (*service.Document, error) {
	documents, f, err := read(v, i.Text)
	if err != nil {
		return nil, err
	}
	if f != nil {
		i.Fault = f
		i.Problems = append(i.Problems, part.Problem{Field: fieldText, Message: f.Error()})
		return nil, nil
	}
	d, problem := i.choose(v.Key(), documents)
	if d == nil {
		i.Problems.Add(fieldText, problem)
		return nil, nil
	}
	if d.Namespace.Key = guidon.NamespaceKey(d.Namespace.Key); d.Namespace.Key != v.Key() {
		i.Foreign = d.Namespace.Key
		d.Namespace = service.DocumentNamespace{Key: v.Key()}
	} else if !v.May(service.RoleAdmin) {
		// A file does not change the settings of the default namespace.
		i.Settings = v.Key() != guidon.DefaultNamespace && d.Namespace != service.DocumentNamespace{Key: v.Key()}
		d.Namespace = service.DocumentNamespace{Key: v.Key()}
	}
	return d, nil
}

// choose returns the only document, or the one of the namespace. Without one it returns
// the problem.
func (i *importPage) choose(namespace string, documents []*service.Document) (*service.Document, string) {
	if len(documents) == 1 {
		return documents[0], ""
	}
	var found *service.Document
	for _, d := range documents {
		key := guidon.NamespaceKey(d.Namespace.Key)
		i.Others = append(i.Others, page.Printable(key, maxExcerpt))
		if key != namespace {
			continue
		}
		if found != nil {
			return nil, "The namespace " + namespace + " is twice in this file."
		}
		found = d
	}
	if found != nil {
		i.Others = nil
		return found, ""
	}
	return nil, "This file has several namespaces, and " + namespace + " is not one of them: " + listed(i.Others) + "."
}

func (i *importPage) reply(v *page.Visit, status int) error {
	title := "Import"
	return v.Reply(status, page.Page{
		Title: title, Place: page.PlaceFlags, Main: importMain(v, i),
		Crumbs: []page.Crumb{{Text: "Flags", Address: v.In("flags")}, {Text: title}},
	})
}

package transfer

import (
	"errors"
	"net/http"
	"net/url"
	"slices"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/web/review"
	"github.com/guidonhq/guidon/handler/web/settings"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// Limits of a file with several namespaces.
const (
	maxNamespaces = 50  // in a file to import
	maxShown      = 200 // namespaces to choose from
)

// transfer is the page that imports and exports several namespaces.
type transfer struct {
	Chosen   map[string]bool // the namespaces to export
	All      bool
	Text     string
	Mode     mode
	Fault    *fault
	Parts    []*filePart // of the file; nil as long as there is none
	Done     bool        // the parts have results
	Message  string
	Problems part.Problems
}

// filePart is a namespace of a file, with the changes that its import makes or has made.
type filePart struct {
	Key      string
	Name     string
	New      bool   // the namespace does not exist
	Refused  string // why it cannot be planned
	Review   *review.Plan
	Included bool
	Result   result
}

// result is the result of an import for one namespace.
type result struct {
	Status   string // one of the statuses, or ""
	Text     string
	Revision int64
}

// The statuses.
const (
	statusImported = "imported"
	statusSame     = "nothing to do"
	statusLeft     = "not selected"
	statusWaiting  = "not imported"
	statusFailed   = "failed"
)

// The fields of a part of the file are these with the key of the namespace behind them.
const (
	fieldInclude  = "include"
	fieldDigest   = review.FieldDigest + "."
	fieldSeen     = review.FieldSeen + "."
	fieldConfirm  = "confirm."
	fieldEveryone = "all"
)

// showTransfer is the page, or the export that it asks for.
func showTransfer(v *page.Visit) error {
	q := v.Query()
	t := &transfer{Mode: modes[0], All: true, Chosen: make(map[string]bool)}
	if q.Get(fieldDownload) == "" {
		return t.reply(v, http.StatusOK)
	}
	keys := q[fieldNamespace]
	if t.All = q.Get(fieldEveryone) != ""; t.All {
		keys = nil
		for _, n := range v.Namespaces {
			keys = append(keys, n.GetKey())
		}
	}
	for _, key := range keys {
		t.Chosen[key] = true
	}
	if len(keys) == 0 || len(t.Chosen) != len(keys) {
		t.Problems.Add("all", "Select the namespaces to export, each once.")
		return t.reply(v, http.StatusUnprocessableEntity)
	}
	return download(v, "guidon", keys, nil)
}

// postTransfer shows the changes of a file, and imports it.
func postTransfer(v *page.Visit, form url.Values) error {
	t := &transfer{Text: textOf(form), Mode: modeOf(form), All: true, Message: form.Get(review.FieldMessage)}
	verb := page.ActionOf(form).Verb
	if verb == "edit" {
		return t.reply(v, http.StatusOK)
	}
	if err := t.read(v); err != nil {
		return err
	}
	if len(t.Problems) > 0 {
		return t.reply(v, http.StatusUnprocessableEntity)
	}
	if verb == "apply" {
		return t.apply(v, form)
	}
	return t.plan(v, nil, http.StatusOK)
}

// read reads the namespaces of the file.
func (t *transfer) read(v *page.Visit) error {
	documents, f, err := read(v, t.Text)
	if err != nil {
		return err
	}
	if f == nil && len(documents) > maxNamespaces {
		f = &fault{Message: "This file has more than " + page.Number(maxNamespaces) + " namespaces. Import it with the command line: guidon apply"}
	}
	if f != nil {
		t.Fault = f
		t.Problems = append(t.Problems, part.Problem{Field: fieldText, Message: f.Error()})
		return nil
	}
	seen := make(map[string]bool)
	for _, d := range documents {
		d.Namespace.Key = guidon.NamespaceKey(d.Namespace.Key)
		if seen[d.Namespace.Key] {
			t.Problems.Add(fieldText, "The namespace "+page.Printable(d.Namespace.Key, maxExcerpt)+" is twice in this file.")
			return nil
		}
		seen[d.Namespace.Key] = true
		p, err := t.newPart(v, d)
		if err != nil {
			return err
		}
		t.Parts = append(t.Parts, p)
	}
	return nil
}

// newPart returns the part of a file with the document.
func (t *transfer) newPart(v *page.Visit, d *service.Document) (*filePart, error) {
	p := &filePart{Key: d.Namespace.Key, Name: page.Printable(d.Namespace.Name, maxExcerpt), Included: true}
	var target *flipt.Namespace
	if v.MayIn(service.RoleViewer, p.Key) {
		var err error
		target, err = page.GetNamespace.Run(v, &flipt.GetNamespaceRequest{Key: p.Key})
		if err != nil && !errors.Is(err, guidon.NotFound) && guidon.CodeOf(err) != guidon.InvalidArgument {
			return nil, err
		}
	}
	if target != nil {
		p.Name = page.NamespaceName(target)
		if !v.MayIn(service.RoleAdmin, p.Key) {
			d.Namespace = service.DocumentNamespace{Key: p.Key}
		}
	} else if p.New = true; !v.MayIn(service.RoleAdmin, p.Key) {
		p.Refused = "There is no such namespace, or you may not see it. Creating it takes Admin in it."
	}
	p.Review = &review.Plan{
		Request: &guidonv1.PlanRequest{NamespaceKey: p.Key, Document: convert.WireDocument(d), Mode: t.Mode.plan},
		Target:  target, Words: review.Words{Created: "new"}, Text: t.Text,
	}
	return p, nil
}

// plan makes the plans of the parts, and shows them. form is what was seen of them before,
// or nil.
func (t *transfer) plan(v *page.Visit, form url.Values, status int) error {
	left := review.MaxRows
	for _, p := range t.Parts {
		if p.Refused != "" {
			continue
		}
		p.Review.Limit = max(left, 1)
		var seen url.Values
		if form != nil {
			seen = url.Values{review.FieldSeen: form[fieldSeen+p.Key]}
		}
		switch err := p.Review.Make(v, seen); guidon.CodeOf(err) {
		case guidon.PermissionDenied, guidon.NotFound, guidon.TooLarge:
			p.Refused = guidon.PublicMessage(err)
		default:
			if err != nil {
				return err
			}
		}
		left -= len(p.Review.Rows)
	}
	return t.reply(v, status)
}

// apply imports the selected parts one after the other. It stops at the first that fails.
func (t *transfer) apply(v *page.Visit, form url.Values) error {
	if !t.confirmed(form) {
		return t.plan(v, form, http.StatusUnprocessableEntity)
	}
	t.Done = true
	var failed error
	for _, p := range t.Parts {
		switch {
		case !p.Included || p.Refused != "":
			p.Result = result{Status: statusLeft, Text: p.Refused}
		case failed != nil:
			p.Result = result{Status: statusWaiting}
		default:
			failed = t.applyPart(v, p, form.Get(fieldDigest+p.Key))
		}
	}
	status := http.StatusOK
	if failed != nil {
		status = call.HTTPStatus(guidon.CodeOf(failed))
		if guidon.CodeOf(failed) == guidon.FailedPrecondition {
			status = http.StatusConflict
		}
		v.Event.Err = failed
	}
	return t.reply(v, status)
}

// confirmed reads what is selected, and reports whether the keys of those namespaces that ask
// for it were typed.
func (t *transfer) confirmed(form url.Values) bool {
	some := false
	for _, p := range t.Parts {
		p.Included = slices.Contains(form[fieldInclude], p.Key)
		p.Review.Confirmed = form.Get(fieldConfirm + p.Key)
		if !p.Included || p.Refused != "" {
			continue
		}
		some = true
		if p.Review.Asks() && p.Review.Confirmed != p.Key {
			t.Problems.Add(fieldConfirm+p.Key, "Type the key of the namespace: "+p.Key+".")
		}
	}
	if !some {
		t.Problems.Add("parts", "Select a namespace to import.")
	}
	return len(t.Problems) == 0
}

// applyPart imports a part, and keeps the result.
func (t *transfer) applyPart(v *page.Visit, p *filePart, digest string) error {
	answer, err := review.Apply(v, p.Review.Request, digest, t.Message)
	switch code := guidon.CodeOf(err); {
	case err == nil && len(answer.GetChanges()) == 0:
		p.Result = result{Status: statusSame}
	case err == nil:
		p.Result = result{Status: statusImported, Revision: answer.GetRevision(), Text: page.Count(len(answer.GetChanges()), "change")}
	case code == guidon.FailedPrecondition:
		p.Result = result{Status: statusFailed, Text: "It was changed meanwhile, so this is no longer what you saw. Nothing was changed in it."}
	case code == guidon.Unavailable || code == guidon.Internal || code == guidon.DeadlineExceeded:
		p.Result = result{
			Status: statusFailed,
			Text:   "It is not known whether it was saved: the database did not answer in time. Look at its changes first.",
		}
	default:
		p.Result = result{Status: statusFailed, Text: guidon.PublicMessage(err)}
	}
	return err
}

// Total returns how many changes the parts have together.
func (t *transfer) Total() (n int) {
	for _, p := range t.Parts {
		if p.Refused == "" {
			n += len(p.Review.Answer.GetChanges())
		}
	}
	return n
}

// Complete reports whether everything that was selected is imported.
func (t *transfer) Complete() bool {
	return !slices.ContainsFunc(t.Parts, func(p *filePart) bool {
		return p.Result.Status == statusFailed || p.Result.Status == statusWaiting
	})
}

// mayImport reports whether the visitor may change any namespace of the file.
func (t *transfer) mayImport(v *page.Visit) bool {
	return !v.Site.ReadOnly && slices.ContainsFunc(t.Parts, func(p *filePart) bool { return p.mayImport(v) })
}

func (p *filePart) mayImport(v *page.Visit) bool {
	return p.Refused == "" && v.MayEditIn(p.Key)
}

func (t *transfer) reply(v *page.Visit, status int) error {
	return settings.ShowTransfer(v, status, transferMain(v, t))
}

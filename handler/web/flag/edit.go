package flag

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/web/review"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// editor is the draft of a part of a flag, in the form of one tab.
type editor interface {
	act(v *page.Visit, a page.Action) (part.Problems, error) // applies a button
	check() part.Problems
	result() *guidonv1.DocumentFlag // the whole flag with the draft in it
	fields() []field                // all of the draft
}

// tab is a page of the flag with a form.
type tab struct {
	path []string                                       // below the address of the flag
	name string                                         // in the form
	read func(e *edit, form url.Values) (editor, error) // e has its base
	show func(e *edit, stored remarks) (templ.Component, error)
}

// edit is a form with a draft.
type edit struct {
	*subject
	tab       *tab
	base      *guidonv1.DocumentFlag // the flag when the visitor began
	began     int64                  // the revision of that
	merged    *guidonv1.MergeDetails // the merge of the draft with a newer state, or nil
	editor    editor
	message   string
	confirmed string // the key of the namespace, typed
	problems  part.Problems
	unsaved   []change.Difference
	effect    []string // of saving the draft on people; nothing if it has no valid result yet, or that is not known
}

// newEdit begins to edit the flag.
func newEdit(s *subject, t *tab, draft editor) *edit {
	return &edit{subject: s, tab: t, base: s.flag, began: s.revision, editor: draft}
}

// readEdit returns the edit in a form.
func readEdit(v *page.Visit, t *tab) (*edit, error) {
	form, err := v.Form()
	if err != nil {
		return nil, err
	}
	began, err := strconv.ParseInt(form.Get("revision"), 10, 64)
	if err != nil || began <= 0 {
		return nil, guidon.Errorf(guidon.InvalidArgument, "invalid field revision: must be the revision that the form began with")
	}
	e := &edit{tab: t, began: began, message: form.Get("message"), confirmed: form.Get("namespace")}
	if e.subject, err = read(v); err != nil {
		if e.subject = deleted(v); e.subject == nil {
			return nil, err
		}
	}
	if e.base, err = e.beginning(); err != nil {
		return nil, err
	}
	e.editor, err = t.read(e, form)
	return e, err
}

// deleted returns the flag of the path as one that was deleted, or nil if it was not.
func deleted(v *page.Visit) *subject {
	s := &subject{v: v, key: v.Variable("flag"), asks: v.Namespace.GetConfirmChanges()}
	deletion, err := page.Deletion(v, "flag", s.key)
	if err != nil || deletion == nil {
		return nil
	}
	s.last, s.revision = deletion, deletion.GetRevision()
	return s
}

// beginning returns the flag as it was when the visitor began. If that is not known any
// more, it is as it is now: saving is then a conflict anyway.
func (e *edit) beginning() (*guidonv1.DocumentFlag, error) {
	if e.flag != nil && !e.stale() {
		return e.flag, nil
	}
	base, err := flagAt(e.v, e.v.At(e.began), e.key)
	switch {
	case err == nil || guidon.CodeOf(err) == guidon.Unavailable:
		return base, err
	case e.flag != nil:
		return e.flag, nil
	}
	return flagAt(e.v, e.v.At(e.last.GetRevision()-1), e.key) // as it was deleted
}

// stale reports whether the flag has changed since the visitor began.
func (e *edit) stale() bool { return e.last != nil && e.last.GetRevision() > e.began }

// post responds to the form of a tab.
func post(t *tab) func(v *page.Visit) error {
	return func(v *page.Visit) error {
		form, err := v.Form()
		if err != nil {
			return err
		}
		if made := v.Query().Get("made"); made != "" { // the segment that a rule was waiting for
			page.Uncarry(form)
			form.Set("rule."+v.Query().Get("rule")+".add", made)
			form.Set("do", "segment:"+v.Query().Get("rule"))
		}
		e, err := readEdit(v, t)
		if err != nil {
			return err
		}
		return review.CarryOut(e, page.ActionOf(form), form)
	}
}

// Gone reports whether the flag was deleted.
func (e *edit) Gone() bool { return e.flag == nil }

// Act applies a button.
func (e *edit) Act(a page.Action) (part.Problems, error) { return e.editor.act(e.v, a) }

// Check returns the problems of the draft.
func (e *edit) Check() part.Problems { return e.editor.check() }

// Show shows the tab with the draft.
func (e *edit) Show(status int, problems part.Problems) error {
	e.problems, e.unsaved = problems, e.differences()
	stored, err := e.remarks()
	if err != nil {
		return err
	}
	if d, ok := e.editor.(*details); len(e.unsaved) > 0 && !(ok && d.enabled == d.base.GetEnabled()) {
		e.readEffect()
	}
	main, err := e.tab.show(e, stored)
	if err != nil {
		return err
	}
	return e.v.Reply(status, e.page(main))
}

// Store stores the draft as one change.
func (e *edit) Store() error {
	return e.Editing().Answer(e.replace(e.editor.result(), e.began))
}

// takesKey reports whether saving the draft takes the key of the namespace: it changes more than texts.
func (e *edit) takesKey() bool {
	return e.asks && (e.Gone() || review.MoreThanTexts(e.differences()))
}

// refuse responds to a draft that the service does not take.
func (e *edit) refuse(err error) error {
	if problem, ok := strings.CutPrefix(guidon.PublicMessage(err), "invalid field message: "); ok {
		return e.Review(http.StatusUnprocessableEntity, part.Problems{{Field: "message", Message: "The message " + problem + "."}})
	}
	return e.Show(http.StatusUnprocessableEntity, e.refused(err))
}

// replace stores a flag in the place of the edited one, unless that has changed since a revision.
func (e *edit) replace(f *guidonv1.DocumentFlag, since int64) (*guidonv1.EditResponse, error) {
	return page.ReplaceFlag.Run(e.v, &guidonv1.ReplaceFlagRequest{
		NamespaceKey: e.v.Key(), Key: e.key, Flag: f, UnlessChangedSince: &since, Message: e.message,
	})
}

// readEffect reads the effect of saving the draft.
func (e *edit) readEffect() {
	if len(e.Check()) == 0 {
		e.effect, _ = e.preview(&guidonv1.PreviewFlagRequest{Flag: e.editor.result()})
	}
}

// formFields returns the hidden fields of a form that shows nothing of the draft.
func (e *edit) formFields() []field {
	return append([]field{{"revision", page.Revision(e.began)}, {"tab", e.tab.name}}, e.editor.fields()...)
}

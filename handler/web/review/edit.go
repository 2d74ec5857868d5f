package review

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// Draft is an object as it is edited in a form. M is the message of a merge of it with the changes of another user.
type Draft[M Answer] interface {
	Editing() *Edit[M]
	Gone() bool                               // another user has deleted the object
	Act(a page.Action) (part.Problems, error) // applies a button to the draft
	Check() part.Problems
	Show(status int, problems part.Problems) error   // the form
	Review(status int, problems part.Problems) error // what saving the draft changes
	Store() error                                    // saves it
}

// CarryOut runs the action of the button of the form of a draft.
func CarryOut[M Answer](d Draft[M], a page.Action, form url.Values) error {
	switch {
	case a.Verb == Save || a.Verb == GoOn:
		return d.Editing().Settle(a.Verb, form)
	case d.Gone():
		return d.Editing().ShowConflict()
	}
	problems, err := d.Act(a)
	if err != nil {
		return err
	}
	switch a.Verb {
	case "save", "review", Merge:
		problems = append(problems, d.Check()...)
	}
	switch {
	case len(problems) > 0:
		return d.Show(http.StatusUnprocessableEntity, problems)
	case a.Verb == "save":
		if e := d.Editing(); e.Confirm {
			return d.Review(e.unconfirmed(form))
		}
		return d.Store()
	case a.Verb == "review":
		return d.Review(http.StatusOK, nil)
	case a.Verb == Merge:
		return d.Editing().MergeNow()
	}
	return d.Show(http.StatusOK, nil)
}

// textPath matches the paths of what is only text for people.
var textPath = regexp.MustCompile(`^(?:name|description|metadata\[.*\]|(?:variants|rollouts|constraints)\[.*\]\.(?:name|description))$`)

// MoreThanTexts reports whether the differences are in more than texts for people, so that they may change who gets what.
func MoreThanTexts(differences []change.Difference) bool {
	return slices.ContainsFunc(differences, func(d change.Difference) bool {
		return !textPath.MatchString(d.Path) || d.Path == `metadata["openfeature.value"]` || d.Path == `metadata["`+service.OffMember+`"]`
	})
}

// SavedAt sends the visitor to a page of the namespace after a change, or after there was nothing
// to change.
func SavedAt(v *page.Visit, r *guidonv1.EditResponse, segments ...string) error {
	saved := page.NothingSaved
	if len(r.GetChanges()) > 0 {
		saved = page.Revision(r.GetRevision())
	}
	return v.Redirect(page.Below(append([]string{"namespaces", r.GetNamespaceKey()}, segments...)...) + "?saved=" + saved)
}

// Edit is a draft of an object that another user may have changed since the visitor began. M is
// the message of a merge of both.
type Edit[M Answer] struct {
	Conflict           // what the page of a conflict says, without the merge
	Frame    page.Page // of that page, without its main part
	List     []string  // the path of the list of objects, below the public path
	Now      int64     // the revision of the object that the draft was read with; 0 if there is none

	Merge   func(choices []*guidonv1.MergeChoice) (M, error)
	Exists  func(merged M) bool // the merged object is not deleted
	Replace func(merged M, unlessChangedSince int64) (*guidonv1.EditResponse, error)
	Saved   func(response *guidonv1.EditResponse) error // responds that the object was saved
	GoOn    func(now int64, merged M) error             // edits the merged object further
	Refuse  func(err error) error                       // responds to a draft that is not valid
}

// ShowConflict responds to a draft that cannot be saved because another user has changed the
// object: 409, with everything that was entered.
func (e *Edit[M]) ShowConflict() error {
	m, err := e.Merge(nil)
	if err != nil {
		return e.refuse(err)
	}
	if last := m.GetDetails().GetLatest(); last != nil && e.stored(m) && last.GetActor().GetId() == e.Visitor.ActorID() {
		// its response was lost, or the form was sent again
		return e.Saved(&guidonv1.EditResponse{
			NamespaceKey: e.Visit.Key(), Revision: last.GetRevision(), Changes: []*guidonv1.EditedObject{{}},
		})
	}
	return e.reply(http.StatusConflict, m)
}

// Stored reports whether the object is already as the draft wants it.
func (e *Edit[M]) Stored() bool {
	m, err := e.Merge(nil)
	return err == nil && e.stored(m)
}

func (e *Edit[M]) stored(m M) bool {
	return e.Exists(m) && len(m.GetDetails().GetConflicts()) == 0 && len(m.GetDetails().GetMine()) == 0
}

// MergeNow merges the draft with the changes that others have saved, and continues editing it.
// The page of the conflict asks for the choices that only the visitor can make.
func (e *Edit[M]) MergeNow() error {
	m, err := e.Merge(nil)
	if err != nil {
		return e.refuse(err)
	}
	if d := m.GetDetails(); len(d.GetConflicts()) > 0 || d.GetLatest().GetRevision() > e.Now {
		return e.reply(http.StatusConflict, m)
	}
	return e.GoOn(e.Now, m)
}

// unconfirmed returns the status and the problems of a form that must have the key of the namespace. A form that has none
// is asked for it.
func (e *Edit[M]) unconfirmed(form url.Values) (status int, problems part.Problems) {
	if form.Get(FieldConfirm) == "" {
		return http.StatusOK, nil
	}
	problems.Add(FieldConfirm, "This is not the key of the namespace: "+e.Visit.Key()+".")
	return http.StatusUnprocessableEntity, problems
}

// Settle runs the action of a button of the page of the conflict: it saves the result, or
// continues editing it. If the object has changed again, it shows the page again.
func (e *Edit[M]) Settle(verb string, form url.Values) error {
	open, settled, err := settle(readChoices(form), e.Merge)
	if err != nil {
		return e.refuse(err)
	}
	now, seen := seen(form, open.GetDetails())
	switch {
	case !seen:
		return e.reply(http.StatusConflict, open)
	case !e.Exists(settled): // it stays deleted
		return e.Redirect(page.Below(e.List...))
	case verb == GoOn && e.Now > 0:
		return e.GoOn(now, settled)
	case e.Confirm:
		_, problems := e.unconfirmed(form)
		e.Problems = append(e.Problems, problems...)
		return e.reply(http.StatusUnprocessableEntity, open)
	}
	response, err := e.Replace(settled, now)
	if guidon.CodeOf(err) == guidon.InvalidArgument {
		e.Problems.Add(e.ID, page.Sentence(guidon.PublicMessage(err)))
		return e.reply(http.StatusUnprocessableEntity, open)
	}
	return e.Answer(response, err)
}

// Answer responds to the result of saving.
func (e *Edit[M]) Answer(response *guidonv1.EditResponse, err error) error {
	switch code := guidon.CodeOf(err); {
	case err == nil:
		return e.Saved(response)
	case code == guidon.FailedPrecondition:
		return e.ShowConflict()
	case code == guidon.InvalidArgument:
		return e.Refuse(err)
	}
	return err
}

// refuse responds to an error of a merge.
func (e *Edit[M]) refuse(err error) error {
	if guidon.CodeOf(err) != guidon.InvalidArgument || e.Now == 0 {
		return err
	}
	return e.Refuse(err)
}

// reply responds with the page of the conflict.
func (e *Edit[M]) reply(status int, m M) error {
	form, err := e.Form()
	if err != nil {
		return err
	}
	p := &e.Conflict
	p.Details, p.Choices = m.GetDetails(), readChoices(form)
	p.Deleted = e.Now == 0
	if latest := p.Details.GetLatest(); latest != nil {
		p.Deleted = latest.GetAction() == string(change.ActionDelete)
	}
	if p.Deleted {
		p.Back = e.Site.Path(page.Below(e.List...))
	}
	return p.reply(status, e.Frame)
}

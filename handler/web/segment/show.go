package segment

import (
	"cmp"
	"net/http"
	"strconv"

	"github.com/a-h/templ"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/web/review"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// region is the part of a page that has the form of a draft.
const region = "segment"

// effectRegion is the part that shows the effect of saving the draft.
const effectRegion = "effect"

// editor is the model of the page of a segment.
type editor struct {
	*subject
	draft    *draft
	base     *guidonv1.DocumentSegment // the segment when the visitor began
	acted    actionResult
	known    Known
	effect   *effect // of saving the draft; nil if it is as saved, or not complete
	answer   *answer
	unsaved  []change.Difference    // of the draft
	merged   *guidonv1.MergeDetails // the merge of the draft with a newer state, or nil
	readonly bool

	confirmed string // the key of the namespace, typed
}

// showSegment shows the constraints of a segment.
func showSegment(v *page.Visit, s *subject) error {
	e := &editor{subject: s, base: s.Saved, draft: draftOf(s.Saved, s.Revision, v.Location())}
	e.draft.openAt(v.Query().Get("edit"))
	return e.Show(http.StatusOK, nil)
}

// openAt opens the constraint with the number.
func (d *draft) openAt(number string) {
	if i, err := strconv.Atoi(number); err == nil && i >= 1 && i <= len(d.Constraints) {
		d.Constraints[i-1].Open = true
	}
}

// stale reports whether the segment has changed since the draft began.
func (e *editor) stale() bool { return e.Last != nil && e.Last.GetRevision() > e.draft.Revision }

// postSegment applies the button to the draft in the form, and shows the page again,
// unless the button saves.
func postSegment(v *page.Visit) error {
	form, err := v.Form()
	if err != nil {
		return err
	}
	d, err := readDraft(form, v.Location())
	if err != nil {
		return err
	}
	s, err := read(v)
	gone := notFound(err) && form.Has("revision")
	if err != nil && !gone {
		return err
	}
	action := page.ActionOf(form)
	if !form.Has("revision") { // the page has no draft
		if action.Verb != "check" {
			return errForm
		}
		asked := draftOf(s.Saved, s.Revision, v.Location())
		asked.Entity, asked.Context = d.Entity, d.Context
		d = asked
	}
	d.Key = s.Key
	e := &editor{subject: s, draft: d, confirmed: form.Get(review.FieldConfirm)}
	if e.base, err = e.beginning(); err != nil {
		return err
	}
	if gone {
		s.Saved, s.deleted = e.base, true
	}
	d.keepSpelling(e.base)
	return review.CarryOut(e, action, form)
}

// Gone reports whether the segment was deleted.
func (e *editor) Gone() bool { return e.deleted }

// Act applies a button to the draft, or evaluates whether an entity is in the segment with it; so does Enter
// if there is an entity.
func (e *editor) Act(a page.Action) (problems part.Problems, err error) {
	asks := a.Verb == "check" || a.Verb == "enter" && e.draft.Entity != ""
	if !asks {
		e.acted = e.draft.act(a, e.base, e.Location())
		return e.acted.Problems, nil
	}
	drafted := len(e.draft.differences(e.base)) > 0
	if drafted {
		problems = e.Check()
	}
	if len(problems) == 0 {
		e.answer, err = e.ask(e.draft, drafted, &problems)
	}
	return problems, err
}

// Check returns the problems of the draft.
func (e *editor) Check() part.Problems { return e.draft.check(e.base, e.Location()) }

// Store stores the draft as one change. It asks before that removes the last constraint.
func (e *editor) Store() error {
	d := e.draft
	if len(d.Constraints) == 0 && len(e.base.GetConstraints()) > 0 && !d.Everyone {
		e.acted.AskLast = true
		return e.Show(http.StatusUnprocessableEntity, nil)
	}
	return e.Editing().Answer(e.replace(d.document(), d.Revision))
}

// takesKey reports whether saving the draft takes the key of the namespace: it changes more than texts.
func (e *editor) takesKey() bool {
	return e.Namespace.GetConfirmChanges() && (e.Gone() || review.MoreThanTexts(e.draft.differences(e.base)))
}

// showProblems shows the name if something is wrong with it.
func (e *editor) showProblems() {
	for _, p := range e.acted.Problems {
		if p.Field == "name" {
			e.draft.Naming = true
		}
	}
}

// Show responds with the page.
func (e *editor) Show(status int, problems part.Problems) (err error) {
	e.acted.Problems = problems
	e.showProblems()
	if e.Usage == nil {
		if err = e.readAround(); err != nil {
			return err
		}
	}
	e.readonly = !e.MayEdit() || e.At != "" || isTooLarge(e.Saved)
	if !e.readonly {
		if e.known, err = ReadKnown(e.Visit); err != nil {
			return err
		}
		e.unsaved = e.draft.differences(e.base)
		if len(e.unsaved) > 0 && len(e.Check()) == 0 {
			if e.effect, err = readEffect(e.Visit, e.Key, e.draft.document()); err != nil {
				return err
			}
		}
	}
	p := e.page("", e.main())
	p.Live = e.At == "" && len(e.unsaved) == 0
	p.Modules = []string{"draft.js"}
	if e.At == "" {
		p.Object = kindSegment + "/" + e.Key
	}
	p.Regions = map[string]templ.Component{region: e.body(), effectRegion: e.effectBar()}
	return e.Reply(status, p)
}

// page returns a page of the segment. title is its subject besides the segment, or "".
func (s *subject) page(title string, main templ.Component) page.Page {
	name := cmp.Or(s.Saved.GetName(), s.Key)
	crumbs := []page.Crumb{{Text: "Segments", Address: s.In("segments")}}
	if title == "" {
		crumbs = append(crumbs, page.Crumb{Text: s.Key})
		title = name
	} else {
		crumbs = append(crumbs, page.Crumb{Text: s.Key, Address: s.address()}, page.Crumb{Text: title})
		title += " · " + name
	}
	return page.Page{Title: title, Place: page.PlaceSegments, Crumbs: crumbs, Main: main}
}

// problems returns the problems of the form.
func (e *editor) problems() part.Problems { return e.acted.Problems }

// rows returns the constraints as the page shows them.
func (e *editor) rows() *Rows {
	return &Rows{
		Visit: e.Visit, Group: &e.draft.Group, Saved: e.base.GetConstraints(), Known: e.known, Problems: e.problems(),
		readonly: e.readonly,
	}
}

// showUses shows the flags that use the segment.
func showUses(v *page.Visit, s *subject) (err error) {
	if token := v.Query().Get("after"); token != "" {
		request := &guidonv1.GetSegmentUsageRequest{NamespaceKey: s.reference(), Key: s.Key, Limit: maxUses, PageToken: token}
		if s.Usage, err = page.GetSegmentUsage.Run(v, request); err != nil {
			return err
		}
	}
	return v.Reply(http.StatusOK, s.page("Used by", s.usesMain()))
}

// maxUses is how many flags a page lists.
const maxUses = 50

package flag

import (
	"net/http"
	"net/url"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/web/review"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// conflict responds to a form that cannot be saved because another user has changed the
// flag since: 409, with everything that was entered. It is the one place that decides how
// conflicts are resolved.
func conflict(e *edit) error {
	m, err := e.merge(nil)
	if err != nil {
		return e.refuse(err)
	}
	if nothingLeft(m) && e.mine() { // its answer was lost, or the form was sent again
		e.saved(&guidonv1.EditResponse{
			NamespaceKey: e.v.Key(), Revision: e.last.GetRevision(), Changes: []*guidonv1.EditedObject{{}},
		}, e.tab.path...)
		return nil
	}
	return e.replyConflict(http.StatusConflict, m)
}

// nothingLeft reports whether the flag is already as the visitor wants it.
func nothingLeft(m *guidonv1.FlagMerge) bool {
	return m.GetFlag() != nil && len(m.GetDetails().GetConflicts()) == 0 && len(m.GetDetails().GetMine()) == 0
}

// mine reports whether the visitor has made the newest change of the flag.
func (e *edit) mine() bool {
	return e.last != nil && e.last.GetActor().GetId() == e.v.Visitor.ActorID()
}

// isStored reports whether the changes of the draft are stored already, though the form began
// before that.
func (e *edit) isStored() bool {
	if !e.stale() || e.flag == nil || len(e.differences()) == 0 {
		return false
	}
	m, err := e.merge(nil)
	return err == nil && nothingLeft(m)
}

// merge merges the draft with the changes that others have saved.
func (e *edit) merge(choices []*guidonv1.MergeChoice) (*guidonv1.FlagMerge, error) {
	return mergeFlag.Run(e.v, &guidonv1.MergeFlagRequest{
		NamespaceKey: e.v.Key(), Key: e.key, Since: e.began, Flag: e.editor.result(), Choices: choices, PageWords: true,
	})
}

// mergeNow merges the draft with the changes that others have saved, and continues editing it.
// The page of the conflict asks for the choices that only the visitor can make.
func mergeNow(e *edit) error {
	m, err := e.merge(nil)
	d := m.GetDetails()
	switch {
	case err != nil:
		return e.refuse(err)
	case len(d.GetConflicts()) > 0 || d.GetLatest().GetRevision() > e.revision:
		return e.replyConflict(http.StatusConflict, m)
	}
	return e.goOn(e.revision, m.GetFlag(), d)
}

// refuse responds to a draft that is not valid, or has another error.
func (e *edit) refuse(err error) error {
	if guidon.CodeOf(err) != guidon.InvalidArgument || e.flag == nil {
		return err
	}
	return e.show(http.StatusUnprocessableEntity, part.Problems{{Field: "edit", Message: guidon.PublicMessage(err)}})
}

// settle runs the action of a button of the page of the conflict: it saves the result, or
// continues editing it. If the flag has changed again, it shows the page again.
func settle(e *edit, verb string, form url.Values) error {
	open, settled, err := review.Settle(review.ReadChoices(form), e.merge)
	if err != nil {
		return e.refuse(err)
	}
	now, seen := review.Seen(form, open.GetDetails())
	switch {
	case !seen:
		return e.replyConflict(http.StatusConflict, open)
	case settled.GetFlag() == nil: // it stays deleted
		e.v.Redirect(page.Below("namespaces", e.v.Key(), "flags"))
		return nil
	case verb == review.GoOn && e.flag != nil:
		return e.goOn(now, settled.GetFlag(), settled.GetDetails())
	case e.asks && e.confirmed != e.v.Key():
		if e.confirmed != "" {
			e.problems.Add("namespace", "This is not the key of the namespace: "+e.v.Key()+".")
		}
		return e.replyConflict(http.StatusUnprocessableEntity, open)
	}
	response, err := replaceFlag.Run(e.v, &guidonv1.ReplaceFlagRequest{
		NamespaceKey: e.v.Key(), Key: e.key, Flag: settled.GetFlag(), UnlessChangedSince: &now, Message: e.message,
	})
	switch guidon.CodeOf(err) {
	case guidon.FailedPrecondition:
		return conflict(e)
	case guidon.InvalidArgument:
		e.problems.Add("edit", guidon.PublicMessage(err))
		return e.replyConflict(http.StatusUnprocessableEntity, open)
	}
	if err != nil {
		return err
	}
	e.saved(response, e.tab.path...)
	return nil
}

// replyConflict responds with the page of the conflict.
func (e *edit) replyConflict(status int, m *guidonv1.FlagMerge) error {
	form, err := e.v.Form()
	if err != nil {
		return err
	}
	p := &review.Conflict{
		Visit: e.v, Details: m.GetDetails(), Choices: review.ReadChoices(form),
		Noun: "flag", ID: "edit", Action: e.address("review"), Back: e.address(), Deleted: e.gone(m.GetDetails()), Began: e.began,
		Confirm: e.asks && e.confirmed != e.v.Key(), Draft: conflictDraft(e), Mine: review.DifferenceList(e.differences()), Problems: e.problems,
	}
	p.GoesOn = !p.Deleted
	if p.Deleted {
		p.Back = e.v.In("flags")
	}
	p.Reply(status, e.plainPage("Your change", nil))
	return nil
}

// gone reports whether the flag does not exist now.
func (e *edit) gone(d *guidonv1.MergeDetails) bool {
	if latest := d.GetLatest(); latest != nil {
		return latest.GetAction() == "delete"
	}
	return e.flag == nil
}

// goOn makes the merged flag a draft over the flag as it is now.
func (e *edit) goOn(now int64, merged *guidonv1.DocumentFlag, how *guidonv1.MergeDetails) error {
	switch mine := e.editor.(type) {
	case *draft:
		d := rulesOf(merged, e.flag)
		d.openLike(mine)
		e.editor = d
	case *details:
		e.editor = newDetails(merged).over(e.flag)
	case *variants:
		e.editor = rowsOf(mine.rebased(e.flag), merged)
	}
	e.base, e.began, e.merged = e.flag, now, how
	return e.show(http.StatusOK, nil)
}

// rulesOf returns the rules of a merged flag as a draft over the flag as it is now: those that
// are equal are the same, and otherwise those in the same place.
func rulesOf(merged, now *guidonv1.DocumentFlag) *draft {
	d, theirs := newDraft(merged), newDraft(now)
	out := &draft{base: now, boolean: theirs.boolean, other: d.other}
	taken := make(map[int]bool)
	for _, s := range d.rules {
		s.was, s.shares = -1, d.sharesIn(now, s.shares)
		for i, candidate := range theirs.rules {
			if !taken[i] && candidate.same(s) {
				s.was, taken[i] = i, true
				break
			}
		}
		out.rules = append(out.rules, s)
	}
	for i := range out.rules {
		if out.rules[i].was < 0 && i < len(theirs.rules) && !taken[i] {
			out.rules[i].was, taken[i] = i, true
		}
	}
	return out
}

// openLike opens the rules that are open in another draft, as far as they are the same.
func (d *draft) openLike(o *draft) {
	d.openElse = o.openElse
	for _, s := range o.rules {
		if !s.open {
			continue
		}
		s.shares = o.sharesIn(d.base, s.shares)
		for i := range d.rules {
			if !d.rules[i].open && d.rules[i].same(s) {
				d.rules[i].open = true
				break
			}
		}
	}
}

// rowsOf returns the rows with the content that their variants have in a merged flag.
func rowsOf(d *variants, merged *guidonv1.DocumentFlag) *variants {
	for i := range d.rows {
		r := &d.rows[i]
		at := variantIndex(merged, r.key)
		if at < 0 && r.was != "" {
			at = variantIndex(merged, r.was)
		}
		if at < 0 {
			continue
		}
		v := merged.GetVariants()[at]
		r.gone, r.key, r.name, r.description, r.attachment = false, v.GetKey(), v.GetName(), v.GetDescription(), v.GetAttachment()
		if v.GetDefault() {
			d.other = i
		}
	}
	if defaultVariant(merged) == "" {
		d.other = -1
	}
	return d
}

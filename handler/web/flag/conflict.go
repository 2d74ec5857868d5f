package flag

import (
	"net/http"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/review"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// Editing returns the edit as one of an object that another user may have changed.
func (e *edit) Editing() *review.Edit[*guidonv1.FlagMerge] {
	out := &review.Edit[*guidonv1.FlagMerge]{
		Conflict: review.Conflict{
			Visit: e.v, Noun: "flag", ID: "edit", Action: e.address("review"), Back: e.address(), Began: e.began,
			Confirm: e.takesKey() && e.confirmed != e.v.Key(), Draft: conflictDraft(e), Mine: review.DifferenceList(e.differences()), Problems: e.problems,
		},
		Frame: e.plainPage("Your change", nil), List: []string{"namespaces", e.v.Key(), "flags"},
		Merge: func(choices []*guidonv1.MergeChoice) (*guidonv1.FlagMerge, error) {
			return page.MergeFlag.Run(e.v, &guidonv1.MergeFlagRequest{
				NamespaceKey: e.v.Key(), Key: e.key, Since: e.began, Flag: e.editor.result(), Choices: choices, PageWords: true,
			})
		},
		Exists: func(m *guidonv1.FlagMerge) bool { return m.GetFlag() != nil },
		Replace: func(m *guidonv1.FlagMerge, since int64) (*guidonv1.EditResponse, error) {
			return e.replace(m.GetFlag(), since)
		},
		Saved: func(r *guidonv1.EditResponse) error { return e.saved(r, e.tab.path...) },
		GoOn:  e.goOn, Refuse: e.refuse,
	}
	if !e.Gone() {
		out.Now = e.revision
	}
	return out
}

// isStored reports whether the changes of the draft are stored already, though the form began
// before that.
func (e *edit) isStored() bool {
	return e.stale() && !e.Gone() && len(e.unsaved) > 0 && e.Editing().Stored()
}

// goOn makes the merged flag a draft over the flag as it is now.
func (e *edit) goOn(now int64, m *guidonv1.FlagMerge) error {
	merged := m.GetFlag()
	switch mine := e.editor.(type) {
	case *draft:
		d := rulesOf(merged, e.flag)
		d.openLike(mine)
		e.editor = d
	case *details:
		e.editor = newDetails(merged).over(e.flag)
	case *variants:
		e.editor = mine.over(e.flag, merged)
	}
	e.base, e.began, e.merged = e.flag, now, m.GetDetails()
	return e.Show(http.StatusOK, nil)
}

// rulesOf returns the rules of a merged flag as a draft over the flag as it is now: those that
// are equal are the same, and otherwise those in the same place.
func rulesOf(merged, now *guidonv1.DocumentFlag) *draft {
	d, theirs := newDraft(merged), newDraft(now)
	out := &draft{base: now, boolean: theirs.boolean, needs: d.needs, other: d.other}
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
	d.openElse, d.asked = o.openElse, o.asked
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

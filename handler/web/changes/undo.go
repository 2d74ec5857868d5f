package changes

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/review"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// Limits of the choices of a review.
const (
	maxConflicts = 100 // that have a choice each; the others share one
	maxPlans     = 12  // that are made for the choices of one review
)

// fieldOthers is the side of the conflicts without a choice of their own.
const fieldOthers = "others"

// The sides of a conflict.
const (
	sideCurrent = "current"
	sideEarlier = "earlier"
)

// undoReview is the review before a change is undone or a state restored.
type undoReview struct {
	review.Plan
	Heading, Lead string
	Act           string // the label of the button
	Back          string // the address of the page before
	Whole         string // the address of the review of the whole change, if this is a part of it
	after         string // the path of the page after it, below the public path; "" is that of the new change

	Conflicts []conflict
	Sharing   int    // conflicts that share a choice
	OthersAre string // the choice
	Chosen    bool   // the plan is not the one that was seen, because of the choices
}

// newReview returns a review without words.
func newReview(v *page.Visit, request *guidonv1.PlanRequest) *undoReview {
	request.NamespaceKey = v.Key()
	return &undoReview{Plan: review.Plan{Request: request, Target: v.Namespace, Words: review.Words{Created: "brought back"}}}
}

// conflict is a part that was changed again since, with the choice.
type conflict struct {
	*guidonv1.PlanConflict
	Side                      string
	Earlier, Changed, Current string
}

// askReview is the page before it is done.
func askReview(v *page.Visit, r *undoReview) error { return r.show(v, http.StatusOK, nil) }

// newUndo returns the review before the change in the path is undone or, if the query names
// objects, what it did to them.
func newUndo(v *page.Visit) (*undoReview, error) {
	revision, err := revisionOf(v)
	if err != nil {
		return nil, err
	}
	changes, more, err := changesOf(v, revision, 2, namesOnly)
	if err != nil {
		return nil, err
	}
	if len(changes) == 0 {
		return nil, noRevision(v, revision)
	}
	flags, segments := v.Query()[flagKind.name], v.Query()[segmentKind.name]
	r := newReview(v, &guidonv1.PlanRequest{FlagKeys: flags, SegmentKeys: segments, Undo: &guidonv1.UndoneChanges{FirstRevision: revision}})
	r.Heading, r.Act, r.Back = "Undo revision "+page.Revision(revision), "Undo", v.In("changes", page.Revision(revision))
	g := groupsOf(changes)[0]
	r.Lead = g.Actor.String() + " saved it " + strings.TrimSuffix(v.Ago(g.At), ".") + "."
	if g.Message != "" {
		r.Lead += " “" + g.Message + "”"
	}
	if one := append(flags[:len(flags):len(flags)], segments...); len(one) == 1 {
		k := flagKind
		if len(segments) == 1 {
			k = segmentKind
		}
		r.Heading += " of " + page.Printable(one[0], maxShownName)
		r.Back = v.In(k.folder, one[0], "history", page.Revision(revision))
		r.after = page.Below("namespaces", v.Key(), k.folder, one[0], "history")
		if len(changes) > 1 || more {
			r.Whole = v.In("changes", page.Revision(revision), "undo")
		}
	}
	return r, nil
}

// newRestore returns the review before a state of an object of the kind is restored.
func newRestore(v *page.Visit, k *kind) (*undoReview, error) {
	revision, err := revisionOf(v)
	if err != nil {
		return nil, err
	}
	key := v.Variable(k.name)
	r := newReview(v, &guidonv1.PlanRequest{SourceNamespaceKey: v.At(revision)})
	r.Heading = "Restore " + page.Printable(key, maxShownName) + " as at revision " + page.Revision(revision)
	r.Lead = "The " + k.name + " becomes exactly what it was then. Everything that was changed in it since is replaced."
	r.Act, r.Back = "Restore", v.In(k.folder, key, "history", page.Revision(revision))
	r.after = page.Below("namespaces", v.Key(), k.folder, key, "history")
	if k == flagKind {
		r.Request.FlagKeys = []string{key}
	} else {
		r.Request.SegmentKeys = []string{key}
	}
	return r, nil
}

// submitReview runs the action of the form of the review.
func submitReview(v *page.Visit, r *undoReview) error {
	form, err := v.Form()
	if err != nil {
		return err
	}
	r.Message, r.Confirmed = strings.TrimSpace(form.Get(review.FieldMessage)), strings.TrimSpace(form.Get(review.FieldConfirm))
	seen := form.Get(review.FieldDigest)
	if page.ActionOf(form).Verb != "apply" || seen == "" {
		return r.show(v, http.StatusOK, form)
	}
	if r.Request.GetUndo() != nil {
		if err := r.choose(v, form); err != nil {
			return err
		}
		if v.MayEdit() && r.Answer.GetDigest() != seen {
			return r.notSeen(v, form)
		}
	}
	revision, status, err := r.Submit(v, form)
	switch {
	case err != nil:
		return err
	case revision > 0:
		after := cmp.Or(r.after, page.Below("namespaces", v.Key(), "changes", page.Revision(revision)))
		return v.Redirect(after + "?saved=" + page.Revision(revision))
	case status == http.StatusConflict: // something was saved just now
		if err := r.choose(v, form); err != nil {
			return err
		}
		return r.notSeen(v, form)
	}
	return r.reply(v, status)
}

// show makes the plan and responds with the review. form has the choices; it may be nil.
func (r *undoReview) show(v *page.Visit, status int, form url.Values) error {
	if err := r.choose(v, form); err != nil {
		return err
	}
	return r.reply(v, status)
}

// notSeen responds with the review of a plan that is not the one in the form: because of the choices, or because something
// was saved.
func (r *undoReview) notSeen(v *page.Visit, form url.Values) error {
	r.Chosen = r.Answer != nil && r.choicesChanged(form)
	r.Moved = r.Answer != nil && !r.Chosen
	return r.reply(v, http.StatusConflict)
}

func (r *undoReview) reply(v *page.Visit, status int) error {
	if len(r.Impossible) > 0 && v.Request.Method == http.MethodPost {
		status = http.StatusUnprocessableEntity
	}
	return v.Reply(status, page.Page{
		Title: r.Heading, Place: page.PlaceChanges,
		Crumbs: []page.Crumb{{Text: "Changes", Address: v.In("changes")}, {Text: r.Heading}},
		Main:   reviewMain(v, r),
	})
}

// changesNobody reports whether nobody gets another result.
func (r *undoReview) changesNobody() bool {
	some := func(row review.Row) bool { return len(row.Effects) > 0 }
	return len(r.Others) == 0 && !r.Answer.GetEffectsTruncated() && !slices.ContainsFunc(r.Rows, some)
}

// choose makes the plan. It finds the conflicts, which the plan without any choice has, and resolves them as
// the form says: by default, what was changed since is kept.
func (r *undoReview) choose(v *page.Visit, form url.Values) error {
	undone := r.Request.GetUndo()
	if undone == nil {
		return r.Make(v, form)
	}
	sides := sidesOf(form)
	r.OthersAre = cmp.Or(sideOf(form.Get(fieldOthers)), sideCurrent)
	r.Conflicts, r.Sharing, undone.Choices = nil, 0, nil
	for range maxPlans {
		r.Answer = nil
		if err := r.Make(v, form); err != nil || len(r.Answer.GetConflicts()) == 0 {
			return err
		}
		for _, c := range r.Answer.GetConflicts() {
			side := r.OthersAre
			if len(r.Conflicts) < maxConflicts {
				side = cmp.Or(sides[conflictName(c.GetKind(), c.GetKey(), c.GetPath())], sideCurrent)
				r.Conflicts = append(r.Conflicts, newConflict(c, side, r.Answer.GetAbridged()))
			} else {
				r.Sharing++
			}
			undone.Choices = append(undone.Choices, &guidonv1.ConflictChoice{Kind: c.GetKind(), Key: c.GetKey(), Path: c.GetPath(), Side: side})
		}
	}
	r.Answer = nil
	r.Refuse(guidon.Errorf(guidon.InvalidArgument, "too much was changed again since: undo fewer objects at a time"))
	return nil
}

func newConflict(c *guidonv1.PlanConflict, side string, abridged bool) conflict {
	none := "nothing"
	if abridged && c.Wording == nil {
		none = "not shown: too large"
	}
	value := func(words string) string { return cmp.Or(page.Printable(words, maxMessage), none) }
	w := c.GetWording()
	return conflict{c, side, value(w.GetEarlier()), value(w.GetChanged()), value(w.GetCurrent())}
}

// conflictName returns a name for a conflict.
func conflictName(kind, key, path string) string { return kind + "\x00" + key + "\x00" + path }

// conflictField returns the name of a field of the conflict at the index.
func conflictField(field string, i int) string { return field + "." + strconv.Itoa(i) }

// sidesOf returns the choices of the form by the names of their conflicts.
func sidesOf(form url.Values) map[string]string {
	sides := make(map[string]string)
	for i := range maxConflicts {
		name := conflictName(form.Get(conflictField("kind", i)), form.Get(conflictField("key", i)), form.Get(conflictField("path", i)))
		if side := sideOf(form.Get(conflictField("side", i))); side != "" {
			sides[name] = side
		}
	}
	return sides
}

// sideOf returns the side, or "" if it is not a side.
func sideOf(text string) string {
	if text == sideCurrent || text == sideEarlier {
		return text
	}
	return ""
}

// choicesChanged reports whether the choices are others than those of the plan that was
// seen.
func (r *undoReview) choicesChanged(form url.Values) bool {
	for i := range maxConflicts {
		if form.Get(conflictField("side", i)) != form.Get(conflictField("seen", i)) {
			return true
		}
	}
	return form.Get(fieldOthers) != form.Get("seen."+fieldOthers)
}

package changes

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/web/review"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// Limits of a review.
const (
	maxPlannedOpen = 25  // of these, the ones with all differences
	maxConflicts   = 100 // that have a choice each; the others share one
	maxPlans       = 12  // that are made for the choices of one review
)

// The fields of the form.
const (
	fieldDigest  = "digest"
	fieldOthers  = "others" // the side of the conflicts without a choice of their own
	fieldPlanned = "planned"
)

// The sides of a conflict.
const (
	sideCurrent = "current"
	sideEarlier = "earlier"
)

// undoReview is the review before a change is undone or a state restored.
type undoReview struct {
	Heading, Text string
	Act           string // the label of the button
	Back          string // the address of the page before
	Whole         string // the address of the review of the whole change, if this is a part of it
	request       *guidonv1.PlanRequest
	after         string // the path of the page after it, below the public path; "" is that of the new change

	Plan       *guidonv1.PlanResponse
	Changes    []plannedObject
	Gone       []string // the objects of the plan that was seen that this one lacks
	Effects    []review.Effect
	Conflicts  []conflict
	Others     int    // conflicts that share a choice
	OthersAre  string // the choice
	Impossible string // why there is no plan
	Message    string
	Confirmed  string // the text that was typed to confirm
	Moved      bool   // the plan is not the one that was seen, because something was saved
	Chosen     bool   // the plan is not the one that was seen, because of the choices
	problems   part.Problems
}

// plannedObject is a change of the plan, to one object.
type plannedObject struct {
	review.Row
	Differences []review.Difference
	More        int
}

// conflict is a part that was changed again since, with the choice.
type conflict struct {
	*guidonv1.PlanConflict
	Side                      string
	Earlier, Changed, Current string
}

// objectQuery returns the query of the review that is about one object.
func objectQuery(kind, key string) string {
	if _, ok := kinds[kind]; !ok {
		return ""
	}
	return "?" + url.Values{kind: {key}}.Encode()
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
	r := &undoReview{
		Heading: "Undo revision " + revisionText(revision), Act: "Undo", Back: v.In("changes", revisionText(revision)),
		request: &guidonv1.PlanRequest{
			NamespaceKey: v.Key(), FlagKeys: flags, SegmentKeys: segments, WithEffects: true, PageWords: true,
			Undo: &guidonv1.UndoneChanges{FirstRevision: revision},
		},
	}
	g := groupsOf(changes)[0]
	r.Text = g.Actor.String() + " saved it " + strings.TrimSuffix(v.Ago(g.At), ".") + "."
	if g.Message != "" {
		r.Text += " “" + g.Message + "”"
	}
	if one := append(flags[:len(flags):len(flags)], segments...); len(one) == 1 {
		k := flagKind
		if len(segments) == 1 {
			k = segmentKind
		}
		r.Heading += " of " + page.Printable(one[0], maxShownName)
		r.Back = v.In(k.folder, one[0], "history", revisionText(revision))
		r.after = page.Below("namespaces", v.Key(), k.folder, one[0], "history")
		if len(changes) > 1 || more {
			r.Whole = v.In("changes", revisionText(revision), "undo")
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
	r := &undoReview{
		Heading: "Restore " + page.Printable(key, maxShownName) + " as at revision " + revisionText(revision),
		Text:    "The " + k.name + " becomes exactly what it was then. Everything that was changed in it since is replaced.",
		Act:     "Restore", Back: v.In(k.folder, key, "history", revisionText(revision)),
		after: page.Below("namespaces", v.Key(), k.folder, key, "history"),
		request: &guidonv1.PlanRequest{
			NamespaceKey: v.Key(), SourceNamespaceKey: v.Key() + "@" + revisionText(revision), WithEffects: true, PageWords: true,
		},
	}
	if k == flagKind {
		r.request.FlagKeys = []string{key}
	} else {
		r.request.SegmentKeys = []string{key}
	}
	return r, nil
}

// submitReview runs the action of the form of the review.
func submitReview(v *page.Visit, r *undoReview) error {
	form, err := v.Form()
	if err != nil {
		return err
	}
	r.Message, r.Confirmed = strings.TrimSpace(form.Get(fieldMessage)), strings.TrimSpace(form.Get(review.FieldConfirm))
	digest := form.Get(fieldDigest)
	switch {
	case page.ActionOf(form).Verb != "apply" || digest == "":
		return r.show(v, http.StatusOK, form)
	case r.asks(v) && r.Confirmed != v.Key():
		r.problems.Add(review.FieldConfirm, review.ConfirmProblem(v.Key()))
		return r.show(v, http.StatusUnprocessableEntity, form)
	}
	if err := r.choose(v, form); err != nil {
		return r.refused(v, form, err)
	}
	answer, err := review.Apply(v, r.request, digest, r.Message)
	switch guidon.CodeOf(err) {
	case guidon.FailedPrecondition:
		r.Chosen = r.choicesChanged(form)
		r.Moved = !r.Chosen
		return r.show(v, http.StatusConflict, form)
	case guidon.InvalidArgument:
		return r.refused(v, form, err)
	}
	if err != nil {
		return err
	}
	if len(answer.GetChanges()) == 0 { // so there is no new revision
		return r.show(v, http.StatusOK, form)
	}
	after := cmp.Or(r.after, page.Below("namespaces", v.Key(), "changes", revisionText(answer.GetRevision())))
	return v.Redirect(after + "?saved=" + revisionText(answer.GetRevision()))
}

// asks reports whether the key of the namespace must be typed.
func (r *undoReview) asks(v *page.Visit) bool { return v.Namespace.GetConfirmChanges() }

// refused shows the review again after the request was refused.
func (r *undoReview) refused(v *page.Visit, form url.Values, err error) error {
	text := guidon.PublicMessage(err)
	switch {
	case guidon.CodeOf(err) != guidon.InvalidArgument:
		return err
	case strings.HasPrefix(text, "invalid field message"):
		r.problems.Add(fieldMessage, review.MessageProblem)
	default:
		r.Impossible = text
	}
	return r.show(v, http.StatusUnprocessableEntity, form)
}

// show makes the plan and responds with the review. form has the choices; it may be nil.
func (r *undoReview) show(v *page.Visit, status int, form url.Values) error {
	if r.Impossible == "" {
		err := r.plan(v, form)
		if guidon.CodeOf(err) == guidon.InvalidArgument {
			r.Impossible, err = guidon.PublicMessage(err), nil
			if v.Request.Method == http.MethodPost {
				status = http.StatusUnprocessableEntity
			}
		}
		if err != nil {
			return err
		}
	}
	return v.Reply(status, page.Page{
		Title: r.Heading, Place: page.PlaceChanges,
		Crumbs: []page.Crumb{{Text: "Changes", Address: v.In("changes")}, {Text: r.Heading}},
		Main:   reviewMain(v, r),
	})
}

// plan makes the plan with the choices of the form.
func (r *undoReview) plan(v *page.Visit, form url.Values) error {
	if err := r.choose(v, form); err != nil {
		return err
	}
	plan, err := page.MakePlan.Run(v, r.request)
	if err != nil {
		return err
	}
	r.Plan, r.Effects = plan, review.EffectsOfPlan(plan)
	var seen map[string]string
	if form.Get(fieldDigest) != "" {
		seen = review.Seen(form[fieldPlanned])
	}
	for i, c := range plan.GetChanges() {
		if i == review.MaxRows {
			break
		}
		one := plannedObject{Row: review.Row{PlannedChange: c, Name: review.NameOf(c)}}
		if i < maxPlannedOpen {
			one.Differences, one.More = review.PlanDifferences(c)
		}
		one.Moved = seen != nil && seen[one.ID()] != c.GetDigest()
		r.Changes = append(r.Changes, one)
		delete(seen, one.ID())
	}
	if len(plan.GetChanges()) <= review.MaxRows {
		r.Gone = slices.Sorted(maps.Keys(seen))
	}
	return nil
}

// choose finds the conflicts, which the plan without any choice has, and resolves them as
// the form says: by default, what was changed since is kept.
func (r *undoReview) choose(v *page.Visit, form url.Values) error {
	undone := r.request.GetUndo()
	if undone == nil {
		return nil
	}
	sides := sidesOf(form)
	r.OthersAre = cmp.Or(sideOf(form.Get(fieldOthers)), sideCurrent)
	r.Conflicts, r.Others, undone.Choices = nil, 0, nil
	for range maxPlans {
		request := &guidonv1.PlanRequest{
			NamespaceKey: r.request.GetNamespaceKey(), FlagKeys: r.request.GetFlagKeys(), SegmentKeys: r.request.GetSegmentKeys(),
			Undo: undone, PageWords: true,
		}
		plan, err := page.MakePlan.Run(v, request)
		if err != nil || len(plan.GetConflicts()) == 0 {
			return err
		}
		for _, c := range plan.GetConflicts() {
			side := r.OthersAre
			if len(r.Conflicts) < maxConflicts {
				side = cmp.Or(sides[conflictName(c.GetKind(), c.GetKey(), c.GetPath())], sideCurrent)
				r.Conflicts = append(r.Conflicts, newConflict(c, side, plan.GetAbridged()))
			} else {
				r.Others++
			}
			undone.Choices = append(undone.Choices, &guidonv1.ConflictChoice{Kind: c.GetKind(), Key: c.GetKey(), Path: c.GetPath(), Side: side})
		}
	}
	return guidon.Errorf(guidon.InvalidArgument, "too much was changed again since: undo fewer objects at a time")
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

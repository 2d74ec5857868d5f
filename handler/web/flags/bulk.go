package flags

import (
	"fmt"
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
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service"
)

// maxSelected is how many flags can be changed together: the limit of a patch.
const maxSelected = service.MaxEdits

// selection is the model of the page that asks before something is done to several flags.
type selection struct {
	bulkAction
	v        *page.Visit
	keys     []string
	rows     []row         // the flags that exist, but for the settled ones
	settled  int           // flags that are already off or on, as the action makes them
	changed  []flagChange  // flags that changed after the visitor saw them, or no longer exist
	revision int64         // at which the rows were read
	form     url.Values    // the form that was sent
	tags     []string      // that flags of the namespace have
	targets  []part.Option // to which the flags can be promoted
	problems part.Problems
	list     url.Values // the filter of the list
}

// changeSome asks what to do to the selected flags, or does it.
func changeSome(v *page.Visit, form url.Values) error {
	verb, now := strings.CutSuffix(page.ActionOf(form).Verb, confirmed)
	i := slices.IndexFunc(bulkActions, func(a bulkAction) bool { return a.verb == verb })
	if i < 0 {
		return guidon.Errorf(guidon.InvalidArgument, "invalid field do: must be an action on flags")
	}
	s := &selection{bulkAction: bulkActions[i], v: v, keys: keysOf(form), form: form, list: here(v)}
	switch {
	case verb != verbExport && verb != verbPromote && !v.MayEdit():
		return mayNotEdit(v)
	case len(s.keys) == 0:
		return s.unusable("No flags are selected", "Select flags in the list first, then choose what to do with them.")
	case len(s.keys) > maxSelected:
		return s.unusable("Too many flags are selected",
			fmt.Sprintf("%d flags at most can be changed together, %d are selected.", maxSelected, len(s.keys)))
	case verb == verbExport:
		return v.Redirect(page.Below("namespaces", v.Key(), "export") + "?" + url.Values{"download": {"yaml"}, "flag": s.keys}.Encode())
	}
	if err := s.read(); err != nil {
		return err
	}
	switch {
	case now && (len(s.rows) > 0 || s.settled > 0):
		return s.do()
	case len(s.rows) == 0:
		return s.nothing()
	}
	return s.ask(http.StatusOK)
}

// nothing responds to a selection without flags that the action changes.
func (s *selection) nothing() error {
	if s.settled > 0 {
		return s.unusable("The selected flags are "+map[string]string{verbTurnOff: "off", verbTurnOn: "on"}[s.verb]+" already", "Nothing was changed.")
	}
	return s.unusable("The selected flags no longer exist", "They have been deleted. Changes says when, and by whom.")
}

// mayNotEdit returns the error for a visitor who may not change flags.
func mayNotEdit(v *page.Visit) error {
	if v.Site.ReadOnly {
		return &page.Error{
			Heading: "This server is read-only", Text: "Flags, segments and namespaces cannot be changed here.",
			Err: guidon.Errorf(guidon.PermissionDenied, "permission denied: the server is read-only"),
		}
	}
	return service.Refusal(service.RoleEditor, v.Key())
}

// keysOf returns the keys of the selected flags, each once.
func keysOf(form url.Values) []string {
	return slices.DeleteFunc(lists.Distinct(form["key"]), func(key string) bool { return key == "" })
}

// read reads the selected flags. It adds those that do not exist to s.changed.
func (s *selection) read() error {
	found, state, err := page.ListFlagSummaries.RunAt(s.v, &guidonv1.ListFlagSummariesRequest{
		NamespaceKey: s.v.Key(), Keys: s.keys, Limit: int32(len(s.keys)), // #nosec G115 -- at most maxSelected
	})
	if err != nil {
		return err
	}
	s.rows, s.settled, s.changed, s.revision = nil, 0, nil, state.Revision
	byKey := make(map[string]*guidonv1.FlagSummary, len(s.keys))
	for _, f := range found.GetFlags() {
		byKey[f.GetKey()] = f
	}
	for _, key := range s.keys {
		if f := byKey[key]; f != nil {
			if r := newRow(s.v, f); s.verb == verbTurnOff && r.State == part.Off || s.verb == verbTurnOn && r.State != part.Off {
				s.settled++
			} else {
				s.rows = append(s.rows, r)
			}
			continue
		}
		n, err := deleted(s.v, key)
		if err != nil {
			return err
		}
		s.changed = append(s.changed, n)
	}
	return nil
}

// ask asks the visitor to confirm.
func (s *selection) ask(status int) error {
	switch s.verb {
	case verbTag:
		s.tags = tags(s.v)
	case verbPromote:
		s.targets = targets(s.v)
	}
	return s.reply(status, s.question(), selectionMain(s))
}

// tags returns the tags that flags of the namespace have, for the field.
func tags(v *page.Visit) []string {
	return lists.Map(facets(v).GetTags(), (*guidonv1.FacetCount).GetValue)
}

// targets returns the other namespaces whose flags the visitor may change.
func targets(v *page.Visit) (all []part.Option) {
	for _, n := range v.Namespaces {
		if n.GetKey() != v.Key() && v.MayEditIn(n.GetKey()) {
			all = append(all, part.Option{Value: n.GetKey(), Text: page.NamespaceName(n)})
		}
	}
	return all
}

// do runs the action, in one change.
func (s *selection) do() error {
	if s.verb == verbPromote {
		return s.promote()
	}
	since, err := strconv.ParseInt(s.form.Get("revision"), 10, 64)
	if err != nil || since < 0 {
		return guidon.Errorf(guidon.InvalidArgument, "invalid field revision: must be the revision that the form began with")
	}
	s.checkConfirmed()
	edits, err := s.edits(since)
	switch {
	case err != nil:
		return err
	case len(s.problems) > 0:
		return s.ask(http.StatusUnprocessableEntity)
	case len(s.changed) > 0:
		return s.conflict(since)
	case len(edits) == 0: // all flags are as wanted
		return s.leave(0)
	}
	response, err := page.Patch.Run(s.v, &guidonv1.PatchRequest{NamespaceKey: s.v.Key(), Flags: edits, Message: s.form.Get("message")})
	switch guidon.CodeOf(err) {
	case guidon.FailedPrecondition:
		return s.conflict(since)
	case guidon.InvalidArgument, guidon.TooLarge:
		return s.refused(since, err)
	}
	if err != nil {
		return err
	}
	saved := response.GetRevision()
	if len(response.GetChanges()) == 0 {
		saved = 0
	}
	return s.leave(saved)
}

// promote redirects to the comparison with the chosen namespace, for the flags.
func (s *selection) promote() error {
	to := s.form.Get("to")
	if !slices.ContainsFunc(targets(s.v), func(n part.Option) bool { return n.Value == to }) {
		s.problems.Add("to", "Choose a namespace.")
		return s.ask(http.StatusUnprocessableEntity)
	}
	query := url.Values{"from": {s.v.Key()}}
	for _, r := range s.rows {
		query.Add("flag", r.Key)
	}
	return s.v.Redirect(page.WithQuery(page.Below("namespaces", to, "compare"), query))
}

// edits returns the edits of the action, and adds the problems of the form.
func (s *selection) edits(since int64) (edits []*guidonv1.FlagEdit, err error) {
	if s.verb == verbTag {
		return s.tagEdits(since)
	}
	for _, r := range s.rows {
		edit := &guidonv1.FlagEdit{UnlessChangedSince: &since}
		switch s.verb {
		case verbDelete:
			edit.Delete = r.Key
		case verbTurnOn:
			edit.TurnOn, edit.Everyone = r.Key, true
		default:
			edit.TurnOff = r.Key
		}
		edits = append(edits, edit)
	}
	return edits, nil
}

// asks reports whether the key of the namespace must be typed.
func (s *selection) asks() bool { return s.v.Namespace.GetConfirmChanges() && s.verb != verbTag }

// phrase returns the text that must be typed to confirm, or "".
func (s *selection) phrase() string {
	switch {
	case s.asks():
		return s.v.Key()
	case s.verb == verbDelete:
		return strconv.Itoa(len(s.rows))
	}
	return ""
}

// checkConfirmed adds a problem unless the required text was typed.
func (s *selection) checkConfirmed() {
	switch phrase := s.phrase(); {
	case phrase == "" || strings.TrimSpace(s.form.Get("confirm")) == phrase:
	case s.asks():
		s.problems.Add("confirm", "Type the key of the namespace: "+phrase+".")
	default:
		s.problems.Add("confirm", "Type the number of flags: "+phrase+".")
	}
}

// conflict asks again, because flags have changed since the revision.
func (s *selection) conflict(since int64) error {
	if err := s.read(); err != nil {
		return err
	}
	if err := s.addChanged(since); err != nil {
		return err
	}
	if len(s.rows) == 0 {
		return s.nothing()
	}
	s.form.Del("confirm")    // the confirmation was about the flags as they were
	if len(s.changed) == 0 { // the revision is not one of this database
		s.problems.Add("question", "The namespace has changed in the meantime. Look at these flags again, then confirm.")
	}
	return s.ask(http.StatusConflict)
}

// refused asks again with the problem that the operation found. If a flag was deleted
// just now, that is a conflict.
func (s *selection) refused(since int64, refusal error) error {
	if err := s.read(); err != nil {
		return err
	}
	if len(s.changed) > 0 {
		return s.conflict(since)
	}
	field := "question"
	if strings.Contains(guidon.PublicMessage(refusal), "field message") {
		field = "message"
	}
	s.problems.Add(field, review.ProblemText(guidon.PublicMessage(refusal)))
	return s.ask(http.StatusUnprocessableEntity)
}

// leave redirects to the list, which says what was saved in the revision.
func (s *selection) leave(revision int64) error {
	if revision > 0 {
		s.list.Set("saved", page.Revision(revision))
	}
	return s.v.Redirect(page.WithQuery(page.Below("namespaces", s.v.Key(), "flags"), s.list))
}

// unusable responds to a selection with which nothing can be done.
func (s *selection) unusable(heading, text string) error {
	return s.reply(http.StatusUnprocessableEntity, heading, unusableMain(s, heading, text))
}

// here returns the query of the list that the address has.
func here(v *page.Visit) url.Values {
	f := filterOf(v.Query())
	return f.at(f.page)
}

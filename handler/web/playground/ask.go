package playground

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/a-h/templ"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/codec"
	"github.com/guidonhq/guidon/handler/web/code"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service"
)

// Limits of the fields, in bytes.
const (
	maxEntity = 4 << 10
	maxDraft  = 2 << 20
)

// model is the page.
type model struct {
	form      form
	problems  part.Problems
	choices   []*guidonv1.FlagSummary // flags to choose from
	info      *code.Facts
	flag      *guidonv1.DocumentFlag // the chosen one; nil for all, or if there is none
	failure   string                 // why there is no answer although the form is right
	answer    *answer
	list      *list
	reference string // to the state of the namespace that is asked about
	link      string // to the request, or ""
	curl      string // the same as a command, or ""
}

// maxChoices limits the flags to choose from. Any other key can be entered.
const maxChoices = 200

// show shows the form.
func show(v *page.Visit) error {
	m := &model{form: formOf(url.Values{fieldFlag: {v.Query().Get(fieldFlag)}}), reference: v.Key()}
	if err := m.choose(v, v.Key()); err != nil {
		return err
	}
	return m.reply(v, http.StatusOK)
}

// ask responds to the form: with the answer, or with the form changed.
func ask(v *page.Visit, values url.Values) error {
	m, action := &model{form: formOf(values), reference: v.Key()}, page.ActionOf(values)
	edited := true
	switch action.Verb {
	case doJSON:
		m.form.toJSON(&m.problems)
	case doRows:
		m.form.toRows(&m.problems)
	default:
		edited = m.form.edit(action, service.NewID)
	}
	find := m.evaluate
	if edited {
		find = func(v *page.Visit) error { return m.choose(v, v.Key()) }
	}
	if err := find(v); err != nil {
		return err
	}
	if len(m.problems) > 0 || m.failure != "" {
		return m.reply(v, http.StatusUnprocessableEntity)
	}
	return m.reply(v, http.StatusOK)
}

func (m *model) reply(v *page.Visit, status int) error {
	found, err := page.ListFlagSummaries.Run(v, &guidonv1.ListFlagSummariesRequest{NamespaceKey: v.Key(), Limit: maxChoices})
	if err != nil {
		return err
	}
	m.choices = found.GetFlags()
	m.form.fill()
	return v.Reply(status, page.Page{
		Title: "Playground", Place: page.PlacePlayground, Crumbs: []page.Crumb{{Text: "Playground"}}, Main: main(v, m),
		Modules: []string{"playground.js"}, Regions: map[string]templ.Component{"lab": lab(v, m)},
	})
}

// evaluate finds the answer.
func (m *model) evaluate(v *page.Visit) error {
	context := m.form.context(&m.problems)
	at, problem, err := stateAt(v, m.form.At)
	if err != nil {
		return err
	}
	m.problems.Add(fieldAt, problem)
	m.reference = at.Reference
	if err := m.choose(v, at.Reference); err != nil {
		return err
	}
	switch {
	case m.form.Entity == "":
		m.problems.Add(fieldEntity, "An entity id is needed: shares depend on it.")
	case len(m.form.Entity) > maxEntity:
		m.problems.Add(fieldEntity, fmt.Sprintf("An entity id may have %d bytes at most.", maxEntity))
	}
	if len(m.problems) > 0 {
		m.sortProblems()
		return nil
	}
	m.share(v, context)
	if m.flag == nil {
		return m.askAll(v, at, context)
	}
	return m.askOne(v, at, context)
}

// sortProblems puts the problems in the order of the fields.
func (m *model) sortProblems() {
	place := func(field string) int {
		if i := slices.Index([]string{fieldFlag, fieldEntity, fieldJSON, fieldAt}, field); i >= 0 {
			return i
		}
		return 2 // of a row
	}
	slices.SortStableFunc(m.problems, func(a, b part.Problem) int { return cmp.Compare(place(a.Field), place(b.Field)) })
}

// choose finds the flag that is asked about.
func (m *model) choose(v *page.Visit, reference string) error {
	var err error
	switch {
	case m.form.Draft != "":
		m.readDraft()
	case m.form.Flag == "":
		return nil
	case len(m.form.Flag) > maxEntity || strings.ContainsRune(m.form.Flag, utf8.RuneError):
		m.problems.Add(fieldFlag, "There is no such flag.")
	default:
		var content *guidonv1.FlagContent
		content, err = page.GetFlagContent.Run(v, &guidonv1.GetFlagContentRequest{NamespaceKey: reference, Key: m.form.Flag})
		if code := guidon.CodeOf(err); err != nil && (code == guidon.NotFound || code == guidon.InvalidArgument) {
			return m.suggest(v, reference)
		}
		m.flag = content.GetFlag()
	}
	if err != nil || m.flag == nil {
		return err
	}
	m.info, err = code.FactsOf(v, m.flag)
	return err
}

// readDraft makes the draft the flag that is asked about.
func (m *model) readDraft() {
	draft := new(guidonv1.DocumentFlag)
	if len(m.form.Draft) > maxDraft {
		m.failure = fmt.Sprintf("The draft has more than %d MB.", maxDraft>>20)
		return
	}
	if err := codec.Unmarshal([]byte(m.form.Draft), draft, maxValues); err != nil {
		m.failure = "The draft cannot be read: " + guidon.PublicMessage(err) + "."
		return
	}
	m.form.Flag = cmp.Or(m.form.Flag, draft.GetKey())
	if draft.GetKey() == "" {
		draft.Key = m.form.Flag
	}
	if draft.GetKey() != m.form.Flag {
		m.problems.Add(fieldFlag, "The draft is one of "+draft.GetKey()+". Use the saved flags to ask about others.")
		return
	}
	m.flag = draft
}

// suggest says that there is no such flag, and which one may have been meant.
func (m *model) suggest(v *page.Visit, reference string) error {
	words := m.form.Flag
	if len(words) > 200 {
		words = ""
	}
	found, err := page.ListFlagSummaries.Run(v, &guidonv1.ListFlagSummariesRequest{NamespaceKey: reference, Query: words, Limit: 3})
	if err != nil && guidon.CodeOf(err) != guidon.InvalidArgument {
		return err
	}
	near := lists.Map(found.GetSuggestions(), (*guidonv1.FlagSuggestion).GetKey)
	for _, s := range found.GetFlags() {
		near = append(near, s.GetKey())
	}
	message := "There is no flag " + guidon.Shorten(page.Printable(m.form.Flag, 255), 80)
	if reference != v.Key() {
		message += " at that moment"
	}
	message += "."
	if len(near) > 0 {
		message += " Did you mean " + lists.Join(near[:min(len(near), 3)], "or") + "?"
	}
	m.problems.Add(fieldFlag, message)
	return nil
}

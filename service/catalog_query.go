package service

import (
	"maps"
	"slices"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
)

// FlagQuery selects flags. A flag must match the text and each list that is not empty, and
// it matches a list by any of its values.
type FlagQuery struct {
	// Text has words, which must all occur in key, name, description or metadata, and terms
	// such as "owner:ann", which are added to the lists.
	Text     string
	States   []analysis.FlagState
	Types    []guidon.FlagType
	Owners   []string // whatever the case; an empty one is for flags without an owner
	Tags     []string // whatever the case
	Segments []string // keys
	Keys     []string // of the flags
	// Order.
	Sort       FlagSort
	Descending bool
	Window     Window
}

// Limits of queries.
const (
	maxQuery      = 1000 // bytes
	maxListed     = 100  // values of one list
	maxListedKeys = 1000
	defaultWindow = 50
	maxWindow     = 200
)

// Validate returns InvalidArgument if the query breaks a rule, whatever the namespace.
func (q *FlagQuery) Validate() error {
	if err := checkQuery(q.Text, maxQuery); err != nil {
		return err
	}
	for _, state := range q.States {
		if state > analysis.PartlyState {
			return invalidField("states", "must be known states")
		}
	}
	for _, t := range q.Types {
		if !t.Known() {
			return invalidField("types", "must be known types")
		}
	}
	for _, list := range []struct {
		name string
		n    int
	}{{"states", len(q.States)}, {"types", len(q.Types)}, {"owners", len(q.Owners)}, {"tags", len(q.Tags)}, {"segments", len(q.Segments)}} {
		if list.n > maxListed {
			return invalidField(list.name, "must not have more than 100 values")
		}
	}
	if len(q.Keys) > maxListedKeys {
		return invalidField("keys", "must not have more than 1000 values")
	}
	if q.Sort >= flagSorts {
		return invalidField("sort", "must be a known order")
	}
	return q.Window.Validate()
}

func checkQuery(text string, limit int) error {
	if len(text) > limit {
		return guidon.Errorf(guidon.InvalidArgument, "invalid field query: must not be longer than %d bytes", limit)
	}
	return checkTexts(field{"query", text})
}

// Window is a part of a list.
type Window struct {
	Offset int32 // how many items are left out
	Limit  int32 // the most items; 0 means 50
}

// Validate returns InvalidArgument if the window breaks a rule.
func (w Window) Validate() error {
	switch {
	case w.Limit < 0 || w.Limit > maxWindow:
		return invalidField("limit", "must be between 0 and 200")
	case w.Offset < 0:
		return invalidField("offset", "must be greater than or equal to '0'")
	}
	return nil
}

// size returns the most items of the window.
func (w Window) size() int {
	if w.Limit == 0 {
		return defaultWindow
	}
	return int(w.Limit)
}

// has reports whether the item with the number is in the window.
func (w Window) has(number int) bool {
	return number >= int(w.Offset) && number-int(w.Offset) < w.size()
}

// Next returns the offset of the next window of a list with so many items, and whether there
// is one.
func (w Window) Next(total int) (int, bool) {
	next := int(w.Offset) + w.size()
	return next, next < total
}

// flagConditions are the conditions that a term such as is:unused states besides states.
type flagConditions uint8

const (
	isUnused flagConditions = 1 << iota
	isOverdue
	isSnoozed
)

// parsedQuery is a query with its terms in the lists.
type parsedQuery struct {
	FlagQuery
	words      []string
	keys       []string // beginnings, in lower case
	conditions flagConditions
	additions  bool // only flags that releases and clients without additions cannot read
}

// all reports whether the query selects all flags.
func (p *parsedQuery) all() bool {
	lists := len(p.States) + len(p.Types) + len(p.Owners) + len(p.Tags) + len(p.Segments) + len(p.Keys)
	return lists+len(p.words)+len(p.keys) == 0 && p.conditions == 0 && !p.additions
}

func (q FlagQuery) parse() *parsedQuery {
	p := &parsedQuery{FlagQuery: q}
	// The lists of the request are not appended to in place.
	p.States, p.Types = slices.Clip(q.States), slices.Clip(q.Types)
	p.Owners, p.Tags, p.Segments = slices.Clip(q.Owners), slices.Clip(q.Tags), slices.Clip(q.Segments)
	for _, word := range wordsOf(q.Text) {
		if !p.addTerm(word) {
			p.words = append(p.words, word.text())
		}
	}
	return p
}

// queryTerm is a kind of terms in the text of a query.
type queryTerm struct {
	name   string
	add    func(p *parsedQuery, value string) // adds any value to the lists; nil if there are certain values
	values map[string]func(p *parsedQuery)    // the values that there are; nil if they depend on the flags
	exact  bool                               // the case of a value counts
}

var queryTerms = []queryTerm{
	{name: "owner", add: func(p *parsedQuery, value string) { p.Owners = append(p.Owners, value) }},
	{name: "tag", add: func(p *parsedQuery, value string) { p.Tags = append(p.Tags, value) }},
	{name: "is", values: map[string]func(*parsedQuery){
		"on": ofState(analysis.OnState), "off": ofState(analysis.OffState), "partly": ofState(analysis.PartlyState),
		"unused": meeting(isUnused), "overdue": meeting(isOverdue), "snoozed": meeting(isSnoozed),
	}},
	{name: "type", values: map[string]func(*parsedQuery){"boolean": ofType(guidon.BooleanFlag), "variant": ofType(guidon.VariantFlag)}},
	{name: "segment", add: func(p *parsedQuery, value string) { p.Segments = append(p.Segments, value) }},
	{name: "key", add: func(p *parsedQuery, value string) { p.keys = append(p.keys, strings.ToLower(value)) }},
	{name: "needs", values: map[string]func(*parsedQuery){versionWithAdditions: func(p *parsedQuery) { p.additions = true }}, exact: true},
}

func ofState(s analysis.FlagState) func(*parsedQuery) {
	return func(p *parsedQuery) { p.States = append(p.States, s) }
}

func ofType(t guidon.FlagType) func(*parsedQuery) {
	return func(p *parsedQuery) { p.Types = append(p.Types, t) }
}

func meeting(c flagConditions) func(*parsedQuery) { return func(p *parsedQuery) { p.conditions |= c } }

// versionWithAdditions is the version of documents that have additions, see
// [Document.Additions].
const versionWithAdditions = "guidon/1"

// term returns the kind of terms that the word is one of, or nil.
func (w queryWord) term() *queryTerm {
	i := slices.IndexFunc(queryTerms, func(t queryTerm) bool { return t.name == strings.ToLower(w.name) })
	if i < 0 {
		return nil
	}
	return &queryTerms[i]
}

// addTerm adds a term such as "owner:ann" to the lists. It reports whether the word is one.
// One without a value is not finished, and adds nothing.
func (p *parsedQuery) addTerm(w queryWord) bool {
	t, value := w.term(), w.value
	switch {
	case t == nil:
		return false
	case value == "" && !w.quoted:
		return true
	case t.add != nil:
		t.add(p, value)
		return true
	case !t.exact:
		value = strings.ToLower(value)
	}
	add, known := t.values[value]
	if known {
		add(p)
	}
	return known
}

// CheckTerms returns InvalidArgument if the text of a [FlagQuery] has a term whose value there
// is not, such as is:bogus. A query takes it for a word, because people may still be typing it.
func CheckTerms(text string) error {
	for _, w := range wordsOf(text) {
		if t := w.term(); t != nil && !new(parsedQuery).addTerm(w) {
			return guidon.Errorf(guidon.InvalidArgument, "invalid term %q: %s: has the values %s",
				w.text(), t.name, strings.Join(slices.Sorted(maps.Keys(t.values)), ", "))
		}
	}
	return nil
}

// TermsOfFlags returns the terms of a [FlagQuery]: complete ones and, for names whose values
// depend on the flags, their beginnings.
func TermsOfFlags() []string {
	var terms []string
	for _, t := range queryTerms {
		if t.add != nil {
			terms = append(terms, t.name+":")
		}
		for _, value := range slices.Sorted(maps.Keys(t.values)) {
			terms = append(terms, t.name+":"+value)
		}
	}
	return terms
}

// queryWord is a word of a query: a term with name and value, or a value alone.
type queryWord struct {
	name, value string
	quoted      bool // the value
}

// text returns the word as it was, without quotes.
func (w queryWord) text() string {
	if w.name == "" {
		return w.value
	}
	return w.name + ":" + w.value
}

// wordsOf returns the words of the text, which white space separates outside of double
// quotes.
func wordsOf(text string) (words []queryWord) {
	for {
		text = strings.TrimLeft(text, whiteSpace)
		if text == "" {
			return words
		}
		var w queryWord
		if end := strings.IndexAny(text, whiteSpace+`:"`); end > 0 && text[end] == ':' {
			w.name, text = text[:end], text[end+1:]
		}
		w.quoted = strings.HasPrefix(text, `"`)
		w.value, text = cutValue(text)
		if w.name != "" || w.value != "" {
			words = append(words, w)
		}
	}
}

// CutTerms returns the text of a [FlagQuery] without those of the terms, such as "is:favorite",
// that it has, and these.
func CutTerms(text string, terms ...string) (rest string, cut []string) {
	var words []string
	for _, w := range wordsOf(text) {
		if term := strings.ToLower(w.text()); w.name != "" && slices.Contains(terms, term) {
			cut = append(cut, term)
			continue
		}
		if w.quoted {
			w.value = `"` + w.value + `"`
		}
		words = append(words, w.text())
	}
	if cut == nil {
		return text, nil
	}
	return strings.Join(words, " "), cut
}

const whiteSpace = " \t\r\n\f\v\u00a0"

// cutValue cuts a value off the text: up to the next white space, or to the end of quotes.
func cutValue(text string) (value, rest string) {
	if quoted, isQuoted := strings.CutPrefix(text, `"`); isQuoted {
		value, rest, _ = strings.Cut(quoted, `"`)
		return value, rest
	}
	if end := strings.IndexAny(text, whiteSpace); end >= 0 {
		return text[:end], text[end:]
	}
	return text, ""
}

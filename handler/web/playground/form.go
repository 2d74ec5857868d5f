package playground

import (
	"net/url"
	"slices"
	"strings"

	"github.com/guidonhq/guidon/handler/web/page"
)

// Fields of the form. Their ids are the same, and those of rows end with their numbers.
const (
	fieldFlag   = "flag"
	fieldEntity = "entity"
	fieldKey    = "k"
	fieldValue  = "v"
	fieldJSON   = "json"
	fieldMode   = "mode"
	fieldAt     = "at"
	fieldDraft  = "draft"
)

// modeJSON is the value of the field mode if the context is written as JSON.
const modeJSON = "json"

// Actions besides asking.
const (
	doAdd    = "add"
	doRemove = "remove"
	doJSON   = "json"
	doRows   = "rows"
	doRandom = "random"
	doFlag   = "flag" // asks about one flag of the list
	doPage   = "page" // of the list
	doSaved  = "saved"
	doTry    = "try" // from the page of a flag with a draft
)

// maxRows limits the rows of a context. One with more is written as JSON.
const maxRows = 200

// form has the fields of the form, as they were entered.
type form struct {
	Flag   string // "" for all flags
	Entity string
	AsJSON bool
	Rows   []row
	JSON   string
	At     string // a moment, or "" for now
	Draft  string // a flag as it would be saved, as JSON, or ""
	Offset int    // of the list of flags
}

// row is a property of the context.
type row struct{ Key, Value string }

func (r row) empty() bool { return r.Key == "" && r.Value == "" }

// formOf returns the form that was sent. Invalid UTF-8 is replaced.
func formOf(values url.Values) form {
	valid := func(text string) string { return strings.ToValidUTF8(text, "\ufffd") }
	text := func(name string) string { return valid(values.Get(name)) }
	f := form{
		Flag: strings.TrimSpace(text(fieldFlag)), Entity: text(fieldEntity), AsJSON: values.Get(fieldMode) == modeJSON,
		JSON: text(fieldJSON), At: strings.TrimSpace(text(fieldAt)), Draft: text(fieldDraft),
	}
	texts := values[fieldValue]
	for i, key := range values[fieldKey] {
		if i == maxRows {
			break
		}
		r := row{Key: strings.TrimSpace(valid(key))}
		if i < len(texts) {
			r.Value = valid(texts[i])
		}
		f.Rows = append(f.Rows, r)
	}
	return f
}

// edit runs the action of the button, besides asking. It reports whether the button does anything
// else than that.
func (f *form) edit(a page.Action, newEntity func() string) bool {
	switch a.Verb {
	case doAdd:
		f.Rows = append(f.Rows, row{})
	case doRemove:
		if i, ok := a.Index(0, len(f.Rows)); ok {
			f.Rows = slices.Delete(f.Rows, i, i+1)
		}
	case doRandom:
		f.Entity = newEntity()
	case doSaved:
		f.Draft = ""
	case doTry:
		return f.Entity == ""
	case doFlag:
		f.Flag, f.Offset = strings.Join(a.Arguments, ":"), 0
		return false
	case doPage:
		f.Offset, _ = a.Index(0, 1<<31-1)
		return false
	default:
		f.Offset = 0
		return false
	}
	return true
}

// fill ends the rows with an empty one, if there may be another.
func (f *form) fill() {
	if !f.AsJSON && len(f.Rows) < maxRows && (len(f.Rows) == 0 || !f.Rows[len(f.Rows)-1].empty()) {
		f.Rows = append(f.Rows, row{})
	}
}

// fragment returns the request as the fragment of an address, or "" if it is too long for
// one. A draft is not part of it.
func (f *form) fragment(context string) string {
	const most = 8 << 10
	if context == "{}" {
		context = ""
	}
	text := strings.TrimPrefix(page.Query(fieldFlag, f.Flag, fieldEntity, f.Entity, fieldAt, f.At, "context", context), "?")
	if len(text) > most {
		return ""
	}
	return "#" + text
}

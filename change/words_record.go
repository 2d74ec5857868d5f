package change

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/lists"
)

// maxDescribed limits the bodies of a record whose summary is more than its action, in
// bytes. A list has a summary for each record, and the largest would take seconds.
const maxDescribed = 1 << 20

// Summary returns the change in words, such as "rule 2: share 10% → 50%", in at most 400 bytes. It contains no metadata of authentications, which may be secret. A record
// whose bodies are missing, or take more than 1 MiB, is not described in detail.
func (c *Record) Summary() string {
	large := len(c.Before)+len(c.After) > maxDescribed
	switch {
	case c.Action == ActionCreate:
		return "created" + inParentheses(guidon.Shorten(c.brief(c.After), maxSummary/2))
	case c.Action == ActionDelete:
		return "deleted" + inParentheses(guidon.Shorten(c.brief(c.Before), maxSummary/2))
	case large:
		return "changed; too large to describe"
	case c.Before == nil || c.After == nil:
		return changed
	}
	differences, err := c.Differences()
	if err != nil { // the form of another release
		return changed
	}
	return summary(c.Action, differences)
}

// Name returns the name of the object after the change or, if that deleted it, before; empty
// if it has none. It reads no further than that.
func (c *Record) Name() string {
	text := c.After
	if len(text) == 0 {
		text = c.Before
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if begin, err := d.Token(); err != nil || begin != json.Delim('{') {
		return ""
	}
	for d.More() {
		member, err := d.Token()
		if err != nil {
			return ""
		}
		if member == "name" {
			var name string
			_ = d.Decode(&name) // empty if it is no text
			return name
		}
		if err := d.Decode(new(json.RawMessage)); err != nil {
			return ""
		}
	}
	return ""
}

// Differences returns the changed fields of an object that existed before and after. Parts
// of it are the same if they have the same id or, failing that, the same content. Ranks
// count if the order is the same. It returns an error for an object that this release
// cannot read.
func (c *Record) Differences() ([]Difference, error) {
	if c.Before == nil || c.After == nil {
		return nil, nil
	}
	switch c.Kind {
	case KindNamespace:
		return recordDifferences[guidon.Namespace](c, nil)
	case KindSegment:
		return recordDifferences[guidon.Segment](c, nil)
	case KindFlag:
		return recordDifferences(c, turned)
	}
	return accessDifferences(c.Before, c.After)
}

// recordDifferences returns the differences between the objects of the record, as tell makes
// them of those of their fields; nil leaves them.
func recordDifferences[T any](c *Record, tell func(before, after *T, list []Difference) []Difference) ([]Difference, error) {
	before, after, err := decodeBoth[T](c.Before, c.After)
	if err != nil {
		return nil, err
	}
	list := CompareVersions(before, after)
	if tell == nil || before == nil || after == nil {
		return list, nil
	}
	return tell(before, after, list), nil
}

// accessFields are the fields of authentications, bindings and webhooks whose values are shown.
// Of all other fields only the names are, as their values may be secret or personal.
var accessFields = []string{"role", "subject", "namespaces", "namespaceKeys", "expiresAt", "client", "source",
	"name", "namespaceKey", "host", "events", "kinds", "keys", "actions", "format", "headers", "state", "cause", "replayed"}

// accessTimes are the fields of authentications, bindings and webhooks that are no content.
var accessTimes = []string{"createdAt", "updatedAt", "stateSince"}

// accessMarks are the fields of webhooks with the times at which what is not shown was changed. Earlier releases did not
// write all of them.
var accessMarks = []string{"private", "secret"}

// accessDifferences returns the changed fields of an authentication or a binding.
func accessDifferences(before, after json.RawMessage) ([]Difference, error) {
	was, wasObject := properties(before)
	is, isObject := properties(after)
	if !wasObject || !isObject {
		return nil, guidon.Errorf(guidon.Internal, "change record: not an object")
	}
	c := comparer{}
	old, now := byName(was), byName(is)
	for _, name := range lists.Distinct(slices.Concat(names(was), names(is))) {
		if slices.Contains(accessTimes, name) || SameJSON(string(old[name]), string(now[name])) {
			continue
		}
		here := place{}.field(name, bare(name))
		if slices.Contains(accessMarks, name) {
			c.replaced(here, nil, nil, Wording{What: changed})
			continue
		}
		shown := slices.Contains(accessFields, name)
		c.access(here, old[name], now[name], shown)
	}
	return c.out, nil
}

// access adds the difference of one field, which has no value on a side where it is nil.
func (c *comparer) access(at place, before, after json.RawMessage, shown bool) {
	var was, is json.RawMessage
	if shown {
		was, is = before, after
	}
	switch {
	case before == nil:
		c.added(at, is, accessWords(is))
	case after == nil:
		c.removed(at, was, accessWords(was))
	case shown:
		c.replaced(at, was, is, transition(accessValue(was), accessValue(is), false))
	default:
		c.replaced(at, nil, nil, Wording{What: changed})
	}
}

// accessValue returns a value in a form for words: a text or a list of texts, if it is one.
func accessValue(value json.RawMessage) any {
	var list []string
	if json.Unmarshal(value, &list) == nil {
		return list
	}
	var text string
	if json.Unmarshal(value, &text) == nil {
		return bareText(text)
	}
	return value
}

// accessWords returns a value in words, or "" if it is too long.
func accessWords(value json.RawMessage) string { return shortWords(accessValue(value)) }

// shortWords returns a value in words, or "" if it is too long.
func shortWords(value any) string {
	text, short := valueWords(value)
	if !short {
		return ""
	}
	return text
}

// bareText is a text that is shown without quotes if possible.
type bareText string

// brief describes the object in words, or returns "".
func (c *Record) brief(text json.RawMessage) string {
	switch {
	case len(text) > maxDescribed:
		return ""
	case c.Kind == KindFlag:
		f, err := decode[guidon.Flag](text)
		if f == nil || err != nil {
			return ""
		}
		return enumWords(f.Type.String()) + " flag " + quote(f.Name)
	case c.Kind == KindSegment, c.Kind == KindNamespace:
		named, err := decode[struct{ Name string }](text)
		if named == nil || err != nil {
			return ""
		}
		return quote(named.Name)
	}
	return briefAccess(text)
}

// briefAccess returns the fields of an authentication or a binding that are shown.
func briefAccess(text json.RawMessage) string {
	list, _ := properties(text)
	var words []string
	for _, p := range list {
		if value := accessWords(p.value); value != "" && slices.Contains(accessFields, p.name) {
			words = append(words, p.name+" "+value)
		}
	}
	return strings.Join(words, ", ")
}

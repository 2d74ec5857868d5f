package transfer

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
)

// The fields of addresses and forms.
const (
	fieldFrom    = "from"
	fieldSource  = "source" // of the question what to compare with
	fieldAt      = "at"     // the earlier state of it
	fieldSegment = "segment"
	fieldOffered = "offered" // the segments that were ticked when the form was made
	fieldLeft    = "left"    // the segments that were left out, although they are needed
	fieldWithout = "without" // no segments come along
	fieldKeep    = "keep"
	fieldKept    = "kept" // the kept parts when the form was made
	fieldScope   = "scope"
	fieldShow    = "show" // the kind of changes that is shown: an action, or "" for all
	fieldWhen    = "when" // the time of the earlier state, instead of its revision
	verbAll      = "all"
	verbNone     = "none"
)

// choice is the page that asks for the source of the comparison.
type choice struct {
	Namespace, At string
	Problems      part.Problems
}

// choose asks for the source of the comparison, or redirects to the comparison that was chosen.
func choose(v *page.Visit) error {
	q := v.Query()
	c := &choice{Namespace: q.Get(fieldSource), At: cmp.Or(strings.TrimSpace(q.Get(fieldAt)), q.Get(fieldWhen))}
	if c.Namespace == "" {
		return c.reply(v, http.StatusOK)
	}
	if c.Namespace == v.Key() && c.At == "" {
		c.Problems.Add(fieldAt, "Say which state of "+page.NamespaceName(v.Namespace)+": its revision, or when.")
		return c.reply(v, http.StatusUnprocessableEntity)
	}
	from := c.Namespace
	if c.At != "" {
		from += "@" + moment(v, c.At)
	}
	return v.Redirect(page.Below("namespaces", v.Key(), "compare") + "?" + url.Values{fieldFrom: {from}}.Encode())
}

// sources returns what the namespace can be compared with: the others, and itself.
func sources(v *page.Visit) (all []part.Option) {
	for _, n := range v.Namespaces {
		if n.GetKey() != v.Key() {
			all = append(all, part.Option{Value: n.GetKey(), Text: page.NamespaceName(n)})
		}
	}
	return append(all, part.Option{Value: v.Key(), Text: page.NamespaceName(v.Namespace) + ", as it was"})
}

// moment returns a revision or a time as the API reads it.
func moment(v *page.Visit, text string) string {
	if at, ok := page.ParseTime(text, v.Location()); ok {
		return at.UTC().Format(time.RFC3339Nano)
	}
	return text
}

func (c *choice) reply(v *page.Visit, status int) error {
	return v.Reply(status, page.Page{
		Title: "Compare", Place: page.PlaceCompare, Crumbs: []page.Crumb{{Text: "Compare"}}, Main: chooseMain(v, c),
	})
}

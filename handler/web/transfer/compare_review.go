package transfer

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/review"
)

// postComparison shows the changes of the selection, or applies them.
func postComparison(v *page.Visit, form url.Values) error {
	c := newComparison(v, form)
	if page.ActionOf(form).Verb == "apply" && form.Get(review.FieldDigest) != "" && !c.empty() {
		return c.apply(v, form)
	}
	if done, err := c.read(v); done || err != nil {
		return err
	}
	switch verb := page.ActionOf(form).Verb; verb {
	case verbAll, verbNone:
		c.tick(verb == verbAll)
		return c.reply(v, http.StatusOK)
	case "select":
		return c.reply(v, http.StatusOK)
	}
	if c.empty() {
		c.Problems.Add("selection", "Tick a flag or a segment first.")
		return c.reply(v, http.StatusUnprocessableEntity)
	}
	c.resolve(form)
	return c.review(v, form)
}

// review shows the exact changes of the selection. Those that are not as in the form, which
// showed everything, are marked.
func (c *comparison) review(v *page.Visit, form url.Values) error {
	seen := make(url.Values)
	if slices.Equal(form[fieldKept], c.Keep) {
		for _, text := range form[review.FieldSeen] {
			name, _, _ := strings.Cut(text, " ")
			if kind, key, _ := strings.Cut(name, "/"); c.Scope != scopeSelected || c.picked(kind, key) {
				seen.Add(review.FieldSeen, text)
			}
		}
	}
	r := c.planOf(v)
	if err := r.Make(v, seen); err != nil {
		return err
	}
	for i := range r.Rows { // dependencies were not selected before
		row := &r.Rows[i]
		known := slices.ContainsFunc(seen[review.FieldSeen], func(text string) bool { return strings.HasPrefix(text, row.ID()+" ") })
		row.Moved = row.Moved && known
		r.Moved = r.Moved || row.Moved
	}
	r.Moved = r.Moved || len(r.Gone) > 0
	c.Review = r
	if r.Answer == nil {
		return c.replyReview(v, http.StatusUnprocessableEntity)
	}
	return c.replyReview(v, http.StatusOK)
}

// planOf returns the review of the selection.
func (c *comparison) planOf(v *page.Visit) *review.Plan {
	r := &review.Plan{Request: c.request(v), Target: v.Namespace, Words: c.words(v)}
	if c.Scope == scopeEqual {
		r.Words.Deleted = "deleted"
	}
	c.restrict(r.Request)
	return r
}

// apply brings the selection over.
func (c *comparison) apply(v *page.Visit, form url.Values) error {
	c.Review = c.planOf(v)
	revision, status, err := c.Review.Submit(v, form)
	if err != nil {
		return err
	}
	if revision == 0 {
		return c.replyReview(v, status)
	}
	return v.Redirect(fmt.Sprintf("%s?saved=%d", page.Below("namespaces", v.Key(), "flags"), revision))
}

// act returns what the button does.
func (c *comparison) act(v *page.Visit) string {
	if c.Restores(v) {
		return "Restore"
	}
	return "Promote"
}

func (c *comparison) replyReview(v *page.Visit, status int) error {
	title := c.act(v) + " to " + c.ToName
	if c.Restores(v) {
		title = "Restore " + c.ToName
	}
	return v.Reply(status, page.Page{
		Title: title, Place: page.PlaceCompare, Main: reviewMain(v, c, title),
		Crumbs: []page.Crumb{{Text: "Compare", Address: with(v, v.Key(), c.From)}, {Text: c.act(v)}},
	})
}

// with returns the address of a comparison of two namespaces, for a browser.
func with(v *page.Visit, to, from string) string {
	return v.To("namespaces", to, "compare") + page.Query(fieldFrom, from)
}

// maxListed limits the names that a sentence names.
const maxListed = 10

// listed returns keys or names in a sentence.
func listed(keys []string) string {
	return page.Printable(page.Listed(keys, maxListed), maxListed*maxShownName)
}

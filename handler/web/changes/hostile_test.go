package changes_test

import (
	"cmp"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/webtest"
	"github.com/guidonhq/guidon/service"
)

// hostile are texts that must be texts wherever they are shown.
var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`, `</title><svg onload=alert(1)>`,
	`</td></tr></table><form action=//evil.example>`, `</details></section></main>`, `</a><a href="javascript:alert(1)">x</a>`,
	`javascript:alert(1)`, `//evil.example`, `https://evil.example/`, `<!--`, `-->`, `<textarea>`, `<select>`, `<plaintext>`, `<style>*{display:none}</style>`,
	`{{.}}`, `${7*7}`, `&lt;b&gt;`, `&quot; onload=x`, `"`, `'`, "`", `\\`, `a → b`, `x: "1" → "2"`, `rule 1: <b>`, `@@ -1 +1 @@`, `--- before`, `+++ after`,
	"مرحبا", "e\u0301\u0301", "👩\u200d👩\u200d👧", "\ufeff", "＜script＞", `=cmd|' /C calc'!A0`, strings.Repeat("<b>", 80), strings.Repeat("x", 255), `../../etc`, `%2e%2e%2f`, `?a=b#c`,
}

// plant saves changes in which the text is wherever somebody else can put one. It returns
// the revision of the last one.
func plant(s *site, text string) int64 {
	metadata, err := json.Marshal(map[string]any{text: text})
	if err != nil {
		s.t.Fatal(err)
	}
	message := text
	if (service.Write{Message: text}).Validate() != nil {
		message = "plain"
	}
	w := service.Write{By: service.Caller{Actor: change.Actor{ID: "oidc:" + text, Name: text, Method: "METHOD_OIDC"}, RequestID: "id"}, Message: message}
	d := func(name, description string) *service.Document {
		return &service.Document{
			Flags: []*guidon.Flag{{
				Key: "wish", Name: name, Description: description, Type: guidon.VariantFlag, Metadata: metadata,
				Variants: []*guidon.Variant{{Key: "v", Name: name, Description: description, Attachment: string(metadata)}},
			}},
			Segments: []*guidon.Segment{{Key: "staff", Name: name, Description: description, Constraints: []*guidon.Constraint{
				{Type: guidon.StringComparison, Property: cmp.Or(description, "p"), Operator: "eq", Value: description, Description: description},
			}}},
		}
	}
	for _, document := range []*service.Document{d("before", "p"), d(text, text), d("after", "q")} {
		if _, _, err = s.Service.Import(s.t.Context(), w, "default", document, service.ImportUpdate, false); err != nil {
			s.t.Fatalf("%q: %v", text, err)
		}
	}
	return 5
}

// TestHostile: whatever texts others have chosen, the pages consist of the same elements.
func TestHostile(t *testing.T) {
	pages := []string{
		"/changes", ns + "/changes", at(4), at(5), undoOf(4), undoOf(5), ns + "/changes/5/undo?flag=wish",
		ns + "/flags/wish/history", ns + "/flags/wish/history/4", ns + "/segments/staff/history/4", ns + "/flags/wish/history/4/restore",
	}
	open := func(text string) []string {
		s := newSite(t, webtest.Options{})
		s.deleteFlag("wish")
		s.t = t
		plant(s, text)
		var all []string
		for _, address := range pages {
			address = strings.NewReplacer("/changes/4", "/changes/5", "/changes/5", "/changes/6", "history/4", "history/5").Replace(address)
			all = append(all, s.Get(address).Check(200).Elements())
		}
		return all
	}
	want := open("harmless")
	for _, text := range hostile {
		if !utf8.ValidString(text) {
			continue
		}
		for i, got := range open(text) {
			if reshapes(text) {
				for kind := range strings.Lines(got) {
					if !strings.Contains(want[i], kind) && !strings.Contains(want[2], kind) {
						t.Errorf("%q: %s has the element %s", text, pages[i], kind)
					}
				}
				continue
			}
			if got != want[i] {
				t.Errorf("%q: %s has other elements:\n%s", text, pages[i], lineDifference(want[i], got))
			}
		}
	}
}

// reshapes reports whether the text makes a page have other lines: one that is folded in
// YAML, or of which nothing is visible, is shown in another way. The page must have no other
// kinds of elements then.
func reshapes(text string) bool { return len(text) > 200 || page.Printable(text, len(text)) != text }

// lineDifference returns where two texts begin to differ.
func lineDifference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return "want " + a[i] + "\ngot " + b[i]
		}
	}
	return "one has more"
}

// TestHostileAddresses: what a link of somebody else has in its address is text, too.
func TestHostileAddresses(t *testing.T) {
	s := newSite(t, webtest.Options{})
	for _, field := range []string{"kind", "key", "actor", "reason", "message", "since", "until", "before", "saved", "format"} {
		want := ""
		for _, text := range append([]string{"harmless"}, hostile...) {
			r := s.Get(query(field, text))
			if r.Status != 200 && r.Status != 422 {
				t.Fatalf("%s=%q: got status %d", field, text, r.Status)
			}
			got := r.Check(r.Status).Elements()
			if want == "" {
				want = got
			} else if got != want {
				t.Errorf("%s=%q has other elements:\n%s", field, text, lineDifference(want, got))
			}
		}
	}
}

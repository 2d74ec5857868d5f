package flags_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/web/webtest"
	"github.com/guidonhq/guidon/service"
)

// hostile are texts that must be texts wherever they are shown.
var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`, `</title><svg onload=alert(1)>`,
	`</td></tr></table><form action=//evil.example>`, `</details></form></main>`, `</a><a href="javascript:alert(1)">x</a>`, `</datalist></select><option>`,
	`javascript:alert(1)`, `//evil.example`, `https://evil.example/`, `<!--`, `-->`, `<textarea>`, `<select>`, `<plaintext>`, `<style>*{display:none}</style>`,
	`{{.}}`, `${7*7}`, `&lt;b&gt;`, `&quot; onload=x`, `"`, `'`, "`", `\`, `is:on`, `owner:x`, `"unclosed`, `a,b`, `%`,
	"مرحبا", "e\u0301\u0301", "👩\u200d👩\u200d👧", "＜script＞", strings.Repeat("<b>", 33), strings.Repeat("x", 95), `../../etc`, `%2e%2e%2f`, `?a=b#c`,
}

// plant stores a flag with the text wherever somebody else can put one that these pages show.
func plant(t *testing.T, s *webtest.Server, text string) {
	t.Helper()
	metadata, err := json.Marshal(map[string]any{"owner": text, "tags": []string{text}, "review": "2020-01-01"})
	if err != nil {
		t.Fatal(err)
	}
	w := service.Write{By: service.Caller{Actor: change.Actor{ID: "oidc:" + text, Name: text, Method: "METHOD_OIDC"}}}
	d := &service.Document{
		Namespace: service.DocumentNamespace{Key: "default"},
		Flags: []*guidon.Flag{
			{
				Key: "planted", Name: text, Description: text, Type: guidon.VariantFlag, Enabled: true, Metadata: metadata, DefaultVariantID: text,
				Variants: []*guidon.Variant{{Key: text, Name: text}, {Key: "other", Name: text}},
				Rules:    []*guidon.Rule{{SegmentKeys: []string{"people"}, Distributions: []*guidon.Distribution{{VariantID: text, Rollout: 50}, {VariantID: "other", Rollout: 50}}}},
			},
			{Key: "constant", Name: text, Type: guidon.VariantFlag, Metadata: metadata, DefaultVariantID: text, Variants: []*guidon.Variant{{Key: text}}},
		},
		Segments: []*guidon.Segment{{Key: "people", Name: text}},
	}
	if _, _, err := s.Service.Import(t.Context(), w, "default", d, service.ImportReplace, false); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
}

// TestHostile: whatever texts others have chosen, and whatever an address or form has, the
// pages consist of the same elements.
func TestHostile(t *testing.T) {
	open := func(text string) (all []string) {
		s := webtest.New(t, webtest.Options{Empty: true})
		plant(t, s, text)
		query := func(field string) string { return list + "?" + url.Values{field: {text}}.Encode() }
		for _, r := range []*webtest.Reply{
			s.Get(list).Check(200), s.Get(query("owner")).Check(200), s.Get(query("tag")).Check(200), s.Get(list + "?segment=people&state=on").Check(200),
			s.Get(unusedPage).Check(200), s.Get(unusedPage + "?" + url.Values{"reason": {text}, "page": {text}}.Encode()).Check(200),
			s.Post(query("owner"), selected("turn-off", "planted", "constant")).Check(200),
			s.Post(list, selected("tag", "planted")).Check(200), s.Post(list, selected("delete", "planted")).Check(200), s.Post(list, selected("promote", "planted")).Check(200),
			s.Post(list, url.Values{"key": {"planted"}, "do": {"delete-now"}, "revision": {"2"}, "confirm": {text + "x"}, "message": {text}}).Check(422),
			s.Post(list, url.Values{"key": {"planted", text}, "do": {"delete-now"}, "revision": {"1"}, "confirm": {"1"}, "message": {text}}).Check(409),
			s.Post(unusedPage, url.Values{"key": {"constant"}, "revision": {"1"}, "review": {text}}).Check(422),
			s.Post(unusedPage, url.Values{"key": {"constant"}, "revision": {"1"}, "review": {"2029-01-01"}}).Check(409),
			s.Get("/namespaces/default/new-flag?" + url.Values{"name": {text}}.Encode()).Check(200),
		} {
			all = append(all, r.Elements())
		}
		return all
	}
	want := open("harmless")
	if !strings.Contains(want[4], "details") || !strings.Contains(want[0], "tr data-row") {
		t.Fatalf("the pages have no rows:\n%s", want[4])
	}
	for _, text := range hostile {
		for i, got := range open(text) {
			if got != want[i] {
				t.Errorf("%q: page %d has other elements:\n%s", text, i, firstDifference(want[i], got))
			}
		}
	}
}

func firstDifference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d: want %s\ngot %s", i, a[i], b[i])
		}
	}
	return "one has more"
}

// TestHostileQuery: a text that nothing matches is a text, too.
func TestHostileQuery(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	for _, text := range hostile {
		r := s.Get(list + "?" + url.Values{"q": {text}, "saved": {text}, "sort": {text}, "page": {text}}.Encode()).Check(200)
		for _, n := range r.All("input") {
			if webtest.Attribute(n, "name") == "q" && webtest.Attribute(n, "value") != text {
				t.Errorf("%q: got %q", text, webtest.Attribute(n, "value"))
			}
		}
	}
}

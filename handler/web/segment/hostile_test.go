package segment_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/webtest"
)

// hostile are texts that would change a page that does not escape them.
var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `'><svg/onload=alert(1)>`, `</textarea><b>x</b>`, `</title><b>`, `</option></select><b>`,
	`--><b>`, `<!--`, `]]>`, `&lt;b&gt;`, `&amp;quot;`, `javascript:alert(1)`, `data:text/html,<b>`, `//evil.example`, `" onfocus="alert(1)" autofocus="`, "` + alert(1) + `",
	`{{.}}`, `${7*7}`, `{ templ }`, `%3Cb%3E`, `\u003cb\u003e`, "a\nb\r\nc", "\t<b>\t", "\u202eabc\u202c", "\u200b\ufeff", "😀<b>", "é̂", `<style>*{}</style>`, `<base href=//x>`,
	`<form action=//x>`, `<input name=do value=save>`, `<meta http-equiv=refresh content=0>`, strings.Repeat("<b>", 80), strings.Repeat("W", 240),
}

// TestHostile: whatever texts a segment has, its pages keep their elements, and are valid.
func TestHostile(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	list := func(text string) string {
		b, err := json.Marshal([]string{text, "other"})
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	plant := func(text string) {
		replace(t, s, "planted", &guidon.Segment{Name: text, Description: text, MatchType: 1, Constraints: []*guidon.Constraint{
			{Type: 1, Property: text, Operator: "neq", Value: text, Description: text},
			{Type: 1, Property: text, Operator: "isoneof", Value: list(text), Description: text},
			{Type: 2, Property: text, Operator: "gt", Value: text, Description: text},
			{Type: 5, Property: "entityId", Operator: "isoneof", Value: list(text), Description: text},
		}})
	}
	pages := func(text string) (replies []*webtest.Reply) {
		const path = segmentsPath + "/planted"
		shown := s.Get(path).Check(200)
		open := shown
		for _, do := range []string{"edit:0", "edit:1", "edit:2", "edit:3", "name"} {
			open = press(t, s, open, do).Check(200)
		}
		_, f := open.Form("segment")
		replies = append(replies, shown, open, s.Get(segmentsPath+"?sort=changed").Check(200), s.Get(path+"/used-by").Check(200), s.Get(path+"/delete").Check(200), s.Get(newPath+"?copy=planted").Check(200))
		replies = append(replies, s.Post(path, with(f, "check", "entity", text, "context", `{"a":`+list(text)+`}`)).Check(200))
		replies = append(replies, s.Post(path, with(f, "review", "match", "all", "message", text, "constraint.2.text", "1")).Check(200))
		replies = append(replies, s.Post(path, with(f, "save", "match", "all", "revision", "0", "constraint.2.text", "1")).Check(409))
		return replies
	}
	shape := func(r *webtest.Reply) (tags []string) {
		for _, n := range r.All("") {
			if n.Data == "small" || n.Data == "p" { // there is more to say about long texts
				continue
			}
			tags = append(tags, n.Data+"#"+webtest.Attribute(n, "id")+"."+webtest.Attribute(n, "class"))
		}
		return tags
	}
	plant("plain")
	var want [][]string
	for _, r := range pages("plain") {
		want = append(want, shape(r))
	}
	for _, text := range hostile {
		plant(text)
		for i, r := range pages(text) {
			got := shape(r)
			if i == 7 || i == 8 { // the difference has other lines
				got, want[i] = outside(got), outside(want[i])
			}
			if diff := cmp.Diff(want[i], got); diff != "" {
				t.Errorf("%q on page %d (-want +got):\n%s", text, i, diff)
			}
		}
	}
	for _, text := range hostile {
		s.Get(segmentsPath + "?q=" + url.QueryEscape(text)).Check(200)
		s.Get(segmentsPath + "/" + url.PathEscape(strings.ReplaceAll(text, "/", "_"))).Check(404)
		s.Get(newPath + "?name=" + url.QueryEscape(text)).Check(200)
		press(t, s, s.Get(newPath), "create", "name", text, "key", text).Check(422)
	}
}

// outside returns the elements that are not lines of a difference.
func outside(tags []string) (rest []string) {
	for _, tag := range tags {
		switch strings.TrimRight(tag[:strings.IndexByte(tag, '#')], "") {
		case "tr", "td", "span":
		default:
			rest = append(rest, tag)
		}
	}
	return rest
}

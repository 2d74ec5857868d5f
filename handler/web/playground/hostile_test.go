package playground_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/guidonhq/guidon/handler/web/webtest"
)

// hostile are texts that must stay texts wherever they are shown.
var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`, `</textarea><script>1</script>`, `</svg></p><b>`, `<!--`, `]]>`,
	`javascript:alert(1)`, `{{.}}`, `${7*7}`, `&lt;b&gt;`, "\r\nSet-Cookie: a=b", "\x00", "\x1b[31m", "\u202eevil", "\u2028", "\U000e0041", `"`, `'`, "`", `\`, `//evil.example`, `#a&b=c`, `%s%n`, `"$(id)`,
	strings.Repeat("<b>", 300), strings.Repeat("x", 3000),
}

// elementsOf returns the tags of the main part of the page, in order. The colours of code are
// left out: they depend on it.
func elementsOf(r *webtest.Reply) (tags []string) {
	for n := range r.All("main")[0].Descendants() {
		if n.Type == html.ElementNode && n.Parent.Data != "pre" {
			tags = append(tags, n.Data)
		}
	}
	return tags
}

// TestHostileInput: whatever is entered, the page has the same elements.
func TestHostileInput(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	for name, ask := range map[string]func(text string) (*webtest.Reply, int){
		"flag": func(text string) (*webtest.Reply, int) { return s.Post(address, loyal("x"+text)), 422 },
		"flag in the address": func(text string) (*webtest.Reply, int) {
			return s.Get(address + "?" + url.Values{"flag": {"x" + text}}.Encode()), 200
		},
		"moment": func(text string) (*webtest.Reply, int) {
			return s.Post(address, with(loyal("checkout-redesign"), "at", "x"+text)), 422
		},
		"JSON": func(text string) (*webtest.Reply, int) {
			return s.Post(address, with(loyal("checkout-redesign"), "mode", "json", "json", "x"+text)), 422
		},
		"draft": func(text string) (*webtest.Reply, int) {
			return s.Post(address, with(loyal("checkout-redesign"), "draft", "x"+text)), 422
		},
	} {
		plain, status := ask("")
		want := elementsOf(plain.Check(status))
		for _, text := range hostile {
			got, status := ask(text)
			if diff := cmp.Diff(want, elementsOf(got.Check(status))); diff != "" {
				t.Errorf("%s %.60q (-want +got):\n%s", name, text, diff)
			}
		}
	}
	for _, text := range hostile { // another entity has another bucket, and so other elements
		r := s.Post(address, with(loyal("maintenance-page"), "entity", text, "v", text, "do", "ask"))
		if r.Status != 422 { // as an entity with a NUL character
			r.Check(200)
		}
		for _, tag := range []string{"script", "img", "b"} {
			for _, n := range r.All(tag) {
				if tag == "script" && strings.HasPrefix(webtest.Attribute(n, "src"), "/assets/") || tag == "b" && webtest.TextOf(n) != "" {
					continue
				}
				t.Errorf("%.60q: the page has an element %s", text, tag)
			}
		}
	}
}

// TestHostileFlag: whatever names and values a flag has, the page about it and the code for it
// have the same elements.
func TestHostileFlag(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	pages := func(namespace, value string) map[string][]string {
		at := "/namespaces/" + namespace + "/"
		fields := url.Values{"flag": {"f"}, "entity": {"u"}, "do": {"ask"}}
		return map[string][]string{
			"the answer for the segment": elementsOf(s.Post(at+"playground", with(fields, "k", "b", "v", value)).Check(200).Contains("The entity is in")),
			"the answer":                 elementsOf(s.Post(at+"playground", fields).Check(200)), "all flags": elementsOf(s.Post(at+"playground", with(fields, "flag", "")).Check(200)),
			"the code": elementsOf(s.Get(at + "flags/f/code?lang=curl").Check(200)),
		}
	}
	importing := func(namespace, text string) {
		quoted, err := json.Marshal(map[string]string{"text": text})
		if err != nil {
			t.Fatal(err)
		}
		value := strings.TrimSuffix(strings.TrimPrefix(string(quoted), `{"text":`), "}")
		s.Import(namespace, []byte(`version: "1.4"
namespace: {key: default, name: Default}
flags:
  - {key: f, name: `+value+`, type: VARIANT_FLAG_TYPE, enabled: true, description: `+value+`,
     variants: [{key: `+value+`, name: `+value+`, default: true, attachment: {"a": `+value+`}}, {key: other}],
     rules: [{segment: g, distributions: [{variant: other, rollout: 100}]}]}
segments:
  - {key: g, name: `+value+`, match_type: ANY_MATCH_TYPE, constraints: [
      {type: STRING_COMPARISON_TYPE, property: `+value+`, operator: eq, value: `+value+`},
      {type: STRING_COMPARISON_TYPE, property: b, operator: isoneof, value: `+quoteList(value)+`}]}
`))
	}
	importing("plain", "plain")
	want := pages("plain", "plain")
	for i, text := range hostile {
		if strings.ContainsAny(text, "\x00\x1b") || len(text) > 255 {
			continue // no name can be that
		}
		namespace := "n" + string(rune('a'+i))
		importing(namespace, "x"+text)
		for name, got := range pages(namespace, "x"+text) {
			if diff := cmp.Diff(want[name], got); diff != "" {
				t.Errorf("%s, %.60q (-want +got):\n%s", name, text, diff)
			}
		}
	}
}

// quoteList returns a string of YAML with a list of JSON. It also has a text that JSON escapes, so that all
// flags are left out of client-side snapshots alike.
func quoteList(value string) string {
	quoted, _ := json.Marshal("[" + value + `,"\""]`) // cannot fail for a string
	return string(quoted)
}

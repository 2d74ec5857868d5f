//go:build linux

package docs

import (
	"strings"
	"testing"
)

// TestParse checks that markers that would be ignored are found.
func TestParse(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a known reason", "<!-- not run: needs a Kubernetes cluster -->\n```sh\nkubectl\n```\n", ""},
		{"an unknown reason", "<!-- not run: too lazy -->\n```sh\nls\n```\n", `"too lazy" is not among`},
		{"an unknown marker", "<!-- ignored: yes -->\n```sh\nls\n```\n", `unknown marker "ignored"`},
		{"a marker without a block", "<!-- answer: yes -->\n\n```sh\nls\n```\n", "no block below the marker"},
		{"a marker at the end", "text\n<!-- answer: yes -->\n", "the page ends"},
		{"a marker of a shell block above another one", "<!-- answer: yes -->\n```yaml\na: b\n```\n", `cannot have the marker "answer"`},
		{"a comparison of nothing", "<!-- not compared: excerpt -->\n```json\n{}\n```\n", `cannot have the marker "not compared"`},
		{"a block in a list", "- run\n  ```sh\n  ls\n  ```\n", "do not indent"},
	} {
		_, problems := parse("page.md", c.text)
		got := strings.Join(problems, "\n")
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// TestShows checks how outputs are compared with blocks.
func TestShows(t *testing.T) {
	for _, c := range []struct {
		printed, shown string
		want           bool
	}{
		{"a\nb\nc\n", "b\n", true},
		{"a\nb\nc\n", "a\nc\n", false},
		{"a\nb\nc\n", "a\n…\nc\n", true},
		{`{"id":"x","at":1}`, `{"id": "…", "at": 1}`, true},
		{`{"id":"x","at":1}`, `{"id": "…", "at": 2}`, false},
		{"KEY   NAME\na     b\n", "KEY  NAME\na    b\n", true},
		{"100 %", "10 %", false},
	} {
		if got := shows(c.printed, c.shown); got != c.want {
			t.Errorf("%q in %q: got %t", c.shown, c.printed, got)
		}
	}
}

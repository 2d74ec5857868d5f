package docs_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link  = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	title = regexp.MustCompile(`(?m)^#+ (.+)$`)
	fence = regexp.MustCompile("(?ms)^```.*?^```")
	code  = regexp.MustCompile("`[^`]*`")
)

// TestLinks checks that files and headings to which the documents link exist.
func TestLinks(t *testing.T) {
	checked := 0
	for name, text := range files(t) {
		if !strings.HasSuffix(name, ".md") {
			continue
		}
		text = code.ReplaceAllString(fence.ReplaceAllString(text, ""), "")
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			checked++
			file := name
			if target != "" {
				file = path.Join(path.Dir(name), target)
			}
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(file))); err != nil {
				t.Errorf("%s: the link %q leads to no file", name, m[1])
			} else if anchor != "" && strings.HasSuffix(file, ".md") && !anchors(read(t, filepath.Join(root, file)))[anchor] {
				t.Errorf("%s: the link %q leads to no heading", name, m[1])
			}
		}
	}
	if checked == 0 {
		t.Error("found no links")
	}
}

// anchors returns the anchors of the headings of a document.
func anchors(text string) map[string]bool {
	all := map[string]bool{}
	for _, m := range title.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		all[anchor(m[1])] = true
	}
	return all
}

// anchor returns the anchor of a heading as GitHub makes it.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r > 127:
			return r
		}
		return -1
	}, strings.ToLower(heading))
}

// TestAnchors checks the form of anchors.
func TestAnchors(t *testing.T) {
	for heading, want := range map[string]string{
		"From Flipt v1":                     "from-flipt-v1",
		"1.17 Roles of tokens":              "117-roles-of-tokens",
		"The API, beyond its schema":        "the-api-beyond-its-schema",
		"`server.public_url` and its proxy": "serverpublic_url-and-its-proxy",
	} {
		if got := anchor(heading); got != want {
			t.Errorf("%q: got %q, want %q", heading, got, want)
		}
	}
}

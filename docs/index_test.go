package docs_test

import (
	"path"
	"regexp"
	"strings"
	"testing"
)

// TestIndex checks that the one index, docs/README.md, lists every document.
func TestIndex(t *testing.T) {
	all := files(t)
	listed := map[string]bool{"docs/README.md": true}
	for _, m := range link.FindAllStringSubmatch(all["docs/README.md"], -1) {
		target, _, _ := strings.Cut(m[1], "#")
		listed[path.Join("docs", target)] = true
	}
	for name := range all {
		if strings.HasPrefix(name, "docs/") && strings.HasSuffix(name, ".md") && !listed[name] {
			t.Errorf("docs/README.md does not list %s", name)
		}
	}
}

// TestProgramName checks that commands call the program as docs/README.md says.
func TestProgramName(t *testing.T) {
	elsewhere := regexp.MustCompile(`(?m)^[^#\n]*\./(bin/)?guidon `)
	for name, text := range files(t) {
		if !strings.HasSuffix(name, ".md") || name == "CONTRIBUTING.md" {
			continue
		}
		for _, block := range fence.FindAllString(text, -1) {
			if m := elsewhere.FindString(block); m != "" {
				t.Errorf("%s: %q: the program is called guidon", name, m)
			}
		}
	}
}

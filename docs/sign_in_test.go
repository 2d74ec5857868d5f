package docs_test

import (
	"regexp"
	"strings"
	"testing"
)

var (
	logTable = regexp.MustCompile(`(?s)\n\| Log \|[^\n]*\n\|---\|---\|\n(.*?)\n\n`)
	comment  = regexp.MustCompile(`(?m)//.*$`)
	quoted   = regexp.MustCompile("`([^`]+)`")
	// foreign are texts of the standard library.
	foreign = "x509: certificate signed by unknown authority, connection refused, no such host"
)

// TestLogTexts checks that the texts of the log in the page about signing in are those of
// the code.
func TestLogTexts(t *testing.T) {
	table := logTable.FindStringSubmatch(read(t, "sign-in.md"))
	if table == nil {
		t.Fatal("found no table of log texts")
	}
	sources := sourceText(t)
	for row := range strings.Lines(table[1]) {
		first, _, _ := strings.Cut(strings.TrimPrefix(row, "| "), " | ")
		for _, q := range quoted.FindAllStringSubmatch(first, -1) {
			for piece := range strings.SplitSeq(q[1], "…") {
				if !strings.Contains(sources, strings.Trim(piece, " :,")) && !strings.Contains(foreign, piece) {
					t.Errorf("no text of the code contains %q", piece)
				}
			}
		}
	}
}

// sourceText returns the code without comments.
func sourceText(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for name, text := range files(t) {
		if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			b.WriteString(comment.ReplaceAllString(text, ""))
		}
	}
	return b.String()
}

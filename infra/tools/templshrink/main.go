// Command templshrink makes the Go code that templ generates smaller, in the files *_templ.go
// below a folder: it drops the handling of errors that cannot occur. Pages are rendered into
// memory, without a deadline (handler/web/page.Render), so writing never fails. What remains
// is a third of the program code.
package main

import (
	"bytes"
	"fmt"
	"go/format"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// The names that templ generates.
const (
	failed = `\n\s*if templ_7745c5c3_Err != nil \{\n\s*return templ_7745c5c3_Err\n\s*\}`
	buffer = `templ_7745c5c3_Buffer`
)

var rewrites = []struct {
	pattern *regexp.Regexp
	with    string
}{
	// The writer: page.Render passes a buffer, and every component passes it on.
	{regexp.MustCompile(`if templ_7745c5c3_CtxErr := ctx\.Err\(\); templ_7745c5c3_CtxErr != nil \{\n\s*return templ_7745c5c3_CtxErr\n\s*\}\n`), ``},
	{regexp.MustCompile(`(?s)templ_7745c5c3_Buffer, templ_7745c5c3_IsBuffer := templruntime\.GetBuffer\(templ_7745c5c3_W\)\n\s*if !templ_7745c5c3_IsBuffer \{\n\s*defer func\(\) \{.*?\}\(\)\n\s*\}`), buffer + ` := templ_7745c5c3_W.(*templruntime.Buffer)`},
	// A text of the markup.
	{regexp.MustCompile(`templ_7745c5c3_Err = templruntime\.WriteString\(` + buffer + `, \d+, ("(?:[^"\\]|\\.)*")\)` + failed), `_, _ = ` + buffer + `.WriteString($1)`},
	// A text of the page.
	{regexp.MustCompile(`var (templ_7745c5c3_Var\d+) string\n\s*templ_7745c5c3_Var\d+, templ_7745c5c3_Err = templ\.JoinStringErrs\((.*)\)\n` +
		`\s*if templ_7745c5c3_Err != nil \{\n\s*return templ\.Error\{.*\}\n\s*\}\n` +
		`\s*_, templ_7745c5c3_Err = ` + buffer + `\.WriteString\(templ\.EscapeString\(templ_7745c5c3_Var\d+\)\)` + failed),
		`_, _ = ` + buffer + `.WriteString(templ.EscapeString($2))`},
	// Another component.
	{regexp.MustCompile(`templ_7745c5c3_Err = (.*\.Render\(.*, ` + buffer + `\))` + failed), `_ = $1`},
	// Attributes.
	{regexp.MustCompile(`templ_7745c5c3_Err = (templ\.RenderAttributes\(.*\))` + failed), `_ = $1`},
	// An address: the error is that of a function with two results, which there is not.
	{regexp.MustCompile(`(templ_7745c5c3_Var\d+), templ_7745c5c3_Err = (templ\.Join(?:URL|String)Errs\(.*\))\n\s*if templ_7745c5c3_Err != nil \{\n\s*return templ\.Error\{.*\}\n\s*\}`), `$1, _ = $2`},
	{regexp.MustCompile(`_, templ_7745c5c3_Err = (` + buffer + `\.WriteString\(.*\))` + failed), `_, _ = $1`},
}

func main() {
	err := filepath.WalkDir(os.Args[1], func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_templ.go") {
			return err
		}
		return shrink(path)
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// shrink rewrites the file.
func shrink(path string) error {
	code, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	small := code
	for _, r := range rewrites {
		small = r.pattern.ReplaceAll(small, []byte(r.with))
	}
	if small, err = format.Source(small); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if bytes.Equal(small, code) {
		return nil
	}
	return os.WriteFile(path, small, 0o644)
}

// Command templshrink makes the Go code that templ generates smaller, in the files *_templ.go
// below a folder: it becomes calls of handler/web/markup, which collects a page in memory. So
// there are neither errors nor a context to handle, and what remains is a third of the program
// code.
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

// The code that templ generates, and what it becomes.
const (
	failed  = `\n\s*if templ_7745c5c3_Err != nil \{\n\s*return templ_7745c5c3_Err\n\s*\}`
	invalid = `\n\s*if templ_7745c5c3_Err != nil \{\n\s*return templ\.Error\{.*\}\n\s*\}`
	text    = `("(?:[^"\\]|\\.)*")`
	buffer  = `templ_7745c5c3_Buffer`
	written = `\n\s*_, templ_7745c5c3_Err = ` + buffer + `\.WriteString\(`
)

var rewrites = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`import templruntime "github.com/a-h/templ/runtime"`), "import \"github.com/guidonhq/guidon/handler/web/markup\""},
	{regexp.MustCompile(`\nvar _ = templruntime\.GeneratedTemplate\n`), ``},
	{regexp.MustCompile(`//lint:file-ignore .*\n\n`), ``},
	// A component.
	{regexp.MustCompile(`templruntime\.GeneratedTemplate\(func\(templ_7745c5c3_Input templruntime\.GeneratedComponentInput\) \(templ_7745c5c3_Err error\) \{\n` +
		`\s*templ_7745c5c3_W, ctx := templ_7745c5c3_Input\.Writer, templ_7745c5c3_Input\.Context\n` +
		`(?:\s*if templ_7745c5c3_CtxErr := ctx\.Err\(\); templ_7745c5c3_CtxErr != nil \{\n\s*return templ_7745c5c3_CtxErr\n\s*\}\n)?` +
		`(?s:\s*templ_7745c5c3_Buffer, templ_7745c5c3_IsBuffer := templruntime\.GetBuffer\(templ_7745c5c3_W\)\n\s*if !templ_7745c5c3_IsBuffer \{\n\s*defer func\(\) \{.*?\}\(\)\n\s*\}\n)` +
		`\s*ctx = templ\.InitializeContext\(ctx\)\n`), `markup.Component(func(` + buffer + " *markup.Writer) {\n"},
	{regexp.MustCompile(`\n\s*return nil\n(\s*\}\))`), "\n$1"},
	// The content of a component.
	{regexp.MustCompile(`(templ_7745c5c3_Var\d+) := templ\.GetChildren\(ctx\)\n\s*if templ_7745c5c3_Var\d+ == nil \{\n\s*templ_7745c5c3_Var\d+ = templ\.NopComponent\n\s*\}\n\s*ctx = templ\.ClearChildren\(ctx\)\n`),
		"$1 := " + buffer + ".Inside()\n"},
	// A text of the markup.
	{regexp.MustCompile(`templ_7745c5c3_Err = templruntime\.WriteString\(` + buffer + `, \d+, ` + text + `\)` + failed), buffer + `.Raw($1)`},
	// A text of the page.
	{regexp.MustCompile(`var templ_7745c5c3_Var\d+ string\n\s*templ_7745c5c3_Var\d+, templ_7745c5c3_Err = templ\.JoinStringErrs\((.*)\)` + invalid +
		written + `templ\.EscapeString\(templ_7745c5c3_Var\d+\)\)` + failed), buffer + `.Text(string($1))`},
	// An address.
	{regexp.MustCompile(`var templ_7745c5c3_Var\d+ templ\.SafeURL\n\s*templ_7745c5c3_Var\d+, templ_7745c5c3_Err = templ\.JoinURLErrs\((.*)\)` + invalid +
		written + `templ\.EscapeString\(templ_7745c5c3_Var\d+\)\)` + failed), `markup.Address(` + buffer + `, $1)`},
	// Classes: they are names, of which there is no style to write.
	{regexp.MustCompile(`templ_7745c5c3_Err = templ\.RenderCSSItems\(.*\)` + failed + `\n`), ``},
	{regexp.MustCompile(`templ\.CSSClasses\((templ_7745c5c3_Var\d+)\)\.String\(\)`), `markup.Classes($1...)`},
	// Another component.
	{regexp.MustCompile(`templ_7745c5c3_Err = (.*)\.Render\(ctx, ` + buffer + `\)` + failed), buffer + `.Show($1)`},
	{regexp.MustCompile(`templ_7745c5c3_Err = (.*)\.Render\(templ\.WithChildren\(ctx, (templ_7745c5c3_Var\d+)\), ` + buffer + `\)` + failed), buffer + `.Around($1, $2)`},
	// Attributes.
	{regexp.MustCompile(`templ_7745c5c3_Err = templ\.RenderAttributes\(ctx, ` + buffer + `, (.*)\)` + failed), buffer + `.Attributes($1)`},
	// Markup before a text.
	{regexp.MustCompile(buffer + `\.Raw\(` + text + `\)\n\s*` + buffer + `\.Text\(`), buffer + `.Put($1, `},
}

// rest is what only code that was not rewritten contains.
var rest = regexp.MustCompile(`.*(?:templ_7745c5c3_Err|templruntime|\bctx, templ_).*`)

// inside is the code of a component that gets what is inside of it.
var inside = regexp.MustCompile(`\s*(templ_7745c5c3_Var\d+) := ` + buffer + `\.Inside\(\)\n`)

// withoutUnused returns code where only components that show what is inside of them get it.
func withoutUnused(code []byte) []byte {
	return inside.ReplaceAllFunc(code, func(statement []byte) []byte {
		variable := inside.FindSubmatch(statement)[1]
		if bytes.Contains(code, fmt.Appendf(nil, "(%s)", variable)) {
			return statement
		}
		return []byte("\n")
	})
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
	small = withoutUnused(small)
	if unknown := rest.Find(small); unknown != nil {
		return fmt.Errorf("%s: no rule for the generated code %q", path, unknown)
	}
	if small, err = format.Source(small); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if bytes.Equal(small, code) {
		return nil
	}
	return os.WriteFile(path, small, 0o644)
}

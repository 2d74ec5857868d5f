package page

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// styleRule is a rule of the style sheet for one selector.
type styleRule struct{ file, layer, media, selector string }

var (
	cssComment = regexp.MustCompile(`(?s)/\*.*?\*/`)
	cssPart    = regexp.MustCompile(`([^{};]*)([{};])`)
	cssComma   = regexp.MustCompile(`,\s*`)
)

// styleRules returns all rules, which are at most within a layer and a condition.
func styleRules(t *testing.T) (rules []styleRule) {
	t.Helper()
	files, err := fs.Glob(assetFiles, "assets/styles/*.css")
	if err != nil || len(files) == 0 {
		t.Fatalf("got the files %v, %v", files, err)
	}
	for _, file := range files {
		css, err := assetFiles.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var within []string
		for _, m := range cssPart.FindAllStringSubmatch(cssComment.ReplaceAllString(string(css), ""), -1) {
			switch text := strings.TrimSpace(m[1]); m[2] {
			case "{":
				within = append(within, text)
				if strings.HasPrefix(text, "@") {
					continue
				}
				r := styleRule{file: path.Base(file), layer: within[0], media: strings.Join(within[1:len(within)-1], " ")}
				for _, r.selector = range cssComma.Split(text, -1) {
					rules = append(rules, r)
				}
			case "}":
				within = within[:len(within)-1]
			}
		}
	}
	return rules
}

// TestStyleOrder: the order of the files has no meaning. Each file has one component, in one
// layer and in the layer for narrow windows, and no rule is corrected by another one with the
// same selector.
func TestStyleOrder(t *testing.T) {
	layers, files := make(map[string]string), make(map[styleRule]string)
	for _, r := range styleRules(t) {
		if r.layer != "@layer narrow" {
			if layers[r.file] == "" {
				layers[r.file] = r.layer
			}
			if !strings.HasPrefix(r.layer, "@layer ") || r.layer != layers[r.file] {
				t.Errorf("%s: %s is in %s, and other rules of the file are in %s", r.file, r.selector, r.layer, layers[r.file])
			}
		}
		same := r
		same.file = ""
		if other := files[same]; other != "" && other != r.file {
			t.Errorf("%s: %s is in %s already", r.file, r.selector, other)
		}
		files[same] = r.file
	}
}

var (
	sourceText = regexp.MustCompile("(?s)\"(?:[^\"\\\\\n]|\\\\.)*\"|`[^`]*`")
	sourceWord = regexp.MustCompile(`[A-Za-z][\w-]*`)
	classText  = regexp.MustCompile(`^["\x60]?[a-z0-9 -]*["\x60]?$`)
	cssClass   = regexp.MustCompile(`\.([A-Za-z][\w-]*)`)
	cssName    = regexp.MustCompile(`\[([\w-]+)`)
)

// TestStylesUsed: the sources of the pages have each class and each attribute of the style
// sheet.
func TestStylesUsed(t *testing.T) {
	classes, words := make(map[string]bool), make(map[string]bool)
	err := filepath.WalkDir("..", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || !slices.Contains([]string{".templ", ".go", ".js"}, path.Ext(file)) || strings.HasSuffix(file, "_templ.go") || strings.HasSuffix(file, "_test.go") {
			return err
		}
		source, err := os.ReadFile(file)
		for _, word := range sourceWord.FindAllString(string(source), -1) {
			words[word] = true
		}
		for _, text := range sourceText.FindAllString(string(source), -1) {
			if classText.MatchString(text) {
				for _, class := range sourceWord.FindAllString(text, -1) {
					classes[class] = true
				}
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range styleRules(t) {
		for _, m := range cssClass.FindAllStringSubmatch(r.selector, -1) {
			if !classes[m[1]] && !classes[strings.TrimRight(m[1], "12345678")] { // such as v1, which is made of "v" and a number
				t.Errorf("%s: no page has the class %s of %s", r.file, m[1], r.selector)
			}
		}
		for _, m := range cssName.FindAllStringSubmatch(r.selector, -1) {
			if !words[m[1]] {
				t.Errorf("%s: no page has the attribute %s of %s", r.file, m[1], r.selector)
			}
		}
	}
}

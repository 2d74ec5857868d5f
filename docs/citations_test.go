package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// root is the folder of the repository.
const root = ".."

// contracts are the files that the code cites, by the word of the citation.
var contracts = map[string]string{
	"contract":   "contract/wire.md",
	"operations": "contract/auth-and-operations.md",
	"OFREP":      "contract/ofrep.md",
}

var (
	// gap is white space, including the start of a comment line.
	gap = `(?:[ \t]*\n[ \t]*(?://|#|\*)?[ \t]*|[ \t]+)`
	// number is that of a section or of an item of a list in it.
	number = `[0-9]+(?:\.[0-9]+)*`
	// numbers are several: "1.2, 1.3", "1.2 and 1.5", "12.1 to 12.4".
	numbers = number + `(?:(?:,|,?` + gap + `(?:and|or|to))` + gap + number + `)*`

	citation    = regexp.MustCompile(`\b([Cc]ontract|[Oo]perations|OFREP)` + gap + `(` + numbers + `)`)
	ownCitation = regexp.MustCompile(`\b([Ss]ections?)` + gap + `(` + numbers + `)`)
	oneNumber   = regexp.MustCompile(number)

	// unavailable matches citations of documents that are not in the repository.
	unavailable = regexp.MustCompile(`\b[Dd]esign(?:\.md)?,?` + gap + number + `|\b(?:wire|sign-in)\.md` + gap + number + `|\bhouse\.md\b`)

	heading  = regexp.MustCompile(`^##+ (` + number + `)\.?(?: |$)`)
	listItem = regexp.MustCompile(`^( *)([0-9]+)\. `)
)

// TestCitations checks that every section that the repository cites exists.
func TestCitations(t *testing.T) {
	exists := map[string]map[string]bool{}
	for word, name := range contracts {
		exists[word] = sections(read(t, filepath.FromSlash(name)))
	}
	found := map[string]int{}
	for name, text := range files(t) {
		for _, c := range citationsIn(citation, text) {
			word := strings.Replace(strings.Replace(c.word, "Contract", "contract", 1), "Operations", "operations", 1)
			found[word]++
			if !exists[word][c.number] {
				t.Errorf("%s:%d: %s %s: docs/%s has no such section", name, c.line, word, c.number, contracts[word])
			}
		}
	}
	for word := range contracts {
		if found[word] == 0 {
			t.Errorf("found no citation of %q", word)
		}
	}
}

// TestOwnCitations checks the sections that the contract files cite of themselves.
func TestOwnCitations(t *testing.T) {
	for _, name := range contracts {
		text := read(t, filepath.FromSlash(name))
		exists := sections(text)
		for _, c := range citationsIn(ownCitation, text) {
			if !exists[c.number] {
				t.Errorf("docs/%s:%d: there is no section %s", name, c.line, c.number)
			}
		}
	}
}

// TestUnavailableDocuments checks that nothing cites documents that a reader of the
// repository does not have.
func TestUnavailableDocuments(t *testing.T) {
	for name, text := range files(t) {
		if name == "docs/citations_test.go" {
			continue
		}
		for _, at := range unavailable.FindAllStringIndex(text, -1) {
			t.Errorf("%s:%d: %q is not in the repository", name, lineOf(text, at[0]), text[at[0]:at[1]])
		}
	}
}

// cited is one number of a citation.
type cited struct {
	word, number string
	line         int
}

func citationsIn(pattern *regexp.Regexp, text string) []cited {
	var all []cited
	for _, at := range pattern.FindAllStringSubmatchIndex(text, -1) {
		for _, n := range oneNumber.FindAllString(text[at[4]:at[5]], -1) {
			all = append(all, cited{text[at[2]:at[3]], n, lineOf(text, at[0])})
		}
	}
	return all
}

func lineOf(text string, offset int) int { return 1 + strings.Count(text[:offset], "\n") }

// sections returns the numbers of the headings of a Markdown file, and those of the
// items of numbered lists: item 3 of the list in section 7.5 is 7.5.3, item 8 of a
// list below item 5 is 7.5.5.8.
func sections(text string) map[string]bool {
	type item struct {
		indent int
		number string
	}
	all := map[string]bool{}
	section := ""
	var open []item // the items that the line may be below, outermost first
	for line := range strings.Lines(text) {
		if m := heading.FindStringSubmatch(line); m != nil {
			section, open = m[1], nil
			all[section] = true
			continue
		}
		m := listItem.FindStringSubmatch(line)
		if m == nil || section == "" {
			continue
		}
		indent := len(m[1])
		open = slices.DeleteFunc(open, func(i item) bool { return i.indent >= indent })
		above := section
		if len(open) > 0 {
			above = open[len(open)-1].number
		}
		open = append(open, item{indent, above + "." + m[2]})
		all[above+"."+m[2]] = true
	}
	return all
}

// files returns the texts that may cite something, by their paths with slashes.
func files(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if slices.Contains([]string{".git", "node_modules", "bin"}, d.Name()) {
				return filepath.SkipDir
			}
		case slices.Contains([]string{".go", ".proto", ".sh", ".md", ".yaml", ".yml"}, filepath.Ext(path)):
			name, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			texts[filepath.ToSlash(name)] = read(t, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

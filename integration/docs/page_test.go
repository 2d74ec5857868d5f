//go:build linux

package docs

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// page is a Markdown file: the blocks that a reader copies, and what they are said to print.
type page struct {
	name   string // path from the root of the repository
	blocks []*block
}

// block is a fenced block of a page.
type block struct {
	line     int // of its first fence
	language string
	text     string
	// follows is the shell block directly above this block, whose output it shows.
	follows *block
	// markers are the HTML comments directly above, which readers do not see. See marks.
	markers map[string]string
}

// marks are the comments that say how a block is tested, with what they may say.
var marks = map[string]*regexp.Regexp{
	// A shell block that the test cannot run, and why: one of these kinds of reasons.
	"not run": regexp.MustCompile("^(" + strings.Join([]string{
		"needs a cloud account", "needs a container engine", "needs a database of an earlier release", "needs a Flipt database", "needs a Kubernetes cluster",
		"needs a reader of the change log", "needs a receiver of webhooks", "needs a registry of containers", "needs a sign-in provider", "needs a machine with systemd",
		"needs packages from the internet", "takes minutes",
	}, "|") + ")$"),
	// An output that differs from what is printed, and why.
	"not compared": regexp.MustCompile("^(depends on the machine|excerpt|needs .+)$"),
	// The answer to what a shell block asks at a terminal.
	"answer": regexp.MustCompile(`^\S+$`),
	// A shell block that goes on until the end of the page, once this URL responds.
	"background": regexp.MustCompile(`^http://127\.0\.0\.1:[0-9]+/$`),
	// A program that the page needs and that need not be installed, also in continuous integration.
	"requires": regexp.MustCompile(`^javac$`),
	// A server besides guidon that the page needs from here on, at its usual port.
	"with": regexp.MustCompile(`^(PostgreSQL|MariaDB|Redis)$`),
	// The file of the repository with the same bytes as the block.
	"file": regexp.MustCompile(`^examples/\S+$`),
	// The command whose output the block shows, if it is not in the page.
	"output of": regexp.MustCompile(`.`),
}

// exitCode matches the comment of a shell block by which readers see that its last command fails.
var exitCode = regexp.MustCompile(`# exit code ([1-9][0-9]*)\b[^\n]*\n\z`)

var marker = regexp.MustCompile(`^<!-- ([a-z ]+): (.+) -->$`)

// isShell reports whether a reader runs the block in a shell.
func (b *block) isShell() bool { return slices.Contains([]string{"sh", "bash", "console"}, b.language) }

// isOutput reports whether the block shows what a command prints.
func (b *block) isOutput() bool {
	if b.markers["output of"] != "" {
		return true
	}
	return b.follows != nil && slices.Contains([]string{"text", "json"}, b.language)
}

// commands returns the lines that a reader types. In a console block these begin with "$ ".
func (b *block) commands() string {
	if b.language != "console" {
		return b.text
	}
	var typed strings.Builder
	for line := range strings.Lines(b.text) {
		if command, is := strings.CutPrefix(line, "$ "); is {
			typed.WriteString(command)
		}
	}
	return typed.String()
}

// printed returns the lines of a console block that its commands print.
func (b *block) printed() string {
	var out strings.Builder
	for line := range strings.Lines(b.text) {
		if !strings.HasPrefix(line, "$ ") {
			out.WriteString(line)
		}
	}
	return out.String()
}

// parse reads a page. problems are the markers that are wrong.
func parse(name, text string) (p *page, problems []string) {
	p = &page{name: name}
	markers := map[string]string{}
	var open *block
	var last *block // the block above, if there are only blank lines and markers in between
	number := 0
	complain := func(format string, args ...any) {
		problems = append(problems, fmt.Sprintf("%s:%d: ", name, number)+fmt.Sprintf(format, args...))
	}
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSuffix(line, "\n")
		switch {
		case open != nil && line == "```":
			last, open = open, nil
		case open != nil:
			open.text += line + "\n"
		case strings.HasPrefix(line, "```"):
			open = &block{line: number, language: line[3:], markers: markers}
			if last != nil && last.isShell() {
				open.follows = last
			} else if last != nil {
				open.follows = last.follows
			}
			if open.isShell() {
				open.follows = nil
			}
			problems = append(problems, p.misplaced(open)...)
			p.blocks, markers = append(p.blocks, open), map[string]string{}
		case marker.MatchString(line):
			m := marker.FindStringSubmatch(line)
			if allowed := marks[m[1]]; allowed == nil {
				complain("unknown marker %q; use one of %q", m[1], slices.Sorted(maps.Keys(marks)))
			} else if !allowed.MatchString(m[2]) {
				complain("%s: %q is not among the allowed ones, %s", m[1], m[2], allowed)
			}
			markers[m[1]] = m[2]
		case strings.HasPrefix(strings.TrimSpace(line), "```"):
			complain("a block in a list is not tested: do not indent it")
		default:
			if len(markers) > 0 {
				complain("no block below the marker")
				markers = map[string]string{}
			}
			if line != "" {
				last = nil
			}
		}
	}
	if len(markers) > 0 || open != nil {
		complain("the page ends in a block, or after a marker")
	}
	return p, problems
}

// misplaced returns the markers of a block that have no meaning there.
func (p *page) misplaced(b *block) (problems []string) {
	for mark := range b.markers {
		ofShell := slices.Contains([]string{"not run", "answer", "background", "with"}, mark)
		if ofShell && !b.isShell() || mark == "not compared" && !b.isOutput() && b.language != "console" {
			problems = append(problems, fmt.Sprintf("%s:%d: a %s block cannot have the marker %q", p.name, b.line, b.language, mark))
		}
	}
	return problems
}

// readPages returns the pages that the tests check.
func readPages(t *testing.T, root string) []*page {
	t.Helper()
	names := []string{"README.md", "examples/README.md"}
	for _, pattern := range []string{"docs/*.md", "docs/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found {
			name, err := filepath.Rel(root, path)
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, filepath.ToSlash(name))
		}
	}
	var pages []*page
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		p, problems := parse(name, string(text))
		for _, problem := range problems {
			t.Error(problem)
		}
		pages = append(pages, p)
	}
	return pages
}

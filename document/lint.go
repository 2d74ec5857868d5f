package document

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service"
)

// maxFindings is how many findings of a text are kept while it is being read.
const maxFindings = 100_000

// Finding is a problem at a place of a text.
type Finding struct {
	Line, Column int    // from 1; 0 if unknown
	Path         string // of the part in its document, or ""
	Message      string
	Warning      bool // an import accepts it, but it is probably a mistake
}

// Report holds the findings of [Lint].
type Report struct {
	Findings                   []Finding // in the order of their places
	More                       int       // not in Findings, because there are too many
	Documents, Flags, Segments int
}

// Errors returns how many findings are no warnings.
func (r Report) Errors() int {
	n := 0
	for _, f := range r.Findings {
		if !f.Warning {
			n++
		}
	}
	return n
}

// Lint reports everything that an import of the text would reject, as errors, and as warnings
// what it would accept although it is probably a mistake: the members and values that unknown
// makes it ignore, constraints that never compare, segments without constraints, and, in a
// document without errors, rules and rollouts that no entity reaches.
//
// A text of more than 16 MiB is only checked for errors, of which those of its form have a place.
func Lint(text []byte, format Format, unknown Unknown) Report {
	if len(text) > maxUnsplitSize {
		return lintLong(text, format, unknown)
	}
	l := &linter{invalidAt: map[spot]bool{}}
	next := yamlDocuments(text)
	if format == JSON {
		next = jsonDocuments(text, false)
	}
	err := errNotUTF8
	if format == YAML || utf8.Valid(text) {
		_, err = (&decoder{unknown: unknown, linter: l}).decode(next)
	}
	if err != nil {
		l.unreadable(err)
	}
	slices.SortStableFunc(l.report.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return l.report
}

// lintLong is Lint for a text that is too long to be kept with its places.
func lintLong(text []byte, format Format, unknown Unknown) Report {
	l := &linter{}
	documents, err := Decode(text, format, unknown)
	if err != nil {
		finding := Finding{Message: guidon.PublicMessage(err)}
		if placed, ok := errors.AsType[*PlacedError](err); ok {
			finding.Line, finding.Column = placed.Line, placed.Column
		}
		l.add(finding)
	}
	for _, d := range documents {
		l.count(d)
		found, more := d.Problems(maxFindings)
		for _, p := range found {
			l.add(Finding{Message: p.String()})
		}
		l.report.More += more
	}
	l.add(Finding{
		Message: fmt.Sprintf("the file is larger than %d MiB, so only errors are reported, without their lines; split it to get all",
			maxUnsplitSize>>20),
		Warning: true,
	})
	return l.report
}

// linter collects findings, which a decoder reports to it.
type linter struct {
	report    Report
	root      *node         // the current document
	scalars   scalars       // of a part of it
	invalidAt map[spot]bool // the places of errors in it
}

func (l *linter) add(f Finding) {
	if len(l.report.Findings) == maxFindings {
		l.report.More++
		return
	}
	f.Message = guidon.Shorten(f.Message, guidon.MaxPublicMessage) // those of the YAML library quote the text
	l.report.Findings = append(l.report.Findings, f)
}

func (l *linter) count(d *service.Document) {
	l.report.Documents++
	l.report.Flags += len(d.Flags)
	l.report.Segments += len(d.Segments)
}

// yamlLine finds the line in an error of the YAML library. It is compiled when it is first
// needed, because functions start often and seldom need it.
var yamlLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^line (\d+): `) })

// unreadable adds an error after which the text cannot be read.
func (l *linter) unreadable(err error) {
	message, isYAML := strings.CutPrefix(err.Error(), "yaml: ")
	finding := Finding{Message: message}
	if found := yamlLine().FindStringSubmatch(message); found != nil {
		finding.Line, _ = strconv.Atoi(found[1])
		finding.Message = message[len(found[0]):]
	} else if isYAML && !strings.Contains(message, "anchor") {
		finding.Line = 1 // the library names only the others
	}
	if placed, ok := errors.AsType[*PlacedError](err); ok {
		finding.Line, finding.Column = placed.Line, placed.Column
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		finding.Message = "unexpected end of the input"
	}
	l.add(finding)
}

// found adds a problem that the decoder has found. A warning is about input that it accepts.
func (l *linter) found(s spot, path []string, text string, warning bool) {
	if !warning {
		l.invalidAt[s] = true
	}
	l.add(Finding{Line: s.line, Column: s.column, Path: strings.Join(path, ": "), Message: text, Warning: warning})
}

// document adds the problems of a document that has been read.
func (l *linter) document(n *node, document *service.Document) {
	l.count(document)
	l.root = n
	n.dropEmpty()
	found, more := document.Problems(maxFindings)
	for _, problem := range found {
		l.problem(problem)
	}
	l.report.More += more
	l.doubts(document)
	if len(found) == 0 && len(l.invalidAt) == 0 {
		l.unreached(document)
	}
	clear(l.invalidAt)
}

// problem adds a rule that the document breaks, unless there is an error at its place, which
// then has caused it.
func (l *linter) problem(p service.Problem) {
	at := l.focus(l.root.walk(p.Path), p.Message)
	if l.invalidAt[at.spot()] && at.line > 0 {
		return
	}
	l.add(Finding{Line: at.line, Column: at.column, Path: pathText(p.Path), Message: p.Message})
}

// warn adds a warning about the member of the part at the path, or about the part itself.
func (l *linter) warn(path []service.Step, member, format string, args ...any) {
	at := l.root.walk(path).part(member)
	l.add(Finding{Line: at.line, Column: at.column, Path: pathText(path), Message: fmt.Sprintf(format, args...), Warning: true})
}

func pathText(path []service.Step) string {
	return strings.Join(lists.Map(path, service.Step.String), ": ")
}

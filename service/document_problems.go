package service

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/lists"
)

// maxProblems limits how many problems of a document are reported together.
const maxProblems = 50

// problems collects the errors of a document.
type problems struct {
	path  []Step // of the part being checked
	limit int    // of found; 0 means maxProblems
	found []Problem
	more  int // not in found, because of the limit
}

// Problem is a rule that a part of a document breaks.
type Problem struct {
	Path    []Step
	Message string
}

// String returns the path and the message.
func (p Problem) String() string {
	var text strings.Builder
	for _, at := range p.Path {
		text.WriteString(at.String() + ": ")
	}
	return text.String() + p.Message
}

// Step is one element of the path of a part in its document.
type Step struct {
	Name  string
	Index int    // in the list of that name, or -1
	Key   string // of the entry, if Keyed is set
	Keyed bool
}

// String returns the step as it is in error messages.
func (at Step) String() string {
	switch {
	case at.Index < 0:
		return at.Name
	case at.Keyed:
		return fmt.Sprintf("%s[%d] %s", at.Name, at.Index, guidon.Quote(at.Key))
	}
	return fmt.Sprintf("%s[%d]", at.Name, at.Index)
}

// at runs check with the path extended by name.
func (p *problems) at(name string, check func(p *problems)) {
	p.within(Step{Name: name, Index: -1}, check)
}

// entry is at for an entry of a list.
func (p *problems) entry(list string, index int, check func(p *problems)) {
	p.within(Step{Name: list, Index: index}, check)
}

// item is at for an entry of a list whose entries have keys.
func (p *problems) item(list string, index int, key string, check func(p *problems)) {
	p.within(Step{Name: list, Index: index, Key: key, Keyed: true}, check)
}

func (p *problems) within(at Step, check func(p *problems)) {
	p.path = append(p.path, at)
	check(p)
	p.path = p.path[:len(p.path)-1]
}

func (p *problems) add(err error) {
	switch {
	case err == nil:
	case len(p.found) == cmp.Or(p.limit, maxProblems):
		p.more++
	default:
		p.found = append(p.found, Problem{Path: slices.Clone(p.path), Message: guidon.PublicMessage(err)})
	}
}

// checkUnique reports a problem if the key is in seen, and adds it otherwise.
func (p *problems) checkUnique(seen map[string]bool, kind, key string) {
	if seen[key] {
		p.add(guidon.Errorf(guidon.InvalidArgument, "%s %q is not unique", kind, key))
	}
	seen[key] = true
}

// segments adds a problem for each segment of the rules that is not known.
func (p *problems) segments(rules *guidon.Flag, known map[string]bool) {
	for key := range rules.SegmentKeys() {
		if !known[key] {
			p.add(guidon.Errorf(guidon.InvalidArgument, "segment %q not found", key))
		}
	}
}

// addAll adds the problems of other, with their paths.
func (p *problems) addAll(other *problems) {
	fitting := min(len(other.found), maxProblems-len(p.found))
	p.found = append(p.found, other.found[:fitting]...)
	p.more += len(other.found) - fitting + other.more
}

func (p *problems) err() error { return p.errOf(guidon.InvalidArgument) }

// errOf returns an error with the code and all problems, or nil if no problem was found.
func (p *problems) errOf(code guidon.Code) error {
	if len(p.found) == 0 {
		return nil
	}
	lines := lists.Map(p.found, Problem.String)
	if p.more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more problems", p.more))
	}
	return &guidon.Error{Code: code, Message: strings.Join(lines, "\n")}
}

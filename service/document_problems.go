package service

import (
	"fmt"
	"strings"

	"github.com/guidonhq/guidon"
)

// maxProblems limits how many problems of a document are reported together.
const maxProblems = 50

// problems collects the errors of a document.
type problems struct {
	path  []step // of the part being checked
	found []string
	more  int // not in found, because of maxProblems
}

// step is one element of a path. It is formatted only if there is a problem.
type step struct {
	name  string
	index int // in a list, or -1
	key   string
	keyed bool
}

func (at step) String() string {
	switch {
	case at.index < 0:
		return at.name
	case at.keyed:
		return fmt.Sprintf("%s[%d] %q", at.name, at.index, at.key)
	}
	return fmt.Sprintf("%s[%d]", at.name, at.index)
}

// at runs check with the path extended by name.
func (p *problems) at(name string, check func(p *problems)) {
	p.within(step{name: name, index: -1}, check)
}

// entry is at for an entry of a list.
func (p *problems) entry(list string, index int, check func(p *problems)) {
	p.within(step{name: list, index: index}, check)
}

// item is at for an entry of a list whose entries have keys.
func (p *problems) item(list string, index int, key string, check func(p *problems)) {
	p.within(step{name: list, index: index, key: key, keyed: true}, check)
}

func (p *problems) within(at step, check func(p *problems)) {
	p.path = append(p.path, at)
	check(p)
	p.path = p.path[:len(p.path)-1]
}

func (p *problems) add(err error) {
	switch {
	case err == nil:
	case len(p.found) == maxProblems:
		p.more++
	default:
		var text strings.Builder
		for _, at := range p.path {
			text.WriteString(at.String() + ": ")
		}
		p.found = append(p.found, text.String()+guidon.PublicMessage(err))
	}
}

// checkUnique reports a problem if the key is in seen, and adds it otherwise.
func (p *problems) checkUnique(seen map[string]bool, kind, key string) {
	if seen[key] {
		p.add(guidon.Errorf(guidon.InvalidArgument, "%s %q is not unique", kind, key))
	}
	seen[key] = true
}

func (p *problems) segments(keys []string, known map[string]bool) {
	for _, key := range keys {
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
	text := strings.Join(p.found, "\n")
	if p.more > 0 {
		text += fmt.Sprintf("\nand %d more problems", p.more)
	}
	return guidon.Errorf(code, "%s", text)
}

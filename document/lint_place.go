package document

import (
	"regexp"
	"strings"
	"sync"

	"github.com/guidonhq/guidon/service"
)

// place is a part of a document.
type place struct{ node *node }

// walk returns the part at the path, or the last one on the way to it that exists.
func (p place) walk(path []service.Step) place {
	for _, step := range path {
		next := p.node.member(step.Name)
		if next != nil && step.Index >= 0 {
			next = next.entry(step.Index)
		}
		if next == nil {
			return p
		}
		p.node = next
	}
	return p
}

// entry returns the entry of a list, not counting empty ones, or nil.
func (n *node) entry(index int) *node {
	for _, item := range n.items {
		if item.kind == null {
			continue
		}
		if index == 0 {
			return item
		}
		index--
	}
	return nil
}

// focus is a member that messages of problems are about.
type focus struct {
	message *regexp.Regexp // its first group, if any, is the value of the member
	member  string         // "" for the name in the group
}

var focuses = sync.OnceValue(func() []focus {
	return []focus{
		{regexp.MustCompile(`^invalid field ([\w.]+)`), ""},
		{regexp.MustCompile(`^(?:flag|segment|variant) ".*" is not unique$`), "key"},
		{regexp.MustCompile(`^segment "(.*)" not found$`), "segment"},
		{regexp.MustCompile(`^finding variant: `), "variant"},
		{regexp.MustCompile(`^invalid constraint type: `), "type"},
		{regexp.MustCompile(`^constraint operator `), "operator"},
		{regexp.MustCompile(`^property is `), "property"},
		{regexp.MustCompile(`^(?:parsing datetime|invalid value provided|too many values provided) `), "value"},
	}
})

// focus returns the member that the message of a problem of the part is about, or p itself.
func (p place) focus(message string) place {
	for _, f := range focuses() {
		found := f.message.FindStringSubmatch(message)
		if found == nil {
			continue
		}
		name, value := f.member, ""
		switch {
		case name == "":
			name = snakeCase(found[1])
		case len(found) > 1:
			value = found[1]
		}
		for part := range strings.SplitSeq(name, ".") {
			p = p.member(part)
		}
		return p.scalar(value)
	}
	return p
}

// member returns the member with the name, or p itself.
func (p place) member(name string) place {
	for _, m := range p.node.members {
		if m.name == name {
			return place{m.value}
		}
	}
	return p
}

// scalar returns the value below p that has the text, or p itself.
func (p place) scalar(text string) place {
	if text == "" {
		return p
	}
	if found := p.node.find(text); found != nil {
		return place{found}
	}
	return p
}

func (n *node) find(text string) *node {
	if n.kind != list && n.kind != object && n.raw == text {
		return n
	}
	for _, item := range n.items {
		if found := item.find(text); found != nil {
			return found
		}
	}
	for _, m := range n.members {
		if found := m.value.find(text); found != nil {
			return found
		}
	}
	return nil
}

// snakeCase returns the name of a member for that of a field of the API, such as match_type
// for matchType.
func snakeCase(name string) string {
	var out strings.Builder
	for _, r := range name {
		if 'A' <= r && r <= 'Z' {
			out.WriteByte('_')
			r += 'a' - 'A'
		}
		out.WriteRune(r)
	}
	return out.String()
}

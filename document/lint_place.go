package document

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/guidonhq/guidon/service"
)

// dropEmpty removes the empty entries of lists, which paths do not count.
func (n *node) dropEmpty() {
	n.items = slices.DeleteFunc(n.items, func(item *node) bool { return item.kind == null })
	for _, item := range n.items {
		item.dropEmpty()
	}
	for _, m := range n.members {
		m.value.dropEmpty()
	}
}

// walk returns the part at the path, or the last one on the way to it that exists.
func (n *node) walk(path []service.Step) *node {
	for _, step := range path {
		next := n.member(step.Name)
		switch {
		case next == nil || step.Index >= len(next.items):
			return n
		case step.Index >= 0:
			next = next.items[step.Index]
		}
		n = next
	}
	return n
}

// part returns the member with the name, or n itself.
func (n *node) part(name string) *node { return cmp.Or(n.member(name), n) }

// scalars are the first values below a node that are written as a text, by the text.
type scalars struct {
	below *node
	first map[string]*node
}

// find returns the value below the node, or nil.
func (s *scalars) find(below *node, text string) *node {
	if s.below != below {
		*s = scalars{below, map[string]*node{}}
		s.add(below)
	}
	return s.first[text]
}

func (s *scalars) add(n *node) {
	if n.kind != list && n.kind != object && s.first[n.raw] == nil {
		s.first[n.raw] = n
	}
	for _, item := range n.items {
		s.add(item)
	}
	for _, m := range n.members {
		s.add(m.value)
	}
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
		{regexp.MustCompile(`^flag ".*" not found, which `), "flag"},
		{regexp.MustCompile(`^flag ".*" has no variant "(.*)"$`), "is"},
		{regexp.MustCompile(`^flag ".*" requires `), "requires"},
		{regexp.MustCompile(`^finding variant: `), "variant"},
		{regexp.MustCompile(`^invalid constraint type: `), "type"},
		{regexp.MustCompile(`^constraint operator `), "operator"},
		{regexp.MustCompile(`^property is `), "property"},
		{regexp.MustCompile(`^(?:parsing datetime|invalid value provided|too many values provided) `), "value"},
	}
})

// focus returns the member that the message of a problem of the part is about, or the part itself.
func (l *linter) focus(part *node, message string) *node {
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
		for member := range strings.SplitSeq(name, ".") {
			part = part.part(member)
		}
		if value == "" {
			return part
		}
		return cmp.Or(l.scalars.find(part, value), part)
	}
	return part
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

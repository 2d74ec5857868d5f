package document

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/guidonhq/guidon/service"
)

// place is a part of a document.
type place struct {
	node *node
	in   *index
}

// rootOf returns the whole document as a place.
func rootOf(document *node) place {
	return place{document, &index{entries: map[*node][]*node{}}}
}

// at returns the place of another node of the document.
func (p place) at(n *node) place { return place{n, p.in} }

// walk returns the part at the path, or the last one on the way to it that exists.
func (p place) walk(path []service.Step) place {
	for _, step := range path {
		next := p.node.member(step.Name)
		if next != nil && step.Index >= 0 {
			next = p.in.entry(next, step.Index)
		}
		if next == nil {
			return p
		}
		p.node = next
	}
	return p
}

// index finds the parts of long lists without a search for each.
type index struct {
	entries map[*node][]*node
	scalars map[string]*node // by their text, the first of each
	below   *node            // the node with the scalars
}

// entry returns the entry of a list, not counting empty ones, or nil.
func (x *index) entry(list *node, i int) *node {
	entries, known := x.entries[list]
	if !known {
		entries = slices.DeleteFunc(slices.Clone(list.items), func(item *node) bool { return item.kind == null })
		x.entries[list] = entries
	}
	if i < len(entries) {
		return entries[i]
	}
	return nil
}

// scalar returns the first value below the node that is written as the text, or nil.
func (x *index) scalar(below *node, text string) *node {
	if x.below != below {
		x.below, x.scalars = below, map[string]*node{}
		x.addScalars(below)
	}
	return x.scalars[text]
}

func (x *index) addScalars(n *node) {
	if n.kind != list && n.kind != object && x.scalars[n.raw] == nil {
		x.scalars[n.raw] = n
	}
	for _, item := range n.items {
		x.addScalars(item)
	}
	for _, m := range n.members {
		x.addScalars(m.value)
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
	if value := p.node.member(name); value != nil {
		return p.at(value)
	}
	return p
}

// scalar returns the value below p that has the text, or p itself.
func (p place) scalar(text string) place {
	if text == "" {
		return p
	}
	if found := p.in.scalar(p.node, text); found != nil {
		return p.at(found)
	}
	return p
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

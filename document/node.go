package document

import "slices"

// node is a YAML or JSON value.
type node struct {
	kind     kind
	plain    bool   // a YAML scalar without quotes or tag
	text     string // the value of a string, the JSON literal of a number ("" if it has none), or "true" or "false"
	raw      string // a scalar as written
	items    []*node
	later    func(use func(item *node) error) error // reads the items of a long list, instead of items
	members  []member
	byName   map[string]int // the indexes of members; nil while there are few, see index
	repeated []member       // that later ones of the same name replace; set only with places
	line     int            // 0 if unknown
	column   int            // 0 if unknown
}

type kind uint8

const (
	null kind = iota
	boolean
	number
	text
	list
	object
)

var kindNames = [...]string{null: "null", boolean: "a boolean", number: "a number", text: "a string", list: "a list", object: "an object"}

func (k kind) String() string { return kindNames[k] }

// member is a named value of an object.
type member struct {
	name         string
	value        *node
	line, column int32 // of the name; 0 if unknown
}

// manyMembers is the number of members from which a map is faster than a linear search.
const manyMembers = 16

// index returns the index of the member with the name, or -1.
func (n *node) index(name string) int {
	if len(n.members) < manyMembers {
		return slices.IndexFunc(n.members, func(m member) bool { return m.name == name })
	}
	if n.byName == nil {
		n.byName = make(map[string]int, 2*manyMembers)
		for i, m := range n.members {
			n.byName[m.name] = i
		}
	}
	if i, found := n.byName[name]; found {
		return i
	}
	return -1
}

// member returns the value of the member with the name, or nil if there is none.
func (n *node) member(name string) *node {
	if i := n.index(name); i >= 0 {
		return n.members[i].value
	}
	return nil
}

// set adds or replaces a member. Of several members with the same name the last one wins, as
// is usual for JSON. It returns the replaced member, if there is one.
func (n *node) set(m member) (replaced member, ok bool) {
	if i := n.index(m.name); i >= 0 {
		replaced, n.members[i] = n.members[i], m
		return replaced, true
	}
	n.members = append(n.members, m)
	if n.byName != nil {
		n.byName[m.name] = len(n.members) - 1
	}
	return member{}, false
}

// each calls use for each item of a list until it returns an error.
func (n *node) each(use func(item *node) error) error {
	if n.later != nil {
		return n.later(use)
	}
	for _, item := range n.items {
		if err := use(item); err != nil {
			return err
		}
	}
	return nil
}

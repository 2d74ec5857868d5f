package document

// node is a YAML or JSON value.
type node struct {
	kind     kind
	text     string // the value of a string, the JSON literal of a number ("" if it has none), or "true" or "false"
	raw      string // a scalar as written
	plain    bool   // a YAML scalar without quotes or tag
	items    []*node
	members  []member
	repeated []member // that later ones of the same name replace; set only with places
	line     int      // 0 if unknown
	column   int      // 0 if unknown
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

// member returns the value of the member with the name, or nil if there is none.
func (n *node) member(name string) *node {
	for _, m := range n.members {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// add appends a member.
func (n *node) add(name string, value *node) {
	n.members = append(n.members, member{name: name, value: value})
}

package change

import "fmt"

// place is where in an object something is: as a path, such as
// rules[2].distributions[0].rollout, and in words, such as "rule 3: distribution 1: rollout".
type place struct {
	path  string
	words string // of fields: without the object that they belong to
}

// Whole is the path of an object itself.
const Whole = "."

// field returns the place of a member with the name.
func (p place) field(json, words string) place {
	return place{p.under(json), p.words + words}
}

// index returns the place of an item of a list.
func (p place) index(list, word string, i int) place {
	return place{fmt.Sprintf("%s[%d]", p.under(list), i), fmt.Sprintf("%s%s %d", p.words, word, i+1)}
}

// key returns the place of a member of a map, or of an item that is known by a key.
func (p place) key(list, word, key string) place {
	return place{p.under(list) + "[" + string(encode(key)) + "]", p.words + word + " " + quote(key)}
}

// inside returns the place to start from for the members of what is here.
func (p place) inside() place {
	return place{p.path, p.words + ": "}
}

func (p place) under(name string) string {
	if p.path == "" {
		return name
	}
	return p.path + "." + name
}

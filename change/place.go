package change

import (
	"fmt"
	"slices"
	"strings"
)

// place is where in an object something is: as a path, such as
// rules[2].distributions[0].rollout, and in words, such as "rule 3: share of "blue"".
type place struct {
	path  string
	words []string // the names of the parts, the outermost first; none for the object itself
}

// named returns the words of a part with the name, which is empty if words leave it out.
func (p place) named(name string) []string {
	if name == "" {
		return p.words
	}
	return append(slices.Clip(p.words), name)
}

// Whole is the path of an object itself.
const Whole = "."

// field returns the place of a member with the name.
func (p place) field(json, noun string) place {
	return place{p.under(json), p.named(noun)}
}

// index returns the place of an item of a list.
func (p place) index(list, noun string, i int) place {
	return place{fmt.Sprintf("%s[%d]", p.under(list), i), p.named(fmt.Sprint(noun, " ", i+1))}
}

// key returns the place of a member of a map, or of an item that is known by a key.
func (p place) key(list, noun, key string) place {
	return place{p.under(list) + "[" + string(Encode(key)) + "]", p.named(noun + " " + quote(key))}
}

func (p place) under(name string) string {
	if p.path == "" {
		return name
	}
	return p.path + "." + name
}

// Wording is a difference in words.
type Wording struct {
	// Parts name the part that differs, after those that contain it, such as "rule 2" and
	// "segments". There are none for the object itself.
	Parts         []string
	Before, After string // the values; both are "" if they are not shown
	What          string // what happened instead, such as "added (50%: on)" or "moved to 2"
}

// String returns the words as one text, such as "rule 2: share 10% → 50%".
func (w Wording) String() string {
	text := w.What
	if w.Before != "" || w.After != "" {
		text = w.Before + " → " + w.After
	}
	if len(w.Parts) == 0 {
		return text
	}
	return joined(w.Parts) + " " + text
}

// joined returns the names of a part and of those that contain it as one.
func joined(parts []string) string { return strings.Join(parts, ": ") }

package change

import (
	"fmt"

	"github.com/guidonhq/guidon/analysis"
)

// place is where in an object something is: as a path, such as
// rules[2].distributions[0].rollout, and in words, such as "rule 3: distribution 1: rollout".
type place struct {
	path  string
	words *phrase // nil for the object itself
}

// phrase is the name of a part of an object, which follows the name of the part that contains
// it.
type phrase struct {
	outer *phrase
	noun  term // empty in a vocabulary that leaves the part out
	which term // of several, such as " 3"; it follows the noun
}

// term is a text in each vocabulary.
type term struct{ api, page string }

// in returns the term in the words of the vocabulary.
func (t term) in(v analysis.Vocabulary) string { return v.Pick(t.api, t.page) }

// word returns the term that is the same in every vocabulary.
func word(text string) term { return term{text, text} }

// parts returns the names of the part and of those that contain it, the outermost first.
func (p *phrase) parts(v analysis.Vocabulary) []string {
	if p == nil {
		return nil
	}
	outer := p.outer.parts(v)
	if noun := p.noun.in(v); noun != "" {
		return append(outer, noun+p.which.in(v))
	}
	return outer
}

// plural returns the term for several.
func (t term) plural() term { return term{t.api + "s", t.page + "s"} }

// Whole is the path of an object itself.
const Whole = "."

// field returns the place of a member with the name.
func (p place) field(json string, noun term) place {
	return place{p.under(json), &phrase{outer: p.words, noun: noun}}
}

// index returns the place of an item of a list.
func (p place) index(list string, noun term, i int) place {
	return place{fmt.Sprintf("%s[%d]", p.under(list), i), &phrase{p.words, noun, numbered(i)}}
}

// numbered returns the number of the item at the index, as it follows the noun.
func numbered(i int) term { return word(fmt.Sprint(" ", i+1)) }

// key returns the place of a member of a map, or of an item that is known by a key.
func (p place) key(list string, noun term, key string) place {
	return place{p.under(list) + "[" + string(encode(key)) + "]", &phrase{p.words, noun, word(" " + quote(key))}}
}

func (p place) under(name string) string {
	if p.path == "" {
		return name
	}
	return p.path + "." + name
}

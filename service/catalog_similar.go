package service

import (
	"cmp"
	"strings"
	"unicode"

	"github.com/guidonhq/guidon"
)

// Limits of suggestions.
const (
	maxSuggestions = 3
	maxMisspelt    = 40 // bytes of the words of a query, and of what they are compared with
)

// similar returns the flags whose keys or names, or words of these, are nearly the words of
// a query, the nearest first.
func (c *catalog) similar(words []sought) []*guidon.Flag {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.lower
	}
	// Between the words of a key there are hyphens.
	want := strings.Map(wordRune, strings.Join(texts, " "))
	if len(want) < 3 || len(want) > maxMisspelt {
		return nil
	}
	type near struct {
		flag     *guidon.Flag
		distance int
	}
	best := newTop(maxSuggestions, func(a, b near) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), strings.Compare(a.flag.Key, b.flag.Key))
	})
	d := distances{want: want, most: 1 + len(want)/4}
	for i := range c.rows {
		f := c.rows[i].flag
		if n := min(d.ofText(f.Key), d.ofText(f.Name)); n <= d.most {
			best.add(near{f, n})
		}
	}
	flags := make([]*guidon.Flag, len(best.items))
	for i, n := range best.items {
		flags[i] = n.flag
	}
	return flags
}

// wordRune returns the character in lower case, or a space if it stands between words.
func wordRune(r rune) rune {
	if unicode.IsLetter(r) || unicode.IsDigit(r) {
		return unicode.ToLower(r)
	}
	return ' '
}

// distances computes how many letters have to be inserted, deleted or replaced to make a
// text from another one.
type distances struct {
	want string
	most int // a larger distance need not be exact
	row  [maxMisspelt + 1]int
}

// ofText returns the distance of the text, or of one of its words if that is less.
func (d *distances) ofText(text string) int {
	if len(text) > 8*maxMisspelt {
		return d.most + 1
	}
	text = strings.Map(wordRune, text)
	least := d.of(text)
	for rest := text; rest != "" && least > 0; {
		var word string
		word, rest, _ = strings.Cut(rest, " ")
		if n := d.of(word) + 1; n < least { // a whole text is nearer than one word of it
			least = n
		}
	}
	return least
}

func (d *distances) of(text string) int {
	if difference := len(text) - len(d.want); difference > d.most || -difference > d.most {
		return d.most + 1
	}
	row := d.row[:len(d.want)+1]
	for i := range row {
		row[i] = i
	}
	for i := range len(text) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(d.want) {
			replaced := diagonal
			if text[i] != d.want[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(d.want)]
}

package service

import (
	"cmp"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/lists"
)

// Limits of suggestions.
const (
	maxSuggestions = 3
	minMisspelt    = 3  // bytes of the words of a query
	maxMisspelt    = 40 // also in bytes
)

// similar returns the flags whose keys or names, or words of these, are nearly the words of
// a query, the nearest first.
func (c *catalog) similar(words []searchText) []*guidon.Flag {
	var want []byte
	for i, w := range words {
		if i > 0 {
			want = append(want, ' ')
		}
		want = append(want, w.lower...)
	}
	if len(want) < minMisspelt || len(want) > maxMisspelt {
		return nil
	}
	for i, b := range want {
		want[i] = spaced(b)
	}
	type near struct {
		flag     *guidon.Flag
		distance int
	}
	best := newTop(maxSuggestions, func(a, b near) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), strings.Compare(a.flag.Key, b.flag.Key))
	})
	d := distances{want: want, most: 1 + len(want)/4}
	for row := range c.byKey.All() {
		f := row.flag
		if n := min(d.ofText(f.Key), d.ofText(f.Name)); n <= d.most {
			best.add(near{f, n})
		}
	}
	return lists.Map(best.items, func(n near) *guidon.Flag { return n.flag })
}

// spaced returns an ASCII letter in lower case, and a space for signs between words.
func spaced(b byte) byte {
	b = lowerByte(b)
	if 'a' <= b && b <= 'z' || '0' <= b && b <= '9' || b >= 0x80 {
		return b
	}
	return ' '
}

// distances computes how many bytes must be inserted, deleted or replaced to make a text
// from another one.
type distances struct {
	want []byte
	most int // a larger distance need not be exact
	row  [maxMisspelt + 1]int
}

// ofText returns the distance of the text, or that of one of its words and 1 if that is
// less.
func (d *distances) ofText(text string) int {
	least := d.of(text)
	for begin, end := 0, 0; end <= len(text); end++ {
		if end == len(text) || spaced(text[end]) == ' ' {
			if end-begin < len(text) {
				least = min(least, d.of(text[begin:end])+1)
			}
			begin = end + 1
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
		b, diagonal := spaced(text[i]), row[0]
		row[0] = i + 1
		for j, want := range d.want {
			replaced := diagonal
			if b != want {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(d.want)]
}

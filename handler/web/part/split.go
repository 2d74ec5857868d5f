package part

import (
	"strconv"
	"strings"
)

// Share is a part of a bar.
type Share struct {
	Name    string
	Color   string  // as of [Tail], or "c-none" for the share without a result
	Percent float64 // of the whole
	Text    string  // the percentage in words
	Soft    bool    // paler, for what is new
}

// placed is a share with its place in the bar.
type placed struct {
	Share
	x float64
}

func place(shares []Share) []placed {
	all, x := make([]placed, 0, len(shares)), 0.0
	for _, s := range shares {
		if s.Percent > 0 && s.Color != "c-none" {
			all = append(all, placed{s, x})
		}
		x += s.Percent
	}
	return all
}

func percent(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) + "%" }

// sentence returns the shares in words.
func sentence(shares []Share) string {
	parts := make([]string, len(shares))
	for i, s := range shares {
		parts[i] = s.Name + " " + s.Text
	}
	return strings.Join(parts, ", ")
}

package service

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxSummaryText limits the texts in summaries, in bytes.
const maxSummaryText = 240

// searchText is a text to look for, whatever its case. Looking for it allocates nothing.
type searchText struct {
	lower string
	ascii bool // all of it
	// rare is the index of the byte to look for first: an ASCII character, and one that few
	// texts have. It is -1 if there is no ASCII character.
	rare int
}

// frequent has ASCII letters, the most frequent first.
const frequent = "etaoinsrhlcdpumgfbywvkxjqz"

func newSearchText(text string) searchText {
	s := searchText{lower: strings.ToLower(text), ascii: true, rare: -1}
	best := -1
	for i := range len(s.lower) {
		c := s.lower[i]
		if c >= utf8.RuneSelf {
			s.ascii = false
			continue
		}
		rarity := strings.IndexByte(frequent, c)
		if rarity < 0 {
			rarity = len(frequent) / 2 // a digit or a sign
		}
		if rarity > best {
			best, s.rare = rarity, i
		}
	}
	return s
}

// in returns the index of the first occurrence in the text, from the offset on, or -1.
func (s *searchText) in(text string, from int) int { return find(s, text, from, strings.IndexByte) }

// occursIn reports whether the text contains s.
func (s *searchText) occursIn(text string) bool { return s.in(text, 0) >= 0 }

// occursInBytes is occursIn for bytes.
func (s *searchText) occursInBytes(text []byte) bool { return find(s, text, 0, bytes.IndexByte) >= 0 }

func find[T string | []byte](s *searchText, text T, from int, indexByte func(text T, c byte) int) int {
	switch {
	case s.lower == "":
		return from
	case s.ascii:
		return findASCII(s, text, from, indexByte)
	}
	if s.rare >= 0 { // most texts do not even have that character
		c := s.lower[s.rare]
		if indexByte(text, c) < 0 && indexByte(text, upperByte(c)) < 0 {
			return -1
		}
	}
	first := s.lower[0]
	for i := from; i < len(text); i++ {
		if c := text[i]; c < utf8.RuneSelf && lowerByte(c) != first || c >= utf8.RuneSelf && first < utf8.RuneSelf {
			continue
		}
		if utf8.RuneStart(text[i]) && beginsAt(s, text, i) {
			return i
		}
	}
	return -1
}

// findASCII looks at the places that have the rare byte, in one case or the other.
func findASCII[T string | []byte](s *searchText, text T, from int, indexByte func(text T, c byte) int) int {
	last := len(text) - len(s.lower) + s.rare // the last place where it can be
	next := func(c byte, from int) int {
		if from <= last {
			if i := indexByte(text[from:last+1], c); i >= 0 {
				return from + i
			}
		}
		return last + 1
	}
	low := s.lower[s.rare]
	up := upperByte(low)
	lowAt, upAt := next(low, from+s.rare), last+1
	if up != low {
		upAt = next(up, from+s.rare)
	}
	for {
		at := min(lowAt, upAt)
		switch {
		case at > last:
			return -1
		case equalFold(s, text, at-s.rare):
			return at - s.rare
		case at == lowAt:
			lowAt = next(low, at+1)
		default:
			upAt = next(up, at+1)
		}
	}
}

// equalFold reports whether s occurs in the text at the offset. The rest of the text must
// be long enough.
func equalFold[T string | []byte](s *searchText, text T, at int) bool {
	for i := range len(s.lower) {
		if lowerByte(text[at+i]) != s.lower[i] {
			return false
		}
	}
	return true
}

// beginsAt is equalFold for any text.
func beginsAt[T string | []byte](s *searchText, text T, at int) bool {
	for _, want := range s.lower {
		if at >= len(text) {
			return false
		}
		r, size := utf8.DecodeRuneInString(string(text[at:min(at+utf8.UTFMax, len(text))]))
		if unicode.ToLower(r) != want {
			return false
		}
		at += size
	}
	return true
}

func lowerByte(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func upperByte(c byte) byte {
	if 'a' <= c && c <= 'z' {
		return c + 'A' - 'a'
	}
	return c
}

package service

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxSummaryText limits the texts in summaries, in bytes.
const maxSummaryText = 240

// sought is a text to look for, whatever its case.
type sought struct {
	lower string
	ascii bool
}

func newSought(text string) sought {
	s := sought{lower: strings.ToLower(text), ascii: true}
	for i := range len(s.lower) {
		s.ascii = s.ascii && s.lower[i] < utf8.RuneSelf
	}
	return s
}

// occursIn reports whether the text contains what is sought. It allocates nothing.
func occursIn[T ~string | ~[]byte](s sought, text T) bool { return indexAfter(s, text, 0) >= 0 }

// indexAfter returns where in the text what is sought begins, from the offset on, or -1.
func indexAfter[T ~string | ~[]byte](s sought, text T, from int) int {
	if s.lower == "" {
		return from
	}
	for i := from; i+len(s.lower) <= len(text) || !s.ascii && i < len(text); i++ {
		if c := text[i]; c < utf8.RuneSelf && lowerByte(c) != s.lower[0] || c >= utf8.RuneSelf && s.ascii {
			continue
		}
		if beginsAt(s, text, i) {
			return i
		}
	}
	return -1
}

// beginsAt reports whether what is sought is in the text at the offset.
func beginsAt[T ~string | ~[]byte](s sought, text T, at int) bool {
	if s.ascii {
		if len(s.lower) > len(text)-at {
			return false
		}
		for i := range len(s.lower) {
			if lowerByte(text[at+i]) != s.lower[i] {
				return false
			}
		}
		return true
	}
	if !utf8.RuneStart(text[at]) {
		return false
	}
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

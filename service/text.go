package service

import "unicode"

// FoldCase returns the text with its ASCII letters in lower case, for names whose case does
// not matter. It leaves other letters as they are: some that have the same lower case,
// such as the Kelvin sign, may belong to the name of another account.
func FoldCase(text string) string {
	folded := []byte(text)
	for i, c := range folded {
		folded[i] = lowerByte(c)
	}
	return string(folded)
}

// IsClean reports whether the text is free of characters that hide its content: control
// characters, line separators, those that change the direction of writing, and the
// replacement for characters that could not be decoded, by which different texts are
// equal.
func IsClean(text string) bool {
	for _, r := range text {
		if unicode.IsControl(r) || r == unicode.ReplacementChar || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control) {
			return false
		}
	}
	return true
}

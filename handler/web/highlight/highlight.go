// Package highlight colours code on pages. It knows what most languages have in common:
// words, strings, comments and calls. The classes of tokens are those of the stylesheet.
package highlight

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Token is a piece of code of one colour. Class is empty for code without one.
type Token struct{ Class, Text string }

// The classes.
const (
	Keyword = "k"
	String  = "s"
	Call    = "f"
	Comment = "c"
	Number  = "n"
)

// Language is how a language is read.
type Language struct {
	Keywords string // with spaces between them
	Comment  string // what begins a comment, up to the end of the line
	Quotes   string // what begins and ends a string
	Literals string // words like true
	Keys     bool   // a string before a colon is a key
}

// Languages.
var (
	JSON   = Language{Quotes: `"`, Literals: "true false null", Keys: true}
	Go     = Language{Keywords: "import package func return if nil map string any var", Comment: "//", Quotes: "\"`", Literals: "true false"}
	Script = Language{
		Keywords: "import from const let await async new function return", Comment: "//", Quotes: "\"'`",
		Literals: "true false null undefined",
	}
	Java   = Language{Keywords: "import new var final static String boolean return", Comment: "//", Quotes: `"`, Literals: "true false null"}
	Python = Language{Keywords: "import from def return with as", Comment: "#", Quotes: `"'`, Literals: "True False None"}
	Shell  = Language{Keywords: "curl guidon export", Comment: "#", Quotes: `"'`}
)

// Tokens returns the text in pieces. Together they are the text.
func (l Language) Tokens(text string) []Token {
	r := reader{language: l, rest: text}
	for r.rest != "" {
		r.next()
	}
	return r.tokens
}

type reader struct {
	language Language
	rest     string
	tokens   []Token
}

// take moves n bytes of the rest into a token of the class.
func (r *reader) take(n int, class string) {
	if last := len(r.tokens) - 1; last >= 0 && r.tokens[last].Class == class && class == "" {
		r.tokens[last].Text += r.rest[:n]
	} else {
		r.tokens = append(r.tokens, Token{class, r.rest[:n]})
	}
	r.rest = r.rest[n:]
}

func (r *reader) next() {
	first, size := utf8.DecodeRuneInString(r.rest)
	switch {
	case r.language.Comment != "" && strings.HasPrefix(r.rest, r.language.Comment):
		n := strings.IndexByte(r.rest, '\n')
		if n < 0 {
			n = len(r.rest)
		}
		r.take(n, Comment)
	case strings.ContainsRune(r.language.Quotes, first):
		r.quoted(first)
	case isWord(first):
		r.word(unicode.IsDigit(first))
	default:
		r.take(size, "")
	}
}

// quoted takes a string, up to its end or that of the text.
func (r *reader) quoted(quote rune) {
	n := len(r.rest)
	for i := 1; i < len(r.rest); i++ {
		if r.rest[i] == '\\' && quote != '`' {
			i++
			continue
		}
		if r.rest[i] == byte(quote) { // #nosec G115 -- quotes are ASCII
			n = i + 1
			break
		}
	}
	class := String
	if r.language.Keys && strings.HasPrefix(strings.TrimLeft(r.rest[n:], " \t\n"), ":") {
		class = Keyword
	}
	r.take(n, class)
}

func (r *reader) word(number bool) {
	n := strings.IndexFunc(r.rest, func(c rune) bool { return !isWord(c) && (!number || c != '.') })
	if n < 0 {
		n = len(r.rest)
	}
	word := r.rest[:n]
	switch {
	case number:
		r.take(n, Number)
	case has(r.language.Keywords, word):
		r.take(n, Keyword)
	case has(r.language.Literals, word):
		r.take(n, Call)
	case strings.HasPrefix(r.rest[n:], "("):
		r.take(n, Call)
	default:
		r.take(n, "")
	}
}

func has(words, word string) bool {
	for w := range strings.FieldsSeq(words) {
		if w == word {
			return true
		}
	}
	return false
}

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

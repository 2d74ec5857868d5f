// Package jsontext reads and appends the texts of JSON: strings, numbers and times.
package jsontext

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// escapes maps a byte after a backslash to the character it stands for, except for u.
var escapes = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// Unescape replaces the escapes in the inside of a JSON string. Half a surrogate pair
// becomes U+FFFD, as in encoding/json.
func Unescape(raw []byte) ([]byte, error) {
	out := make([]byte, 0, len(raw))
	for {
		at := bytes.IndexByte(raw, '\\')
		if at < 0 {
			return append(out, raw...), nil
		}
		out = append(out, raw[:at]...)
		raw = raw[at:]
		if len(raw) > 1 && escapes[raw[1]] != 0 {
			out = append(out, escapes[raw[1]])
			raw = raw[2:]
			continue
		}
		r, n, ok := unescapeRune(raw)
		if !ok {
			return nil, ErrSyntax
		}
		out = utf8.AppendRune(out, r)
		raw = raw[n:]
	}
}

// unescapeRune reads one \uXXXX, or the two of a surrogate pair, and returns the rune and
// the length of its escapes.
func unescapeRune(raw []byte) (r rune, n int, ok bool) {
	const length = len(`\u0000`)
	if r, ok = hexRune(raw); !ok || !utf16.IsSurrogate(r) {
		return r, length, ok
	}
	if second, ok := hexRune(raw[length:]); ok {
		if pair := utf16.DecodeRune(r, second); pair != utf8.RuneError {
			return pair, 2 * length, true
		}
	}
	return utf8.RuneError, length, true
}

func hexRune(raw []byte) (rune, bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range raw[2:6] {
		switch {
		case IsDigit(c):
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// AppendString appends s as a JSON string. Bytes that are not valid UTF-8 become U+FFFD;
// <, > and & are not escaped (contract 1.3).
func AppendString(b []byte, s string) []byte {
	return append(AppendEscaped(append(b, '"'), s), '"')
}

// AppendEscaped appends s with escapes, without the quotes.
func AppendEscaped(b []byte, s string) []byte {
	start := 0 // of the part not copied yet
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c < ' ' || c == '"' || c == '\\' {
				b = appendEscape(append(b, s[start:i]...), c)
				start = i + 1
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			b = utf8.AppendRune(append(b, s[start:i]...), utf8.RuneError)
			start = i + 1
		}
		i += n
	}
	return append(b, s[start:]...)
}

// SizeOfString returns the number of bytes that AppendString appends.
func SizeOfString(s string) int {
	n := len(s) + len(`""`)
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			switch {
			case c >= ' ' && c != '"' && c != '\\':
			case c == '"' || c == '\\' || c == '\b' || c == '\f' || c == '\n' || c == '\r' || c == '\t':
				n++
			default:
				n += len(`\u0000`) - 1
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			n += utf8.RuneLen(utf8.RuneError) - 1
		}
		i += size
	}
	return n
}

func appendEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\b':
		return append(b, `\b`...)
	case '\f':
		return append(b, `\f`...)
	case '\n':
		return append(b, `\n`...)
	case '\r':
		return append(b, `\r`...)
	case '\t':
		return append(b, `\t`...)
	}
	if c < 0x10 {
		b = append(b, `\u000`...)
	} else {
		b = append(b, `\u00`...)
	}
	return strconv.AppendUint(b, uint64(c), 16)
}

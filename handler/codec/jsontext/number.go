package jsontext

import (
	"math"
	"strconv"
	"strings"
)

func IsDigit(c byte) bool { return '0' <= c && c <= '9' }

// NumberLength returns the length of the JSON number at the start of text, or 0 if there
// is none.
func NumberLength(text []byte) int {
	i := 0
	if i < len(text) && text[i] == '-' {
		i++
	}
	whole := digits(text[i:])
	if whole == 0 {
		return 0
	}
	if text[i] == '0' {
		whole = 1 // a further digit is not part of this number
	}
	i += whole
	if i < len(text) && text[i] == '.' {
		fraction := digits(text[i+1:])
		if fraction == 0 {
			return 0
		}
		i += 1 + fraction
	}
	if i < len(text) && (text[i] == 'e' || text[i] == 'E') {
		i++
		if i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		exponent := digits(text[i:])
		if exponent == 0 {
			return 0
		}
		i += exponent
	}
	return i
}

func digits(text []byte) int {
	n := 0
	for n < len(text) && IsDigit(text[n]) {
		n++
	}
	return n
}

// ParseInt parses a JSON number whose value is an integer, however it is written: 100,
// 1e2, 100.0.
func ParseInt(number []byte, bits int) (int64, error) {
	if n, err := strconv.ParseInt(string(number), 10, bits); err == nil {
		return n, nil
	}
	n, err := strconv.ParseInt(wholeNumber(string(number)), 10, bits)
	if err != nil {
		return 0, ErrValue
	}
	return n, nil
}

// wholeNumber rewrites a JSON number exactly, without point and exponent. It returns "" for
// numbers that are not integers, and for those with more than 20 trailing zeros, which fit no
// integer field.
func wholeNumber(number string) string {
	mantissa, exponent := number, 0
	if at := strings.IndexAny(number, "eE"); at >= 0 {
		var err error
		if exponent, err = strconv.Atoi(number[at+1:]); err != nil {
			return ""
		}
		mantissa = number[:at]
	}
	mantissa, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	significant := strings.TrimRight(whole+fraction, "0")
	zeros := len(whole) + exponent - len(significant) // if this overflows, it is out of bounds as well
	significant = strings.TrimLeft(significant, "0")
	switch {
	case significant == "":
		return "0"
	case zeros < 0 || zeros > 20:
		return ""
	}
	significant += strings.Repeat("0", zeros)
	if negative {
		significant = "-" + significant
	}
	return significant
}

// ParseFloat parses a JSON number. It rejects numbers too large for the bits; numbers
// too small become zero.
func ParseFloat(number []byte, bits int) (float64, error) {
	f, err := strconv.ParseFloat(string(number), bits)
	if err != nil {
		return 0, ErrValue
	}
	return f, nil
}

// AppendFloat appends the shortest decimal that parses as f. JSON has no infinities and
// no NaN: they become the strings that protobuf's JSON mapping defines.
func AppendFloat(b []byte, f float64, bits int) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, `"NaN"`...)
	case math.IsInf(f, 1):
		return append(b, `"Infinity"`...)
	case math.IsInf(f, -1):
		return append(b, `"-Infinity"`...)
	}
	format := byte('f')
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(b, f, format, -1, bits)
}

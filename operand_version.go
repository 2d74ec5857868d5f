package guidon

import (
	"cmp"
	"errors"
	"strings"
)

// Version is a version of Semantic Versioning 2.0, without build metadata.
type Version struct {
	numbers    [3]uint64
	prerelease string // dot-separated identifiers, or empty
}

var errNoVersion = errors.New("not a version of Semantic Versioning")

// maxVersionDigits limits the numbers of a version, so that 64 bits hold each.
const maxVersionDigits = 18

// ParseVersion parses a version of Semantic Versioning 2.0, such as 2.4.1-beta.1. It accepts a
// leading v, takes a missing minor or patch number for 0, and ignores build metadata. It
// allocates nothing.
func ParseVersion(text string) (v Version, err error) {
	text, build, hasBuild := strings.Cut(strings.TrimPrefix(text, "v"), "+")
	core, prerelease, hasPrerelease := strings.Cut(text, "-")
	if hasBuild && !validIdentifiers(build, false) || hasPrerelease && !validIdentifiers(prerelease, true) {
		return v, errNoVersion
	}
	v.prerelease = prerelease
	for i := range v.numbers {
		number, rest, more := strings.Cut(core, ".")
		if !isVersionNumber(number) || more && i == len(v.numbers)-1 {
			return Version{}, errNoVersion
		}
		for _, digit := range []byte(number) {
			v.numbers[i] = v.numbers[i]*10 + uint64(digit-'0')
		}
		if core = rest; !more {
			break
		}
	}
	return v, nil
}

// validIdentifiers reports whether the text consists of dot-separated identifiers. Numbers
// among them must be valid too, unless they are only build metadata.
func validIdentifiers(text string, numbers bool) bool {
	for more := true; more; {
		var identifier string
		identifier, text, more = strings.Cut(text, ".")
		switch {
		case identifier == "" || strings.ContainsFunc(identifier, notOfIdentifier):
			return false
		case numbers && isDigits(identifier) && !isVersionNumber(identifier):
			return false
		}
	}
	return true
}

func notOfIdentifier(r rune) bool {
	return r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}

// isDigits reports whether the text has nothing but digits, or is empty.
func isDigits(text string) bool { return strings.Trim(text, "0123456789") == "" }

// isVersionNumber reports whether the text is a number without leading zeros.
func isVersionNumber(text string) bool {
	return text != "" && len(text) <= maxVersionDigits && isDigits(text) && (text[0] != '0' || len(text) == 1)
}

// Compare returns -1, 0 or 1 by the precedence of the versions (Semantic Versioning 2.0,
// section 11).
func (v Version) Compare(w Version) int {
	for i := range v.numbers {
		if order := cmp.Compare(v.numbers[i], w.numbers[i]); order != 0 {
			return order
		}
	}
	if v.prerelease == "" || w.prerelease == "" {
		return cmp.Compare(len(w.prerelease), len(v.prerelease)) // one without a prerelease is later
	}
	return comparePrereleases(v.prerelease, w.prerelease)
}

func comparePrereleases(a, b string) int {
	for a != b {
		var x, y string
		x, a, _ = strings.Cut(a, ".")
		y, b, _ = strings.Cut(b, ".")
		if order := compareIdentifiers(x, y); order != 0 {
			return order
		}
	}
	return 0
}

// compareIdentifiers compares two identifiers. Numbers come first, in their order. An empty
// one, where the other prerelease has more, counts as the least number.
func compareIdentifiers(a, b string) int {
	switch aNumber, bNumber := isDigits(a), isDigits(b); {
	case aNumber && bNumber:
		return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) // there are no leading zeros
	case aNumber:
		return -1
	case bNumber:
		return 1
	}
	return strings.Compare(a, b)
}

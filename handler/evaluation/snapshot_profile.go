package evaluation

import (
	"slices"
	"strconv"
	"strings"
)

// profile is how much of a snapshot a client understands (contract 9.2).
type profile uint8

const (
	beforeEntities profile = iota // no type for constraints on the entity's id
	beforeDefaults                // no default variants
	complete                      // everything
	profiles       = iota
)

// The versions that introduced entity constraints and default variants.
var (
	withEntities = version{number: [3]uint64{1, 38, 0}}
	withDefaults = version{number: [3]uint64{1, 47, 0}}
)

// profileOf returns the profile of the version in the header. A version that is missing
// or malformed counts as 1.37.1.
func profileOf(header string) profile {
	v, ok := parseVersion(header)
	switch {
	case !ok || v.before(withEntities):
		return beforeEntities
	case v.before(withDefaults):
		return beforeDefaults
	}
	return complete
}

// version is a semantic version. All pre-releases of a version compare as equal.
type version struct {
	number     [3]uint64
	prerelease bool
}

func (v version) before(w version) bool {
	order := slices.Compare(v.number[:], w.number[:])
	return order < 0 || order == 0 && v.prerelease && !w.prerelease
}

// parseVersion parses a version of up to three parts, with or without a leading v.
func parseVersion(text string) (v version, ok bool) {
	text = strings.TrimPrefix(strings.TrimSpace(text), "v")
	text, build, hasBuild := strings.Cut(text, "+")
	text, prerelease, hasPrerelease := strings.Cut(text, "-")
	if hasBuild && build == "" || hasPrerelease && prerelease == "" {
		return version{}, false
	}
	parts := strings.SplitN(text, ".", len(v.number)+1)
	if len(parts) > len(v.number) {
		return version{}, false
	}
	for i, part := range parts {
		number, err := strconv.ParseUint(part, 10, 64)
		if err != nil {
			return version{}, false
		}
		v.number[i] = number
	}
	v.prerelease = hasPrerelease
	return v, true
}

package document

import (
	"slices"
	"strings"
)

// parseVersion returns the index of a supported format version. Those of Flipt are a
// semantic version that may begin with a v. The patch number may be missing, and for 1.0
// also the minor number. The patch number does not change the format.
func parseVersion(version string) (minor int, known bool) {
	if version == versions[withAdditions] {
		return withAdditions, true
	}
	parts := strings.Split(strings.TrimPrefix(version, "v"), ".")
	if len(parts) > 3 || len(parts) == 3 && !isVersionNumber(parts[2]) {
		return 0, false
	}
	if len(parts) == 1 {
		parts = append(parts, "0")
	}
	minor = slices.Index(versions[:withAdditions], parts[0]+"."+parts[1])
	return minor, minor >= 0
}

// isVersionNumber reports whether the string is a number without leading zeros.
func isVersionNumber(text string) bool {
	return text == "0" || text != "" && text[0] != '0' && strings.Trim(text, "0123456789") == ""
}

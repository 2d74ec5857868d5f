package call

import "strings"

// MatchesETag reports whether the header If-None-Match contains the ETag. Flipt v1
// clients return the ETag as they received it, without quotes (contract 9.3). The forms
// of RFC 9110 13.1.2 are accepted too and compared weakly, because a proxy may have
// rewritten the ETag. An empty ETag matches nothing.
func MatchesETag(header, etag string) bool {
	if header == "" || etag == "" {
		return false
	}
	for item := range strings.SplitSeq(header, ",") {
		item = strings.TrimSpace(item)
		if item == "*" || strings.Trim(strings.TrimPrefix(item, "W/"), `"`) == etag {
			return true
		}
	}
	return false
}

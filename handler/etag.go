package handler

import "strings"

// matchesETag tells whether the header If-None-Match names the ETag. Clients of
// Flipt v1 send back what they were given, without quotes (contract 9.3); the
// forms of RFC 9110 13.1.2, compared weakly, are understood as well, because
// what stands between may have made one of them of it. An answer without an ETag
// is matched by nothing.
func matchesETag(header, etag string) bool {
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

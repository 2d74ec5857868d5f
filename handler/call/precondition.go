package call

import (
	"strconv"
	"strings"

	"github.com/guidonhq/guidon"
)

// condition returns the revision number required by the header If-Match, or nil if it
// requires none. It ignores the header on reads, and "*" on writes: every write checks
// existence anyway.
func (o *Operation) condition(header string) (*int64, error) {
	header = strings.TrimSpace(header)
	if header == "" || o.effect == reads {
		return nil, nil
	}
	if o.effect != writes {
		return nil, guidon.Errorf(guidon.InvalidArgument, "invalid header If-Match: does not apply to %s", o.Method())
	}
	if header == "*" {
		return nil, nil
	}
	digits := header
	if quoted := len(header) > 2 && header[0] == '"' && header[len(header)-1] == '"'; quoted {
		digits = header[1 : len(header)-1]
	}
	revision, err := strconv.ParseUint(digits, 10, 63)
	if err != nil {
		return nil, guidon.Errorf(guidon.InvalidArgument, "invalid header If-Match: must be a revision")
	}
	number := int64(revision) // #nosec G115 -- 63 bits
	return &number, nil
}

package call

import (
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/guidonhq/guidon"
)

// condition returns the revision number required by the header If-Match, or nil if it
// requires none. It ignores the header on reads, and "*" on writes: every write checks
// existence anyway.
func (o *Operation) condition(header string) (*int64, error) {
	header = strings.TrimSpace(header)
	if header == "" || !o.Changes() {
		return nil, nil
	}
	if !o.Has(Writes) {
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

// MessageHeader is the header that says why a write is made.
const MessageHeader = "Guidon-Message"

// message returns the text of the header Guidon-Message: UTF-8, of which any byte may be
// percent-encoded (RFC 3986 2.1). It ignores the header where it does not apply.
func (o *Operation) message(header string) (string, error) {
	header = strings.TrimSpace(header)
	if header == "" || !o.TakesMessage() {
		return "", nil
	}
	text, err := url.PathUnescape(header)
	if err != nil || !utf8.ValidString(text) {
		return "", guidon.Errorf(guidon.InvalidArgument,
			"invalid header %s: must be percent-encoded UTF-8; write %%25 for a percent sign", MessageHeader)
	}
	return text, nil
}

// EncodeMessage returns the value of the header Guidon-Message for the text.
func EncodeMessage(text string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(text) {
		c := text[i]
		if c < ' ' || c > '~' || c == '%' || c == ' ' && (i == 0 || i == len(text)-1) {
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

// DryRunHeader is the header of a write that is checked and answered, and not stored.
const DryRunHeader = "Guidon-Dry-Run"

// dryRun returns whether the header asks for a dry run. It ignores the header of a read.
func (o *Operation) dryRun(header string) (bool, error) {
	switch {
	case header == "" || header == "false" || !o.Changes():
		return false, nil
	case header != "true":
		return false, guidon.Errorf(guidon.InvalidArgument, "invalid header %s: must be true or false", DryRunHeader)
	case !o.TakesMessage():
		return false, guidon.Errorf(guidon.InvalidArgument, "invalid header %s: %s has no dry run", DryRunHeader, o.Method())
	}
	return true, nil
}

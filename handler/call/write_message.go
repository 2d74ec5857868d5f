package call

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/guidonhq/guidon"
)

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

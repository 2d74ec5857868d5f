package page

import (
	"mime"
	"net/url"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/exchange"
)

// MaxForm limits the body of a form, in bytes. The largest is that of a flag with 100 steps
// and an attachment of 1 MB, which is up to three times as large when it is encoded.
const MaxForm = 4 << 20

// MaxSmallForm limits the body of a form without long texts, in bytes.
const MaxSmallForm = 16 << 10

// ReadForm returns the fields of the form that was sent, of at most limit bytes.
func ReadForm(x *exchange.Exchange, limit int64) (url.Values, error) {
	media, _, err := mime.ParseMediaType(exchange.First(x.Request.Header, "Content-Type"))
	if err != nil || media != "application/x-www-form-urlencoded" {
		return nil, guidon.Errorf(guidon.InvalidArgument, "invalid Content-Type: must be application/x-www-form-urlencoded")
	}
	body, err := x.ReadBody(x.Request.Context(), limit)
	if err != nil {
		return nil, err
	}
	fields, err := url.ParseQuery(string(body))
	x.ReleaseBody()
	if err != nil { // which quotes the body
		return nil, guidon.Errorf(guidon.InvalidArgument, "the form is malformed")
	}
	return fields, nil
}

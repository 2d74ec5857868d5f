package web

import (
	"mime"
	"net/url"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/exchange"
)

// maxForm limits the body of a form, in bytes.
const maxForm = 16 << 10

// readForm returns the fields of the form that was sent.
func readForm(x *exchange.Exchange) (url.Values, error) {
	media, _, err := mime.ParseMediaType(exchange.First(x.Request.Header, "Content-Type"))
	if err != nil || media != "application/x-www-form-urlencoded" {
		return nil, guidon.Errorf(guidon.InvalidArgument, "invalid Content-Type: must be application/x-www-form-urlencoded")
	}
	body, err := x.ReadBody(x.Request.Context(), maxForm)
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

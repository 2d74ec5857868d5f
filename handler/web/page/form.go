package page

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/url"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/exchange"
)

// MaxForm limits the body of a form, in bytes. The largest is that of a flag with 100 rules
// and an attachment of 1 MB, which is up to three times as large when encoded.
const MaxForm = 4 << 20

// MaxSmallForm limits the body of a form without long texts, in bytes.
const MaxSmallForm = 16 << 10

// maxParts limits the fields of a multipart form.
const maxParts = 2000

// The encodings of forms.
const (
	encodedForm   = "application/x-www-form-urlencoded"
	multipartForm = "multipart/form-data"
)

// ReadForm returns the fields of the form that was sent, of at most limit bytes. A file is a
// field like any other, with the content of the file as its value.
func ReadForm(x *exchange.Exchange, limit int64) (url.Values, error) {
	media, parameters, err := mime.ParseMediaType(exchange.First(x.Request.Header, "Content-Type"))
	if err != nil || media != encodedForm && media != multipartForm {
		return nil, guidon.Errorf(guidon.InvalidArgument, "invalid Content-Type: must be %s or %s", encodedForm, multipartForm)
	}
	body, err := x.ReadBody(x.Request.Context(), limit)
	if err != nil {
		return nil, err
	}
	var fields url.Values
	if media == multipartForm {
		fields, err = parseParts(body, parameters["boundary"])
	} else {
		fields, err = url.ParseQuery(string(body))
	}
	x.ReleaseBody()
	if err != nil { // which quotes the body
		return nil, guidon.Errorf(guidon.InvalidArgument, "the form is malformed")
	}
	return fields, nil
}

// errParts is the error for a multipart form with too many fields.
var errParts = errors.New("too many parts")

// parseParts returns the fields of a multipart form (RFC 7578), which it keeps in memory:
// the body that it is given already is.
func parseParts(body []byte, boundary string) (url.Values, error) {
	fields := make(url.Values)
	parts := multipart.NewReader(bytes.NewReader(body), boundary)
	for n := 0; ; n++ {
		part, err := parts.NextPart()
		if err == io.EOF {
			return fields, nil
		}
		if err == nil && n == maxParts {
			err = errParts
		}
		if err != nil {
			return nil, err
		}
		value, err := io.ReadAll(part)
		if err != nil {
			return nil, err
		}
		fields.Add(part.FormName(), string(value))
	}
}

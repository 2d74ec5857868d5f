package lambda

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/guidonhq/guidon/handler/codec/jsontext"
)

// maxPayload is the size of the largest response that Lambda accepts, in bytes.
const maxPayload = 6 << 20

// response is an [http.ResponseWriter] that buffers the response. It behaves like
// net/http: WriteHeader fixes the headers, the first status wins, the default is 200, and some
// responses have no body.
type response struct {
	front  *front
	method string
	header http.Header
	status int    // 0 until it is known
	out    []byte // the payload up to and including the headers, unclosed
	typed  bool   // the Content-Type must not be sniffed
	body   []byte
}

func newResponse(front *front, method string) *response {
	return &response{front: front, method: method, header: make(http.Header, 8)}
}

// Header implements [http.ResponseWriter].
func (w *response) Header() http.Header { return w.header }

// WriteHeader implements [http.ResponseWriter].
func (w *response) WriteHeader(status int) {
	if w.status != 0 || status < http.StatusOK { // informational responses cannot be sent
		return
	}
	w.status = status
	w.typed = isTyped(w.header)
	w.out = w.front.appendHead(make([]byte, 0, 1<<10), status, w.header)
}

// Write implements [http.ResponseWriter].
func (w *response) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if !hasBody(w.status) {
		return 0, http.ErrBodyNotAllowed
	}
	w.body = append(w.body, p...)
	return len(p), nil
}

// hasBody reports whether a response with this status can have a body.
func hasBody(status int) bool {
	return status != http.StatusNoContent && status != http.StatusNotModified
}

// isTyped reports whether the Content-Type must not be sniffed from the body.
func isTyped(header http.Header) bool {
	_, typed := header["Content-Type"]
	return typed || header.Get("Content-Encoding") != ""
}

// payload returns the complete response. If Lambda would reject it, payload returns an
// error response instead.
func (w *response) payload() []byte {
	w.WriteHeader(http.StatusOK)
	if !w.typed && len(w.body) > 0 {
		w.out = w.front.appendType(w.out, http.DetectContentType(w.body))
	}
	if w.method == http.MethodHead {
		w.body = nil
	}
	out := appendBody(append(w.out, '}'), w.body)
	if len(out) > maxPayload {
		return w.tooLarge()
	}
	return out
}

// bodyHeaders are the headers that describe the body.
var bodyHeaders = []string{
	"Cache-Control", "Content-Disposition", "Content-Encoding", "Content-Length", "Content-Type", "Etag", "Last-Modified",
}

// tooLarge returns the error response that replaces one that is too large for Lambda. It
// has the same headers, except those that describe the body. Without the CORS headers, web
// pages of other origins could not read it.
func (w *response) tooLarge() []byte {
	for _, name := range bodyHeaders {
		delete(w.header, name)
	}
	if len(w.out) > maxPayload/2 { // the headers are too large
		clear(w.header)
	}
	instead := &response{front: w.front, header: w.header}
	writePlain(instead, http.StatusRequestEntityTooLarge,
		"the response is larger than the 6 MiB limit of AWS Lambda; request less data at a time")
	return instead.payload()
}

// plain returns the payload of an error response.
func (f *front) plain(status int, message string) []byte {
	w := newResponse(f, "")
	writePlain(w, status, message)
	return w.payload()
}

// writePlain writes an error response in the form of the service.
func writePlain(w http.ResponseWriter, status int, message string) {
	code := map[int]int{ // gRPC codes
		http.StatusBadRequest: 3, http.StatusRequestEntityTooLarge: 8, http.StatusInternalServerError: 13,
	}[status]
	body := jsontext.AppendString([]byte(`{"code":`+strconv.Itoa(code)+`,"message":`), message)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, `,"details":[]}`...)) // it fails only if the client has stopped reading
}

// appendHead appends the response without its body. The object of the headers comes last
// and is not closed.
func (f *front) appendHead(b []byte, status int, header http.Header) []byte {
	b = strconv.AppendInt(append(b, `{"statusCode":`...), int64(status), 10)
	if f.description {
		b = jsontext.AppendString(append(b, `,"statusDescription":`...), strconv.Itoa(status)+" "+http.StatusText(status))
	}
	cookies := header["Set-Cookie"]
	if f.cookies && len(cookies) > 0 {
		b = appendList(append(b, `,"cookies":`...), cookies)
	}
	if f.lists {
		b = append(b, `,"multiValueHeaders":{`...)
	} else {
		b = append(b, `,"headers":{`...)
	}
	first := true
	for name, values := range header {
		if len(values) == 0 || name == "Set-Cookie" && !f.lists {
			continue
		}
		b = appendName(b, &first, name)
		if f.lists {
			b = appendList(b, values)
		} else {
			b = jsontext.AppendString(b, strings.Join(values, ", "))
		}
	}
	if !f.cookies && !f.lists {
		b = appendSpelledCookies(b, &first, cookies)
	}
	return b
}

func appendName(b []byte, first *bool, name string) []byte {
	if !*first {
		b = append(b, ',')
	}
	*first = false
	return append(jsontext.AppendString(b, name), ':')
}

func appendList(b []byte, values []string) []byte {
	b = append(b, '[')
	for i, value := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = jsontext.AppendString(b, value)
	}
	return append(b, ']')
}

// appendSpelledCookies appends a header for each cookie, each with a different spelling
// of the name. It is for responses in which a header has only one value, because cookies
// cannot be joined.
func appendSpelledCookies(b []byte, first *bool, cookies []string) []byte {
	for i, cookie := range cookies {
		b = jsontext.AppendString(appendName(b, first, spelling("set-cookie", i)), cookie)
	}
	return b
}

// spelling returns the nth spelling of the name. Each bit of n is the case of a letter.
func spelling(name string, n int) string {
	spelled := []byte(name)
	for i, c := range spelled {
		if 'a' <= c && c <= 'z' {
			if n&1 == 0 {
				spelled[i] = c - 'a' + 'A'
			}
			n >>= 1
		}
	}
	return string(spelled)
}

// appendType appends the Content-Type to the open headers.
func (f *front) appendType(b []byte, contentType string) []byte {
	first := b[len(b)-1] == '{'
	b = appendName(b, &first, "Content-Type")
	if f.lists {
		return appendList(b, []string{contentType})
	}
	return jsontext.AppendString(b, contentType)
}

// appendBody appends the body and closes the response. A body that is not valid UTF-8 is
// encoded as base64.
func appendBody(b, body []byte) []byte {
	if utf8.Valid(body) {
		b = slices.Grow(b, len(body)+len(body)/4+64)
		b = append(b, `,"isBase64Encoded":false,"body":`...)
		return append(jsontext.AppendString(b, string(body)), '}')
	}
	b = slices.Grow(b, base64.StdEncoding.EncodedLen(len(body))+64)
	b = append(b, `,"isBase64Encoded":true,"body":"`...)
	b = base64.StdEncoding.AppendEncode(b, body)
	return append(b, `"}`...)
}

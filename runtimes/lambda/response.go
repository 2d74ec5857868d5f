package lambda

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/guidonhq/guidon/handler/codec"
)

// maxPayload is the size from which Lambda refuses an answer, in bytes.
const maxPayload = 6 << 20

// response is an [http.ResponseWriter] that keeps the answer until it is whole. It
// heeds what net/http does, and the library's does not: headers count as of
// WriteHeader, the first status is the one, none is 200, and there are answers
// that have no body.
type response struct {
	front  *front
	method string
	header http.Header
	status int    // 0 until it is known
	out    []byte // the payload up to its headers
	typed  bool   // there is a Content-Type, or none is to be found out
	body   []byte
}

func newResponse(front *front, method string) *response {
	return &response{front: front, method: method, header: make(http.Header, 8)}
}

// Header implements [http.ResponseWriter].
func (w *response) Header() http.Header { return w.header }

// WriteHeader implements [http.ResponseWriter].
func (w *response) WriteHeader(status int) {
	if w.status != 0 || status < http.StatusOK { // nothing can be sent ahead of the answer
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

// hasBody tells whether an answer of this status can have a body.
func hasBody(status int) bool {
	return status != http.StatusNoContent && status != http.StatusNotModified
}

// isTyped tells whether the type of the body is not to be found out by its text.
func isTyped(header http.Header) bool {
	_, typed := header["Content-Type"]
	return typed || header.Get("Content-Encoding") != ""
}

// payload returns the whole answer, or another one in place of one that Lambda
// would refuse.
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

// bodyHeaders are about the body of an answer.
var bodyHeaders = []string{"Cache-Control", "Content-Disposition", "Content-Encoding", "Content-Length", "Content-Type", "Etag", "Last-Modified"}

// tooLarge returns the answer in place of one that Lambda would refuse. Its headers
// are the same, but for those about the body: pages of other origins may read it
// only with them.
func (w *response) tooLarge() []byte {
	for _, name := range bodyHeaders {
		delete(w.header, name)
	}
	if len(w.out) > maxPayload/2 { // the headers are to blame
		clear(w.header)
	}
	instead := &response{front: w.front, header: w.header}
	writePlain(instead, http.StatusRequestEntityTooLarge, "the answer is larger than the 6 MiB that AWS Lambda lets through; ask for less of it at a time")
	return instead.payload()
}

// plain returns the payload of a short answer of our own.
func (f *front) plain(status int, message string) []byte {
	w := newResponse(f, "")
	writePlain(w, status, message)
	return w.payload()
}

// writePlain answers with an error in the form of the service's own.
func writePlain(w http.ResponseWriter, status int, message string) {
	code := map[int]int{http.StatusBadRequest: 3, http.StatusRequestEntityTooLarge: 8, http.StatusInternalServerError: 13}[status] // of gRPC
	body := codec.AppendString([]byte(`{"code":`+strconv.Itoa(code)+`,"message":`), message)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, `,"details":[]}`...)) // whoever stopped to read it does not miss it
}

// appendHead appends the answer without its body. The object of the headers comes
// last and is left open.
func (f *front) appendHead(b []byte, status int, header http.Header) []byte {
	b = strconv.AppendInt(append(b, `{"statusCode":`...), int64(status), 10)
	if f.description {
		b = codec.AppendString(append(b, `,"statusDescription":`...), strconv.Itoa(status)+" "+http.StatusText(status))
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
			b = codec.AppendString(b, strings.Join(values, ", "))
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
	return append(codec.AppendString(b, name), ':')
}

func appendList(b []byte, values []string) []byte {
	b = append(b, '[')
	for i, value := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = codec.AppendString(b, value)
	}
	return append(b, ']')
}

// appendSpelledCookies appends a header for each cookie, where a header has one
// value and cookies cannot be joined: each under the name spelled differently.
func appendSpelledCookies(b []byte, first *bool, cookies []string) []byte {
	for i, cookie := range cookies {
		b = codec.AppendString(appendName(b, first, spelling("set-cookie", i)), cookie)
	}
	return b
}

// spelling returns the nth way to spell the name: each bit of n is the case of a
// letter.
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
	return codec.AppendString(b, contentType)
}

// appendBody appends the body and closes the answer. What is not text is base64.
func appendBody(b, body []byte) []byte {
	if utf8.Valid(body) {
		b = slices.Grow(b, len(body)+len(body)/4+64)
		b = append(b, `,"isBase64Encoded":false,"body":`...)
		return append(codec.AppendString(b, string(body)), '}')
	}
	b = slices.Grow(b, base64.StdEncoding.EncodedLen(len(body))+64)
	b = append(b, `,"isBase64Encoded":true,"body":"`...)
	b = base64.StdEncoding.AppendEncode(b, body)
	return append(b, `"}`...)
}

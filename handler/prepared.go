package handler

import (
	"bytes"
	"net/http"
	"strconv"
	"sync"
)

// preparedBody is a JSON body that is answered often, as it is and compressed. It
// is immutable.
type preparedBody struct {
	plain []byte
	gzip  func() []byte // made by the first who asks for it
	err   error         // why there is none
}

// prepareBody returns the body, or the error in its place.
func prepareBody(plain []byte, err error) *preparedBody {
	return &preparedBody{
		plain: plain, err: err,
		gzip: sync.OnceValue(func() []byte { return bytes.Clone(compress("gzip", plain)) }), // without room to spare
	}
}

// replyPrepared is reply for a body that need not be compressed again.
func (x *exchange) replyPrepared(body *preparedBody) {
	header := x.Header()
	header.Add("Vary", "Accept-Encoding")
	header.Set("Content-Type", contentJSON)
	content := body.plain
	if len(content) >= minCompressed {
		if encoding := acceptedEncoding(x.request.Header["Accept-Encoding"]); encoding != "" {
			header.Set("Content-Encoding", encoding)
			content = body.in(encoding)
		}
	}
	header.Set("Content-Length", strconv.Itoa(len(content)))
	x.WriteHeader(http.StatusOK)
	_, _ = x.Write(content) // a client that went away is nobody's error
}

// in returns the body in the encoding. Hardly any client asks for deflate alone,
// so that is not kept.
func (b *preparedBody) in(encoding string) []byte {
	if encoding == "gzip" {
		return b.gzip()
	}
	return compress(encoding, b.plain)
}

package handler

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

const contentJSON = "application/json"

// minCompressed is the smallest body that is worth compressing, in bytes.
const minCompressed = 1 << 10

// maxCounted is the size up to which net/http has the whole body in its buffer. It then
// sets Content-Length at less cost than we could.
const maxCounted = 2 << 10

// reply writes a complete response.
func (x *exchange) reply(status int, contentType string, body []byte) {
	header := x.Header()
	x.set(header, "Content-Type", contentType)
	if len(body) >= minCompressed {
		header.Add("Vary", "Accept-Encoding")
		if encoding := acceptedEncoding(x.request.Header["Accept-Encoding"]); encoding != "" {
			header.Set("Content-Encoding", encoding)
			body = compress(encoding, body)
		}
	}
	if len(body) > maxCounted {
		x.set(header, "Content-Length", strconv.Itoa(len(body)))
	}
	x.WriteHeader(status)
	x.writeBody(body)
}

// replyRaw writes a body that the operation encoded itself.
func (x *exchange) replyRaw(contentType string, body []byte) {
	if x.pretty() && contentType == contentJSON {
		var indented bytes.Buffer
		if json.Indent(&indented, body, "", "  ") == nil {
			body = indented.Bytes()
		}
	}
	x.reply(http.StatusOK, contentType, body)
}

// pretty reports whether the client requests an indented response (contract 1.3).
func (x *exchange) pretty() bool {
	if first(x.request.Header, "Accept") == "application/json+pretty" {
		return true
	}
	return strings.Contains(x.request.URL.RawQuery, "pretty") && x.request.URL.Query().Has("pretty")
}

// acceptedEncoding returns the encoding of the response: gzip, deflate if only that is
// accepted, or "" for none. "*" matches the encodings that are not named (RFC 9110
// 12.5.3). It returns "" even if the client rejects identity and accepts nothing else.
func acceptedEncoding(accept []string) string {
	var gzip, deflate, others acceptance
	for _, line := range accept {
		for item := range strings.SplitSeq(line, ",") {
			name, parameters, _ := strings.Cut(item, ";")
			accepted := !hasZeroWeight(parameters)
			switch strings.ToLower(strings.TrimSpace(name)) {
			case "gzip":
				gzip.record(accepted)
			case "deflate":
				deflate.record(accepted)
			case "*":
				others.record(accepted)
			}
		}
	}
	switch {
	case gzip.yes || !gzip.named && others.yes:
		return "gzip"
	case deflate.yes || !deflate.named && others.yes:
		return "deflate"
	}
	return ""
}

// acceptance is whether an encoding was named by a client, and accepted.
type acceptance struct{ named, yes bool }

func (a *acceptance) record(accepted bool) { a.named, a.yes = true, a.yes || accepted }

// hasZeroWeight reports whether the parameters of an encoding give it the weight zero.
// An invalid weight counts as zero.
func hasZeroWeight(parameters string) bool {
	weight, ok := strings.CutPrefix(strings.ToLower(strings.TrimSpace(parameters)), "q=")
	if !ok {
		return false
	}
	q, err := strconv.ParseFloat(weight, 64)
	return err != nil || q <= 0
}

// compressor is implemented by the writers of compress/gzip and compress/zlib.
type compressor interface {
	io.WriteCloser
	Reset(io.Writer)
}

var (
	gzipWriters    = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}
	deflateWriters = sync.Pool{New: func() any { return zlib.NewWriter(nil) }} // what HTTP calls deflate is zlib (RFC 9110 8.4.1.2)
)

func compress(encoding string, body []byte) []byte {
	var compressed bytes.Buffer
	w, end := compressTo(encoding, &compressed)
	_, _ = w.Write(body) // a bytes.Buffer never fails
	_ = end()
	return compressed.Bytes()
}

// compressTo returns a writer that compresses into out, and the function that finishes
// it, which must be called once.
func compressTo(encoding string, out io.Writer) (io.Writer, func() error) {
	pool := &gzipWriters
	if encoding == "deflate" {
		pool = &deflateWriters
	}
	w := pool.Get().(compressor)
	w.Reset(out)
	return w, func() error {
		err := w.Close()
		w.Reset(nil)
		pool.Put(w)
		return err
	}
}

// set is header.Set for a name in canonical form, without an allocation for the
// usual number of fields.
func (x *exchange) set(header http.Header, name, value string) {
	if x.free == len(x.values) {
		header[name] = []string{value}
		return
	}
	x.values[x.free] = value
	header[name] = x.values[x.free : x.free+1 : x.free+1] // appending must not overwrite the next value
	x.free++
}

// first is header.Get for a name in canonical form.
func first(header http.Header, name string) string {
	if values := header[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

package exchange

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
	"sync/atomic"

	"github.com/guidonhq/guidon/handler/limit"
)

// ContentJSON is the media type of most responses.
const ContentJSON = "application/json"

// MinCompressed is the smallest body that is worth compressing, in bytes.
const MinCompressed = 1 << 10

// maxCounted is the size up to which net/http has the whole body in its buffer. It then
// sets Content-Length at less cost than we could.
const maxCounted = 2 << 10

// Reply writes a complete response. It reserves memory for a large one and, if there is no
// room, writes the error instead.
func (x *Exchange) Reply(status int, contentType string, body []byte) {
	encoding, compressible := "", len(body) >= MinCompressed
	if compressible {
		if encoding = AcceptedEncoding(x.Request.Header["Accept-Encoding"]); encoding != "" {
			body = Compress(encoding, body)
		}
	}
	if n := int64(len(body)); n > limit.SmallBudget && x.Event.Err == nil {
		if err := x.Call.Memory.Raise(x.Request.Context(), n); err != nil {
			x.ReplyError(err)
			return
		}
	}
	header := x.Header()
	x.Set("Content-Type", contentType)
	if compressible {
		header.Add("Vary", "Accept-Encoding")
	}
	if encoding != "" {
		header.Set("Content-Encoding", encoding)
	}
	if len(body) > maxCounted {
		x.Set("Content-Length", strconv.Itoa(len(body)))
	}
	x.WriteHeader(status)
	x.writeBody(body)
}

// ReplyRaw writes a body that the operation encoded itself.
func (x *Exchange) ReplyRaw(contentType string, body []byte) {
	if x.Pretty() && contentType == ContentJSON {
		var indented bytes.Buffer
		if json.Indent(&indented, body, "", "  ") == nil {
			body = indented.Bytes()
		}
	}
	x.Reply(http.StatusOK, contentType, body)
}

// Pretty reports whether the client requests an indented response (contract 1.3).
func (x *Exchange) Pretty() bool {
	if First(x.Request.Header, "Accept") == "application/json+pretty" {
		return true
	}
	return strings.Contains(x.Request.URL.RawQuery, "pretty") && x.Request.URL.Query().Has("pretty")
}

// AcceptedEncoding returns the encoding of the response: gzip, deflate if only that is
// accepted, or "" for none. "*" matches the encodings that are not named (RFC 9110
// 12.5.3). It returns "" even if the client rejects identity and accepts nothing else.
func AcceptedEncoding(accept []string) string {
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

// Compress returns the body in the encoding.
func Compress(encoding string, body []byte) []byte {
	var compressed bytes.Buffer
	w, end := CompressTo(encoding, &compressed)
	_, _ = w.Write(body) // a bytes.Buffer never fails
	_ = end()
	return compressed.Bytes()
}

// CompressTo returns a writer that compresses into out, and the function that finishes
// it, which must be called once.
func CompressTo(encoding string, out io.Writer) (io.Writer, func() error) {
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

// Set sets a field of the response's header, whose name must be in canonical form,
// without an allocation for the usual number of fields.
func (x *Exchange) Set(name, value string) {
	header := x.Header()
	if x.free == len(x.values) {
		header[name] = []string{value}
		return
	}
	x.values[x.free] = value
	header[name] = x.values[x.free : x.free+1 : x.free+1] // appending must not overwrite the next value
	x.free++
}

// revisionTexts caches the strings of recently sent revision numbers: thousands of
// responses a second have the same ones. It is safe for concurrent use.
type revisionTexts [64]atomic.Pointer[revisionText]

type revisionText struct {
	number int64
	text   string
}

// of returns the decimal string of the number.
func (t *revisionTexts) of(number int64) string {
	slot := &t[uint64(number)%uint64(len(t))] // #nosec G115 -- any slot will do
	if cached := slot.Load(); cached != nil && cached.number == number {
		return cached.text
	}
	fresh := &revisionText{number, strconv.FormatInt(number, 10)}
	slot.Store(fresh)
	return fresh.text
}

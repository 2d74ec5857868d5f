package evaluation

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/codec"
	"github.com/guidonhq/guidon/handler/exchange"
	"github.com/guidonhq/guidon/handler/wire/evaluation"
)

// maxKept is the largest encoded body of a snapshot, plain or compressed, that is cached.
// A larger one is encoded again for each request.
const maxKept = 16 << 20

// snapshotBody is the JSON of a snapshot for the clients of one profile. The cached
// bodies are shared by all responses.
type snapshotBody struct {
	snapshot *guidon.Snapshot
	profile  profile
	size     int    // uncompressed
	err      error  // set if the snapshot cannot be encoded
	plain    []byte // nil if it is not cached

	// gzip returns the compressed body, or nil if that is not cached. The first
	// call compresses it.
	gzip func() []byte
}

func newSnapshotBody(s *guidon.Snapshot, p profile) *snapshotBody {
	b := &snapshotBody{snapshot: s, profile: p}
	var plain boundedBuffer
	b.size, b.err = writeSnapshot(&plain, s, p)
	b.plain = plain.content()
	b.gzip = sync.OnceValue(func() []byte {
		var compressed boundedBuffer
		out, end := exchange.CompressTo("gzip", &compressed)
		_ = b.writeTo(out) // a boundedBuffer never fails
		_ = end()
		return compressed.content()
	})
	return b
}

// writeTo writes the body uncompressed.
func (b *snapshotBody) writeTo(out io.Writer) error {
	if b.plain != nil {
		_, err := out.Write(b.plain)
		return err
	}
	_, err := writeSnapshot(out, b.snapshot, b.profile)
	return err
}

// boundedBuffer buffers up to maxKept bytes, and drops all of them if more are written.
type boundedBuffer struct {
	pages [][]byte // not one slice, which would leave garbage behind as it grows
	size  int
}

// Write implements [io.Writer].
func (b *boundedBuffer) Write(p []byte) (int, error) {
	if b.size += len(p); b.size > maxKept {
		b.pages = nil
		return len(p), nil
	}
	b.pages = append(b.pages, bytes.Clone(p))
	return len(p), nil
}

// content returns the bytes in a slice without spare capacity, or nil if they were
// dropped.
func (b *boundedBuffer) content() []byte {
	if b.size > maxKept {
		return nil
	}
	return slices.Concat(b.pages...)
}

// writePretty writes the body indented.
func (b *snapshotBody) writePretty(out io.Writer) error {
	parts, flags := newSnapshotWire(b.snapshot, b.profile), clientFlags.Of(b.snapshot)
	return codec.LongMessage{
		Message: &evaluation.EvaluationNamespaceSnapshot{
			Namespace: &evaluation.EvaluationNamespace{Key: b.snapshot.Namespace().Key}, OmittedFlags: flags.omitted,
		},
		Lists: []codec.LongList{codec.NewLongList("flags", slices.Values(flags.sent), parts.flag)},
	}.WriteJSON(out, true)
}

// WriteJSON implements [call.InPieces].
func (b *snapshotBody) WriteJSON(out io.Writer, pretty bool) error {
	if pretty {
		return b.writePretty(out)
	}
	return b.writeTo(out)
}

// Reply implements [exchange.Replier]. It writes the body in the format and encoding
// that the client accepts.
func (b *snapshotBody) Reply(x *exchange.Exchange) {
	if x.Pretty() {
		x.ReplyPieces(b)
		return
	}
	encoding := ""
	if b.size >= exchange.MinCompressed {
		encoding = exchange.AcceptedEncoding(x.Request.Header["Accept-Encoding"])
	}
	length, write := b.size, b.writeTo
	if encoding != "" {
		var compressed []byte
		if encoding == "gzip" {
			compressed = b.gzip()
		}
		if compressed == nil && b.size <= call.MaxWhole {
			compressed = exchange.Compress(encoding, b.plain)
		}
		if compressed == nil {
			x.ReplyPieces(b)
			return
		}
		x.Header().Set("Content-Encoding", encoding)
		length, write = len(compressed), func(out io.Writer) error {
			_, err := out.Write(compressed)
			return err
		}
	}
	if encoding == "" && b.plain == nil {
		if err := x.Call.Reserve(x.Request.Context(), exchange.SizeOfPieces); err != nil {
			x.ReplyError(err)
			return
		}
	}
	header := x.Header()
	header.Add("Vary", "Accept-Encoding")
	header.Set("Content-Type", exchange.ContentJSON)
	header.Set("Content-Length", strconv.Itoa(length))
	x.WriteHeader(http.StatusOK)
	x.WritePieces(write)
}

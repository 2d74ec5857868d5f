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

// maxSnapshot limits the body of a snapshot, in bytes. Segments and attachments are
// repeated wherever they are used, so a body can be far larger than the stored data.
const maxSnapshot = 128 << 20

var errSnapshotTooLarge = guidon.Errorf(guidon.TooLarge,
	"the snapshot exceeds %d bytes, because segments or attachments are repeated wherever they are used; evaluate on the server instead",
	maxSnapshot)

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
	b.err = b.encode(&plain, false)
	b.size, b.plain = plain.size, plain.content()
	b.gzip = sync.OnceValue(func() []byte {
		var compressed boundedBuffer
		out, end := exchange.CompressTo("gzip", &compressed)
		_ = b.WriteJSON(out, false) // it was encoded before without an error
		_ = end()
		return compressed.content()
	})
	return b
}

// boundedBuffer buffers up to maxKept bytes, and drops all of them if more are written. More than
// maxSnapshot bytes are an error.
type boundedBuffer struct {
	pages [][]byte // not one slice, which would leave garbage behind as it grows
	size  int
}

// Write implements [io.Writer].
func (b *boundedBuffer) Write(p []byte) (int, error) {
	switch b.size += len(p); {
	case b.size > maxSnapshot:
		return 0, errSnapshotTooLarge
	case b.size > maxKept:
		b.pages = nil
	default:
		b.pages = append(b.pages, bytes.Clone(p))
	}
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

// encode writes the JSON of wireSnapshot, without building the message as a whole. The same
// state gives the same bytes on every instance.
func (b *snapshotBody) encode(out io.Writer, pretty bool) error {
	parts, flags := newSnapshotWire(b.snapshot, b.profile), clientFlags.Of(b.snapshot)
	return codec.LongMessage{
		Message: &evaluation.EvaluationNamespaceSnapshot{
			Namespace: &evaluation.EvaluationNamespace{Key: b.snapshot.Namespace().Key}, OmittedFlags: flags.omitted,
		},
		Lists: []codec.LongList{codec.NewLongList("flags", slices.Values(flags.sent), parts.flag)},
	}.WriteJSON(out, pretty)
}

// WriteJSON implements [call.InPieces].
func (b *snapshotBody) WriteJSON(out io.Writer, pretty bool) error {
	if pretty || b.plain == nil {
		return b.encode(out, pretty)
	}
	_, err := out.Write(b.plain)
	return err
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
	length, write := b.size, func(out io.Writer) error { return b.WriteJSON(out, false) }
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

package handler

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/guidonhq/guidon"
)

// maxKept is the longest form of a snapshot's body that is kept for later requests.
// A longer one is written anew for each request.
const maxKept = 16 << 20

// snapshotBody is a snapshot as JSON, for the clients of one profile. What is kept
// of it is shared by all answers.
type snapshotBody struct {
	snapshot *guidon.Snapshot
	profile  profile
	size     int    // as it is
	err      error  // why there is none
	plain    []byte // nil where it is not kept

	// gzip returns it compressed, or nil where that is not kept. It is made for
	// the first request.
	gzip func() []byte
}

func newSnapshotBody(s *guidon.Snapshot, p profile) *snapshotBody {
	b := &snapshotBody{snapshot: s, profile: p}
	var plain boundedBuffer
	b.size, b.err = writeSnapshot(&plain, s, p)
	b.plain = plain.content()
	b.gzip = sync.OnceValue(func() []byte {
		var compressed boundedBuffer
		out, end := compressTo("gzip", &compressed)
		_ = b.writeTo(out) // a boundedBuffer takes everything
		_ = end()
		return compressed.content()
	})
	return b
}

// writeTo writes the body as it is.
func (b *snapshotBody) writeTo(out io.Writer) error {
	if b.plain != nil {
		_, err := out.Write(b.plain)
		return err
	}
	_, err := writeSnapshot(out, b.snapshot, b.profile)
	return err
}

// boundedBuffer keeps what is written to it, unless that is too long.
type boundedBuffer struct {
	pages [][]byte // rather than one slice, which would leave several behind as it grows
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

// content returns all of it without room to spare, or nil.
func (b *boundedBuffer) content() []byte {
	if b.size > maxKept {
		return nil
	}
	return slices.Concat(b.pages...)
}

// replySnapshot answers with the body.
func (x *exchange) replySnapshot(b *snapshotBody) {
	if x.pretty() {
		x.replyPieces(b.writePretty)
		return
	}
	encoding := ""
	if b.size >= minCompressed {
		encoding = acceptedEncoding(x.request.Header["Accept-Encoding"])
	}
	length, write := b.size, b.writeTo
	if encoding != "" {
		var compressed []byte
		if encoding == "gzip" {
			compressed = b.gzip()
		}
		if compressed == nil && b.size <= writePiece {
			compressed = compress(encoding, b.plain)
		}
		if compressed == nil {
			x.replyPieces(b.writeTo)
			return
		}
		x.Header().Set("Content-Encoding", encoding)
		length, write = len(compressed), func(out io.Writer) error {
			_, err := out.Write(compressed)
			return err
		}
	}
	if encoding == "" && b.plain == nil {
		if err := x.asked.reserve(x.request.Context(), sizeOfPieces); err != nil {
			x.replyError(err)
			return
		}
	}
	header := x.Header()
	header.Add("Vary", "Accept-Encoding")
	header.Set("Content-Type", contentJSON)
	header.Set("Content-Length", strconv.Itoa(length))
	x.WriteHeader(http.StatusOK)
	x.writePieces(write)
}

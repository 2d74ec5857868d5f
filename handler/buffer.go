package handler

import (
	"io"
	"slices"
	"sync"
)

// maxPooled is the size of a buffer from which it is not kept for another
// request.
const maxPooled = 64 << 10

// buffer is where the body of a request is read into and, as nothing that is
// decoded from it refers to it, the body of the answer is written into.
type buffer struct{ content []byte }

var buffers = sync.Pool{New: func() any { return &buffer{content: make([]byte, 0, 2<<10)} }}

// buffer returns the empty buffer of the exchange. What was in it is lost.
func (x *exchange) buffer() []byte {
	if x.pooled == nil {
		x.pooled = buffers.Get().(*buffer)
	}
	return x.pooled.content[:0]
}

// keep makes what has become of the buffer the one of the exchange.
func (x *exchange) keep(content []byte) { x.pooled.content = content }

// forgetLarge lets go of a buffer that is not kept anyway, as soon as the request
// is decoded: an import must not hold its body in memory until it has ended.
func (x *exchange) forgetLarge() {
	if x.pooled != nil && cap(x.pooled.content) > maxPooled {
		x.pooled = nil
	}
}

// releaseBuffer leaves the buffer to others.
func (x *exchange) releaseBuffer() {
	if x.forgetLarge(); x.pooled != nil {
		buffers.Put(x.pooled)
		x.pooled = nil
	}
}

// firstRead is how much memory a body is given before any of it has come: a
// length is easily claimed.
const firstRead = 64 << 10

// readAll is io.ReadAll into b, for a body of the length, which is negative where
// it is not known.
func readAll(b []byte, r io.Reader, length int64) ([]byte, error) {
	b = slices.Grow(b, int(max(min(length, firstRead), 0))+1) // one more, to find the end
	for {
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		switch {
		case err == io.EOF && int64(len(b)) < length:
			return b, io.ErrUnexpectedEOF
		case err == io.EOF:
			return b, nil
		case err != nil:
			return b, err
		case len(b) == cap(b):
			b = slices.Grow(b, len(b))
		}
	}
}

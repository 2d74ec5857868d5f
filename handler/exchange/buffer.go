package exchange

import (
	"context"
	"io"
	"slices"
	"sync"
)

// maxPooled is the largest buffer, in bytes, that is reused for another request.
const maxPooled = 64 << 10

// buffer holds the body of a request and, later, that of the response: nothing that is
// decoded from the request refers to it.
type buffer struct{ content []byte }

var buffers = sync.Pool{New: func() any { return &buffer{content: make([]byte, 0, 2<<10)} }}

// Buffer returns the buffer of the exchange, emptied.
func (x *Exchange) Buffer() []byte {
	if x.pooled == nil {
		x.pooled = buffers.Get().(*buffer)
	}
	return x.pooled.content[:0]
}

// Keep makes content, which may have outgrown the buffer, the buffer of the exchange.
func (x *Exchange) Keep(content []byte) { x.pooled.content = content }

// ReleaseBody frees the memory that the body was read into, except for a small buffer,
// which is kept for the response. It is called as soon as the request is decoded: an
// import must not hold its body in memory until it has ended.
func (x *Exchange) ReleaseBody() {
	if x.pooled != nil && cap(x.pooled.content) > maxPooled {
		x.pooled = nil
	}
	x.bodies.Release()
}

// releaseBuffer returns the buffer to the pool, unless it is too large.
func (x *Exchange) releaseBuffer() {
	if x.pooled != nil && cap(x.pooled.content) <= maxPooled {
		buffers.Put(x.pooled)
	}
	x.pooled = nil
}

// firstRead is how many bytes of a body are read before memory is reserved for it: any
// client can claim a large Content-Length.
const firstRead = 16 << 10

// readAll is io.ReadAll into the exchange's buffer. length is the length of the body, or
// negative if it is unknown.
func (x *Exchange) readAll(ctx context.Context, r io.Reader, length int64) ([]byte, error) {
	b := x.Buffer()
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
			if b, err = x.growBody(ctx, b, length); err != nil {
				return b, err
			}
		}
	}
}

// growBody returns b, the first part of a body, with more room: for all of the body if
// its length is known, otherwise twice the room.
func (x *Exchange) growBody(ctx context.Context, b []byte, length int64) ([]byte, error) {
	room := max(length+1-int64(len(b)), 0)
	if length < 0 {
		room = int64(len(b))
	}
	if err := x.bodies.Raise(ctx, int64(len(b))+room); err != nil {
		return b, err
	}
	return slices.Grow(b, max(int(room), 1)), nil
}

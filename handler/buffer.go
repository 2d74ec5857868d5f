package handler

import (
	"context"
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

// releaseBody lets go of the memory that the body was read into, as far as it is not
// kept for the answer, as soon as the request is decoded: an import must not hold its
// body in memory until it has ended.
func (x *exchange) releaseBody() {
	if x.pooled != nil && cap(x.pooled.content) > maxPooled {
		x.pooled = nil
	}
	x.bodies.Release()
}

// releaseBuffer leaves the buffer to others.
func (x *exchange) releaseBuffer() {
	if x.pooled != nil && cap(x.pooled.content) <= maxPooled {
		buffers.Put(x.pooled)
	}
	x.pooled = nil
}

// firstRead is how many bytes of a body are read before memory is reserved for it: a
// length is easily claimed.
const firstRead = 16 << 10

// readAll is io.ReadAll into the exchange's buffer, for a body of the length, which is
// negative if it is not known.
func (x *exchange) readAll(ctx context.Context, r io.Reader, length int64) ([]byte, error) {
	b := x.buffer()
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

// growBody returns the first part of a body with room for more: for all of it if its
// length is known, and otherwise for as much again.
func (x *exchange) growBody(ctx context.Context, b []byte, length int64) ([]byte, error) {
	room := max(length+1-int64(len(b)), 0)
	if length < 0 {
		room = int64(len(b))
	}
	if err := x.bodies.Raise(ctx, int64(len(b))+room); err != nil {
		return b, err
	}
	return slices.Grow(b, max(int(room), 1)), nil
}

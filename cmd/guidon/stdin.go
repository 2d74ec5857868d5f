package main

import (
	"context"
	"io"
)

// interruptible is a reader whose Read returns when the context ends. The underlying
// reader may block forever, waiting for the user to type. It is not safe for
// concurrent use.
type interruptible struct {
	ctx    context.Context
	reader io.Reader
	rest   []byte // read but not yet returned
}

type chunk struct {
	data []byte
	err  error
}

// Read implements io.Reader. After the context has ended, the underlying reader must
// not be used: a read may still be in progress.
func (r *interruptible) Read(p []byte) (int, error) {
	if len(r.rest) > 0 {
		n := copy(p, r.rest)
		r.rest = r.rest[n:]
		return n, nil
	}
	done := make(chan chunk, 1)
	go func() {
		data := make([]byte, 32<<10) // not p, which must not be used after Read returns
		n, err := r.reader.Read(data)
		done <- chunk{data[:n], err}
	}()
	select {
	case <-r.ctx.Done():
		return 0, r.ctx.Err()
	case c := <-done:
		n := copy(p, c.data)
		r.rest = c.data[n:]
		if len(r.rest) > 0 {
			return n, nil // the next read returns the error again, if any
		}
		return n, c.err
	}
}

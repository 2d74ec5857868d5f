package main

import (
	"context"
	"io"
)

// interruptible is a reader that gives up when its context ends, where the one
// below may wait for ever for somebody to type. It is used by one goroutine.
type interruptible struct {
	ctx    context.Context
	reader io.Reader
	rest   []byte // read but not yet asked for
}

type chunk struct {
	data []byte
	err  error
}

// Read implements io.Reader. A read that was given up leaves the reader below
// unusable.
func (r *interruptible) Read(p []byte) (int, error) {
	if len(r.rest) > 0 {
		n := copy(p, r.rest)
		r.rest = r.rest[n:]
		return n, nil
	}
	done := make(chan chunk, 1)
	go func() {
		data := make([]byte, 32<<10) // not p, which is the caller's again after Read
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
			return n, nil // the error, if any, comes again
		}
		return n, c.err
	}
}

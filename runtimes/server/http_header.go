package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync/atomic"

	"github.com/guidonhq/guidon/handler/budget"
)

// What the header of a request may take. It is read before anybody can know who sends
// it, and each of its lines takes far more memory than the few bytes that it may
// consist of.
const (
	// freeHeaderBytes and freeHeaderLines are read without reserving memory.
	freeHeaderBytes = 8 << 10
	freeHeaderLines = 100
	// maxHeaderLines is the most lines that are read.
	maxHeaderLines = 1000
	// The memory that net/http takes for a header, at most.
	costOfHeaderByte = 3
	costOfHeaderLine = 256
	// Over TLS lines cannot be counted. The shortest has four bytes.
	costOfSecretByte = costOfHeaderByte + costOfHeaderLine/4
)

// errHeader ends the reading of a header with too many lines. net/http answers it
// with 400.
var errHeader = errors.New("the header of the request has too many lines")

// headerMeter reserves memory for the header that is being read. It counts what comes
// between two requests. But for paused, only the goroutine that serves the connection
// uses it.
type headerMeter struct {
	memory budget.Reservation
	secure bool
	paused atomic.Bool // a request is in progress: what comes now is its body
	bytes  int
	lines  int
}

// next makes the meter ready for the header of the next request.
func (m *headerMeter) next() {
	m.memory.Release()
	m.bytes, m.lines = 0, 0
	m.paused.Store(false)
}

// pause leaves out of account what comes until next is called.
func (m *headerMeter) pause() { m.paused.Store(true) }

// count counts a part of the header. It returns errHeader, or io.EOF if there is no
// memory for the header.
func (m *headerMeter) count(part []byte) error {
	m.bytes += len(part)
	if !m.secure {
		m.lines += bytes.Count(part, newline)
	}
	switch {
	case m.bytes <= freeHeaderBytes && m.lines <= freeHeaderLines:
		return nil
	case m.lines > maxHeaderLines:
		return errHeader
	}
	if m.memory.Raise(context.Background(), m.cost()) != nil { // which waits a second at most
		return io.EOF
	}
	return nil
}

func (m *headerMeter) cost() int64 {
	if m.secure {
		return int64(m.bytes) * costOfSecretByte
	}
	return int64(m.bytes)*costOfHeaderByte + int64(m.lines)*costOfHeaderLine
}

var newline = []byte{'\n'}

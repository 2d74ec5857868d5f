package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync/atomic"

	"github.com/guidonhq/guidon/handler/limit"
)

// Limits of a request header. It is read before its sender is authenticated, and a line
// of a few bytes takes far more memory than that.
const (
	// freeHeaderBytes and freeHeaderLines are read without reserving memory.
	freeHeaderBytes = 8 << 10
	freeHeaderLines = 100
	// maxHeaderLines is the most lines that are read.
	maxHeaderLines = 1000
	// The most memory that net/http uses for a header.
	costOfHeaderByte = 3
	costOfHeaderLine = 256
	// Over TLS, lines cannot be counted. The shortest has four bytes.
	costOfTLSByte = costOfHeaderByte + costOfHeaderLine/4
)

// errHeader is returned for a header with too many lines. net/http responds with 400.
var errHeader = errors.New("request header has too many lines")

// headerMeter reserves memory for the header that is being read. It counts the input
// between two requests. Only the goroutine that serves the connection uses it, except
// for paused.
type headerMeter struct {
	memory limit.Reservation
	secure bool
	paused atomic.Bool // a request is in progress: further input is its body
	bytes  int
	lines  int
	line   int  // bytes of the line that is being read, without carriage returns
	ended  bool // by an empty line
}

// next prepares the meter for the header of the next request.
func (m *headerMeter) next() {
	m.memory.Release()
	m.bytes, m.lines, m.line, m.ended = 0, 0, 0, false
	m.paused.Store(false)
}

// pause stops counting until next is called. It immediately releases the memory reserved
// for a header over TLS: the estimate is the worst case, and may include the beginning of
// a body.
func (m *headerMeter) pause() {
	if m.secure {
		m.memory.Release()
	}
	m.paused.Store(true)
}

// count counts a part of the header. It returns errHeader if there are too many lines,
// or io.EOF if there is no memory for the header.
func (m *headerMeter) count(part []byte) error {
	if m.secure {
		m.bytes += len(part)
	} else {
		m.scan(part)
	}
	switch {
	case m.bytes <= freeHeaderBytes && m.lines <= freeHeaderLines:
		return nil
	case m.lines > maxHeaderLines:
		return errHeader
	}
	if m.memory.Raise(context.Background(), m.cost()) != nil { // waits at most a second
		return io.EOF
	}
	return nil
}

// scan counts bytes and lines up to the end of the header, which the beginning of a body
// may follow. Empty lines before the first one do not count as lines, as in net/http.
func (m *headerMeter) scan(part []byte) {
	for !m.ended && len(part) > 0 {
		end := bytes.IndexByte(part, '\n')
		if end < 0 {
			m.bytes += len(part)
			m.line += textLength(part)
			return
		}
		m.bytes += end + 1
		m.line += textLength(part[:end])
		switch {
		case m.line > 0:
			m.lines++
		case m.lines > 0:
			m.ended = true
		}
		m.line = 0
		part = part[end+1:]
	}
}

// textLength returns the number of bytes that are not carriage returns.
func textLength(b []byte) int { return len(b) - bytes.Count(b, carriageReturn) }

var carriageReturn = []byte{'\r'}

func (m *headerMeter) cost() int64 {
	if m.secure {
		return int64(m.bytes) * costOfTLSByte
	}
	return int64(m.bytes)*costOfHeaderByte + int64(m.lines)*costOfHeaderLine
}

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
	costOfTLSByte = costOfHeaderByte + costOfHeaderLine/4
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
	line   int  // bytes of the line that is being read, without carriage returns
	ended  bool // by an empty line
}

// next makes the meter ready for the header of the next request.
func (m *headerMeter) next() {
	m.memory.Release()
	m.bytes, m.lines, m.line, m.ended = 0, 0, 0, false
	m.paused.Store(false)
}

// pause leaves out of account what comes until next is called. What is reserved for a
// header that came over TLS goes back at once: it is the worst case of what was read,
// the beginning of a body included.
func (m *headerMeter) pause() {
	if m.secure {
		m.memory.Release()
	}
	m.paused.Store(true)
}

// count counts a part of the header. It returns errHeader, or io.EOF if there is no
// memory for the header.
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
	if m.memory.Raise(context.Background(), m.cost()) != nil { // which waits a second at most
		return io.EOF
	}
	return nil
}

// scan counts bytes and lines up to the end of the header: the beginning of a body may
// come with it. Empty lines before the first one are left out, as net/http does.
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

// textLength returns the number of bytes that are no carriage return.
func textLength(b []byte) int { return len(b) - bytes.Count(b, carriageReturn) }

var carriageReturn = []byte{'\r'}

func (m *headerMeter) cost() int64 {
	if m.secure {
		return int64(m.bytes) * costOfTLSByte
	}
	return int64(m.bytes)*costOfHeaderByte + int64(m.lines)*costOfHeaderLine
}

package harness

import (
	"bytes"
	"net/http"
	"sync"
)

// Buffer is a buffer to which a process writes and from which a test reads. The zero value
// is empty.
type Buffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
	more   chan struct{} // closed by the next Write; nil if there are no waiters
}

// Write appends to the buffer.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.more != nil {
		close(b.more)
		b.more = nil
	}
	return b.buffer.Write(p)
}

// String returns what has been written so far.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}

// after returns the bytes written after the first n, and a channel that is closed when
// there are more.
func (b *Buffer) after(n int) (text []byte, more <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.more == nil {
		b.more = make(chan struct{})
	}
	return bytes.Clone(b.buffer.Bytes()[n:]), b.more
}

// Follow sends the content, and everything that is written later, to the client, until the
// request ends.
func (b *Buffer) Follow(w http.ResponseWriter, r *http.Request) {
	for n := 0; ; {
		text, more := b.after(n)
		if _, err := w.Write(text); err != nil {
			return
		}
		if err := http.NewResponseController(w).Flush(); err != nil {
			return
		}
		n += len(text)
		select {
		case <-more:
		case <-r.Context().Done():
			return
		}
	}
}

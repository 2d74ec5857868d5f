package integration

import (
	"bytes"
	"net/http"
	"sync"
)

// lockedBuffer is a buffer that a process writes to and a test reads.
type lockedBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
	more   chan struct{} // closed by the next Write; nil while nobody waits
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.more != nil {
		close(b.more)
		b.more = nil
	}
	return b.buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}

// after returns what has been written after the first n bytes, and what is closed
// when there is more.
func (b *lockedBuffer) after(n int) (text []byte, more <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.more == nil {
		b.more = make(chan struct{})
	}
	return bytes.Clone(b.buffer.Bytes()[n:]), b.more
}

// follow answers the request with all that is written, until its end.
func (b *lockedBuffer) follow(w http.ResponseWriter, r *http.Request) {
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

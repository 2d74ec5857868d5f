package server

import (
	"context"
	"net"
	"sync"
	"time"
)

// openingLimit is how long a connection that is being opened when the stop reaches it
// may take to complete: grpc-go does not drain any connection before that.
const openingLimit = time.Second

// grpcListener hands connections to one gRPC server, and knows which of them the
// server is still opening: it closes without a word those whose handshake it has not
// begun when it is told to stop.
type grpcListener struct {
	*closingListener
	conns *grpcConns

	mu      sync.Mutex
	opening map[*grpcConn]bool // whether the handshake has begun
	waiting chan struct{}      // closed when it has for all; nil until somebody waits
}

func newGRPCListener(listener *closingListener, conns *grpcConns) *grpcListener {
	return &grpcListener{closingListener: listener, conns: conns, opening: map[*grpcConn]bool{}}
}

// Accept implements [net.Listener]. It closes the connections beyond the limit.
func (l *grpcListener) Accept() (net.Conn, error) {
	for {
		tcp, err := l.AcceptTCP()
		if err != nil {
			return nil, err
		}
		c := l.conns.admit(tcp, l)
		if c == nil {
			_ = tcp.Close()
			continue
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.opening[c] = false
		return c, nil
	}
}

// finishOpening returns when the server has begun to open all of its connections,
// and limits how long that may take. Accept must have returned its last connection.
func (l *grpcListener) finishOpening(ctx context.Context) {
	select {
	case <-l.allStarted():
	case <-ctx.Done():
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.opening {
		_ = c.TCPConn.SetDeadline(time.Now().Add(openingLimit)) // of a connection that is closed, nothing waits
	}
}

// allStarted returns a channel that is closed when all handshakes have begun.
func (l *grpcListener) allStarted() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	waiting := make(chan struct{})
	l.waiting = waiting
	l.changed()
	return waiting
}

// changed wakes the waiter if all handshakes have begun. l.mu must be held.
func (l *grpcListener) changed() {
	if l.waiting == nil {
		return
	}
	for _, started := range l.opening {
		if !started {
			return
		}
	}
	close(l.waiting)
	l.waiting = nil
}

// recordHandshake notes that the server opens the connection, and then that it has: grpc-go sets
// a deadline before the handshake, and takes it back after it.
func (l *grpcListener) recordHandshake(c *grpcConn, started bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, opening := l.opening[c]; opening && started {
		l.opening[c] = true
	} else {
		delete(l.opening, c)
	}
	l.changed()
}

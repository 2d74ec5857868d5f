package server

import (
	"context"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc"

	"github.com/guidonhq/guidon/runtimes/server/tcp"
)

// openingLimit is how long a handshake in progress may take to complete during a stop.
// grpc-go drains no connection before that.
const openingLimit = time.Second

// grpcListener accepts connections for one gRPC server, and keeps track of those that
// the server is still opening. When the server is told to stop, it silently closes the
// connections whose handshake it has not started.
type grpcListener struct {
	*tcp.Listener
	conns *grpcConns

	mu      sync.Mutex
	opening map[*grpcConn]bool // whether the handshake has started
	waiting chan struct{}      // closed when all handshakes have started; nil without a waiter
}

func newGRPCListener(listener *tcp.Listener, conns *grpcConns) *grpcListener {
	return &grpcListener{Listener: listener, conns: conns, opening: map[*grpcConn]bool{}}
}

// Accept implements [net.Listener]. It closes connections above the limit.
func (l *grpcListener) Accept() (net.Conn, error) {
	for {
		accepted, err := l.AcceptTCP()
		if err != nil {
			return nil, err
		}
		c := l.conns.admit(accepted, l)
		if c == nil {
			_ = accepted.Close()
			continue
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.opening[c] = false
		return c, nil
	}
}

// finishOpening returns when the server has started all handshakes, and limits how long
// they may take. Accept must have returned its last connection.
func (l *grpcListener) finishOpening(ctx context.Context) {
	select {
	case <-l.allStarted():
	case <-ctx.Done():
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.opening {
		_ = c.TCPConn.SetDeadline(time.Now().Add(openingLimit)) // it fails if the connection is closed
	}
}

// allStarted returns a channel that is closed when all handshakes have started.
func (l *grpcListener) allStarted() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	waiting := make(chan struct{})
	l.waiting = waiting
	l.changed()
	return waiting
}

// changed wakes the waiter if all handshakes have started. l.mu must be held.
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

// recordHandshake records that the handshake has started, or that it has ended. grpc-go
// sets a deadline before the handshake and clears it afterwards.
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

// grpcServer is a gRPC server that serves on a listener.
type grpcServer struct {
	server   *grpc.Server
	listener *grpcListener
	ended    chan struct{} // closed when the server accepts no more connections
	drained  chan struct{} // closed when its connections are closed
}

// serveGRPC starts a gRPC server on the listener.
func (s *runningServer) serveGRPC() *grpcServer {
	g := &grpcServer{
		server:   newGRPCServer(s.config, s.tls, s.calls),
		listener: newGRPCListener(s.open.grpc, s.grpcConns),
		drained:  make(chan struct{}),
	}
	g.ended = s.serve("gRPC", func() error { return serveGRPC(g.server, g.listener) })
	return g
}

// handOverGRPC tells the clients of the gRPC server to reconnect, while calls still
// succeed. grpc-go can tell them only when it no longer accepts connections, so a second
// server accepts those that arrive during the delay.
func (s *runningServer) handOverGRPC(ctx context.Context) {
	first := s.grpc[0]
	s.open.grpc.Pause()
	<-first.ended
	s.open.grpc.Resume()
	s.grpc = append(s.grpc, s.serveGRPC())
	go first.drain(ctx)
}

// drain tells clients that their connections close, and returns when all are closed. The
// server must have stopped accepting, or be about to.
func (g *grpcServer) drain(ctx context.Context) {
	defer close(g.drained)
	select {
	case <-g.ended:
		g.listener.finishOpening(ctx)
	case <-ctx.Done():
	}
	g.server.GracefulStop()
}

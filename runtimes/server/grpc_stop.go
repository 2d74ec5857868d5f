package server

import (
	"context"

	"google.golang.org/grpc"
)

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

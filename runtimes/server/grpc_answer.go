package server

import (
	"context"
	"time"

	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/peer"
)

// pending is a response that a client has not taken yet. grpc-go queues responses
// without a limit for a client that does not read, so their memory stays reserved until
// it gives the buffer back or the connection ends.
type pending struct {
	calls *calls
	conn  *grpcConn
	data  []byte
	from  mem.BufferSlice // where data is
	since time.Time
}

var _ mem.BufferPool = (*pending)(nil)

// reserve returns the encoded response in a buffer for which memory is reserved, unless
// it is small.
func (c *calls) reserve(ctx context.Context, response mem.BufferSlice) (mem.BufferSlice, error) {
	size := response.Len()
	conn := connOf(ctx)
	if mem.IsBelowBufferPoolingThreshold(size) || conn == nil {
		return response, nil
	}
	if err := c.handler.Budget().Responses.Acquire(ctx, int64(size)); err != nil {
		response.Free()
		return nil, err
	}
	p := &pending{calls: c, conn: conn, from: response, since: time.Now()}
	if len(response) == 1 {
		p.data = response[0].ReadOnlyData()
	} else {
		p.data = response.Materialize()
	}
	if !conn.queue(p) { // the connection has ended
		p.release()
		response.Free()
		return nil, context.Canceled
	}
	return mem.BufferSlice{mem.NewBuffer(&p.data, p)}, nil
}

// Get implements [mem.BufferPool]. Nobody calls it.
func (p *pending) Get(length int) *[]byte { return new(make([]byte, length)) }

// Put implements [mem.BufferPool]: grpc-go is done with the response.
func (p *pending) Put(*[]byte) {
	if p.conn.remove(p) {
		p.release()
	}
	p.from.Free()
}

// release gives back the memory that is reserved for the response. The buffer itself
// may still be in use by grpc-go.
func (p *pending) release() { p.calls.handler.Budget().Responses.Release(int64(len(p.data))) }

// connOf returns the connection of a call, or nil in a test without one.
func connOf(ctx context.Context) *grpcConn {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return nil
	}
	addr, ok := p.Addr.(*grpcAddr)
	if !ok {
		return nil
	}
	return addr.conn
}

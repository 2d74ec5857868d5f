package server

import (
	"context"
	"time"

	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/peer"
)

// pendingResponse is a response that has not been sent completely. grpc-go queues responses
// without a limit for a client that does not read. So their memory stays reserved until
// grpc-go releases the buffer or the connection ends.
type pendingResponse struct {
	calls *calls
	conn  *grpcConn
	data  []byte
	from  mem.BufferSlice // the buffers that contain data
	since time.Time
}

var _ mem.BufferPool = (*pendingResponse)(nil)

// reserve reserves memory for the encoded response, unless it is small. It returns the
// response in a buffer that releases the memory.
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
	p := &pendingResponse{calls: c, conn: conn, since: time.Now()}
	p.data, p.from = withoutWaste(response)
	if !conn.queue(p) { // the connection has ended
		p.release()
		p.from.Free()
		return nil, context.Canceled
	}
	return mem.BufferSlice{mem.NewBuffer(&p.data, p)}, nil
}

// withoutWaste returns the response in one slice, and the buffers that contain it. It
// copies a response that fills less than half of its buffer: those of grpc-go's pool have
// 1 MiB from 32 KiB on, and only the length of the response is reserved.
func withoutWaste(response mem.BufferSlice) (data []byte, from mem.BufferSlice) {
	if len(response) == 1 {
		if data := response[0].ReadOnlyData(); cap(data) <= 2*len(data) || len(data) <= maxPooled {
			return data, response
		}
	}
	data = response.Materialize()
	response.Free()
	return data, nil
}

// Get implements [mem.BufferPool]. It is never called.
func (p *pendingResponse) Get(length int) *[]byte { return new(make([]byte, length)) }

// Put implements [mem.BufferPool]. grpc-go calls it when it no longer needs the response.
func (p *pendingResponse) Put(*[]byte) {
	if p.conn.remove(p) {
		p.release()
	}
	p.from.Free()
}

// release releases the reservation. grpc-go may still be using the buffer.
func (p *pendingResponse) release() { p.calls.handler.Budget().Responses.Release(int64(len(p.data))) }

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

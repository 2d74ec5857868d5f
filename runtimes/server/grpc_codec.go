package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"time"

	"google.golang.org/grpc/encoding"
	protocodec "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/peer"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/runtimes/server/quickgrpc"
)

// codec is the protobuf codec of grpc-go with errors that are safe to send to callers,
// and with a fast path for evaluation messages.
type codec struct {
	encoding.CodecV2
	logger *slog.Logger
}

func newCodec(logger *slog.Logger) codec {
	return codec{CodecV2: encoding.GetCodecV2(protocodec.Name), logger: logger}
}

// Unmarshal decodes a message of health or reflection. Messages of operations are
// decoded by [inbound].
func (c codec) Unmarshal(data mem.BufferSlice, v any) (err error) {
	defer c.recoverAs(&err)
	return c.CodecV2.Unmarshal(data, v)
}

// errUncodable replaces errors that callers must not see.
var errUncodable = errors.New(guidon.Internal.Error())

// Marshal encodes a response. If v is an *inbound, the response is already encoded.
// grpc-go calls Marshal outside of all interceptors and sends the text of its error to
// the caller. So panics must be recovered here, and causes must be hidden here.
func (c codec) Marshal(v any) (data mem.BufferSlice, err error) {
	if in, ok := v.(*inbound); ok {
		return in.response, nil
	}
	defer c.recoverAs(&err)
	if data, ok := quickgrpc.Encode(v, responseBuffers); ok {
		return data, nil
	}
	data, err = c.CodecV2.Marshal(v)
	if err != nil {
		c.logger.Error("cannot encode grpc response", "type", fmt.Sprintf("%T", v), "error", err)
		return nil, errUncodable
	}
	return data, nil
}

func (c codec) recoverAs(err *error) {
	if p := recover(); p != nil {
		c.logger.Error("grpc codec panicked", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		*err = errUncodable
	}
}

// responseBuffers provides the buffers of larger responses.
var responseBuffers mem.BufferPool = yieldingPool{mem.DefaultBufferPool()}

// yieldingPool is a pool that yields to other goroutines when a buffer is returned. The
// writer of a connection returns one when it has copied the response, before it checks
// for another one to send along. By itself it waits for more only while it has less than
// a kilobyte to write. Each response to a batch would then cost a system call of its
// own, for the server and for the client: with the yield, bench-grpc counts a quarter
// more batches per second.
type yieldingPool struct{ mem.BufferPool }

func (p yieldingPool) Put(buffer *[]byte) {
	p.BufferPool.Put(buffer)
	runtime.Gosched()
}

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

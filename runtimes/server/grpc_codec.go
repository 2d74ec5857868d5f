package server

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"

	"google.golang.org/grpc/encoding"
	protocodec "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"

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

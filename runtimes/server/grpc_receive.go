package server

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	_ "google.golang.org/grpc/encoding/gzip" // so that grpc-go accepts it, and nothing else
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/limit"
	"github.com/guidonhq/guidon/internal/clock"
	"github.com/guidonhq/guidon/runtimes/server/quickgrpc"
	"github.com/guidonhq/guidon/service"
)

// maxReceiving limits how many calls may wait for their message at a time. Each of them
// takes memory for its metadata and the part of the message received so far.
const maxReceiving = 1024

// maxUnreserved is the largest message that is received without reserving memory for it.
const maxUnreserved = 16 << 10

// prefixLength is the length of the prefix of each message in the gRPC protocol: a
// compression flag and the length of the message.
const prefixLength = 5

// inbound is a request message that is being received, and later the response to it.
type inbound struct {
	calls    *calls
	layout   *layout
	message  proto.Message
	prefix   [prefixLength]byte
	items    *quickgrpc.Items  // of the message, or nil
	bodies   limit.Reservation // for the encoded message
	decoded  limit.Reservation
	turn     limit.Turn      // until the response has been encoded
	response mem.BufferSlice // encoded
}

// messageStream is the transport stream of a call. Every stream of grpc-go has these
// methods, although none of its interfaces does. grpc-go itself would read a whole
// message before its length can be checked.
type messageStream interface {
	ReadMessageHeader(prefix []byte) error
	Read(n int) (mem.BufferSlice, error)
	WriteStatus(s *status.Status) error
}

// Receive implements [call.Source]. It reads the message of the call, and decodes it
// if the limits and the memory budget allow.
func (in *inbound) Receive(ctx context.Context, o *call.Operation, request *call.Request, limits call.Limits) error {
	stream, ok := grpc.ServerTransportStreamFromContext(ctx).(messageStream)
	if !ok {
		return errors.New("cannot read messages: the grpc-go stream lacks the methods")
	}
	if in.calls.receiving.Add(1) > maxReceiving {
		in.calls.receiving.Add(-1)
		return guidon.Errorf(guidon.Unavailable, "too many calls are waiting for their message; try again later")
	}
	w := in.calls.watch(ctx, o, stream, request.RequestID)
	encoded, err := in.read(ctx, stream, min(limits.Bytes, maxReceiveMessage))
	late := w.end()
	in.calls.receiving.Add(-1)
	if late != nil {
		encoded.Free()
		return late
	}
	if err != nil {
		return err
	}
	defer in.bodies.Release()
	data := contiguous(encoded)
	encoded.Free()
	defer data.Free()
	in.message = o.NewRequest()
	if err := in.decode(ctx, data.ReadOnlyData(), min(limits.Values, maxReceiveValues)); err != nil {
		return err
	}
	request.Message = in.message
	return nil
}

// decoding limits the nesting of messages. JSON bodies may have 64 levels, and one level
// of a JSON object takes up to three levels of messages.
var decoding = proto.UnmarshalOptions{RecursionLimit: 3 * 64}

// decode reserves memory for the message and decodes it.
func (in *inbound) decode(ctx context.Context, data []byte, values int) (err error) {
	found := in.layout.count(data, values)
	if found > values {
		if values == maxReceiveValues {
			return guidon.Errorf(guidon.TooLarge,
				"the import has more than %d values, of which each object counts as %d; import it over HTTP", values, weightInImport)
		}
		return guidon.Errorf(guidon.TooLarge, "the request message has more than %d values", values)
	}
	if err := in.decoded.Raise(ctx, costOf(len(data), found)); err != nil {
		return err
	}
	var decoded bool
	in.items, decoded, err = quickgrpc.Decode(data, in.message, service.MaxBatch)
	switch {
	case err != nil: // the error of the service, without decoding all items first
		return guidon.Errorf(guidon.TooLarge, "invalid field requests: must not contain more than %d elements", service.MaxBatch)
	case decoded:
		return nil
	}
	if err := decoding.Unmarshal(data, in.message); err != nil {
		return &guidon.Error{Code: guidon.InvalidArgument, Message: "malformed request message", Err: err}
	}
	return nil
}

// maxPooled is the largest message that is decoded from a pooled buffer. The next larger
// buffers of the pool have 1 MiB, which is more than is reserved for the message.
const maxPooled = 32 << 10

// contiguous returns the message in a single buffer. The caller must free both.
func contiguous(message mem.BufferSlice) mem.Buffer {
	if message.Len() > maxPooled {
		return mem.SliceBuffer(message.Materialize())
	}
	return message.MaterializeToBuffer(mem.DefaultBufferPool())
}

// read reads the one message of a call.
func (in *inbound) read(ctx context.Context, stream messageStream, limit int64) (mem.BufferSlice, error) {
	if err := stream.ReadMessageHeader(in.prefix[:]); err != nil {
		return nil, incomplete(err)
	}
	compressed := in.prefix[0] != 0 // with gzip, the only encoding that is registered
	length := int64(binary.BigEndian.Uint32(in.prefix[1:]))
	if err := in.reserve(ctx, length, limit); err != nil {
		return nil, err
	}
	message, err := stream.Read(int(length))
	if err != nil {
		return nil, incomplete(err)
	}
	switch err := stream.ReadMessageHeader(in.prefix[:]); {
	case err == nil:
		message.Free()
		return nil, guidon.Errorf(guidon.InvalidArgument, "received multiple request messages for one call")
	case err != io.EOF:
		message.Free()
		return nil, incomplete(err)
	}
	if compressed {
		return in.decompress(ctx, message, limit)
	}
	return message, nil
}

// reserve reserves memory for a message of the length if it is within the limit.
func (in *inbound) reserve(ctx context.Context, length, limit int64) error {
	switch {
	case length > limit:
		return guidon.Errorf(guidon.TooLarge, "received message larger than max (%d vs. %d)", length, limit)
	case length > maxUnreserved:
		return in.bodies.Raise(ctx, length)
	}
	return nil
}

// decompress returns the content of a message in gzip format, and frees the message. The
// format ends with the length of the content, which must be true.
func (in *inbound) decompress(ctx context.Context, message mem.BufferSlice, limit int64) (mem.BufferSlice, error) {
	data := message.Materialize()
	message.Free()
	var content []byte
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err == nil {
		length := int64(binary.LittleEndian.Uint32(data[len(data)-4:]))
		if err := in.reserve(ctx, length, limit); err != nil {
			return nil, err
		}
		content = make([]byte, length)
		if _, err = io.ReadFull(r, content); err == nil {
			if _, err = r.Read(make([]byte, 1)); err == io.EOF {
				return mem.BufferSlice{mem.SliceBuffer(content)}, nil
			}
		}
	}
	return nil, &guidon.Error{Code: guidon.InvalidArgument, Message: "malformed request message", Err: err}
}

// incomplete returns the error of a call whose message could not be read completely.
func incomplete(err error) error {
	switch {
	case errors.Is(err, context.Canceled), status.Code(err) == codes.Canceled:
		return context.Canceled
	case errors.Is(err, context.DeadlineExceeded), status.Code(err) == codes.DeadlineExceeded:
		return context.DeadlineExceeded
	}
	return &guidon.Error{Code: guidon.InvalidArgument, Message: "the request message is incomplete", Err: err}
}

// release releases the memory of the call. Only the strings of the message may be used
// afterwards.
func (in *inbound) release() {
	in.items.Release()
	in.bodies.Release()
	in.decoded.Release()
	in.turn.End()
	in.message, in.items = nil, nil
}

// watch ends a call whose message does not arrive in time. grpc-go waits without a limit
// for a message that a client has announced and does not send. It detects by itself that
// the caller has disconnected.
type watch struct {
	timer *time.Timer
	fired sync.WaitGroup
	err   error // set if the call was ended
}

func (c *calls) watch(ctx context.Context, o *call.Operation, stream messageStream, requestID string) *watch {
	w := &watch{}
	w.fired.Add(1)
	w.timer = time.AfterFunc(c.receiveTimeout, func() {
		defer w.fired.Done()
		defer c.recoverAs(o.Name, &w.err)
		w.err = guidon.Errorf(guidon.DeadlineExceeded, "the request message did not arrive within %s", clock.Text(c.receiveTimeout))
		sendHeader(ctx, call.Response{RequestID: requestID})
		_ = stream.WriteStatus(status.Convert(statusOf(w.err))) // it fails if the caller has disconnected
	})
	return w
}

// end stops the watch. If the watch has ended the call, end returns the error.
func (w *watch) end() error {
	if w.timer.Stop() {
		return nil
	}
	w.fired.Wait()
	return w.err
}

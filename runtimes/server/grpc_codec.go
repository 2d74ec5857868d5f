package server

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"google.golang.org/grpc/encoding"
	protocodec "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
)

// decoding bounds how deep a message may be nested. JSON bodies may be nested 64
// levels deep, and one level of a JSON object takes up to three of messages.
var decoding = proto.UnmarshalOptions{RecursionLimit: 3 * 64}

// inbound is a request message that is being received, and then the answer to it.
// err is why it could not be received: grpc-go answers the errors of a codec
// itself, as internal ones, so this one is kept from it.
type inbound struct {
	message proto.Message
	err     error
	room    *batchRoom      // of the message, or nil
	answer  mem.BufferSlice // encoded
}

// release leaves the memory of the message to other calls. Nothing of the message
// but its texts may be used any more.
func (in *inbound) release() {
	if in.room != nil {
		in.room.release()
	}
	in.message, in.room = nil, nil
}

// codec is the protobuf codec of grpc-go with errors that are fit for callers,
// and a faster way for the messages of evaluations.
type codec struct {
	encoding.CodecV2
	logger *slog.Logger
}

func newCodec(logger *slog.Logger) codec {
	return codec{CodecV2: encoding.GetCodecV2(protocodec.Name), logger: logger}
}

// Unmarshal decodes into an *inbound, or into any message of health and reflection.
func (c codec) Unmarshal(data mem.BufferSlice, v any) (err error) {
	defer c.recoverAs(&err)
	in, ok := v.(*inbound)
	if !ok {
		return c.CodecV2.Unmarshal(data, v)
	}
	encoded := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer encoded.Free()
	if in.decodeEvaluation(encoded.ReadOnlyData()) {
		return nil
	}
	if err := decoding.Unmarshal(encoded.ReadOnlyData(), in.message); err != nil {
		in.err = &guidon.Error{Code: guidon.InvalidArgument, Message: "malformed request message", Err: err}
	}
	return nil
}

// errUncodable replaces what is not for callers.
var errUncodable = errors.New(guidon.Internal.Error())

// Marshal encodes an answer, unless v is an *inbound, which has it encoded already.
// grpc-go calls it outside of all interceptors and sends the text of its error to
// the caller, so this is the place to catch a panic and to keep the cause inside.
func (c codec) Marshal(v any) (data mem.BufferSlice, err error) {
	if in, ok := v.(*inbound); ok {
		return in.answer, nil
	}
	defer c.recoverAs(&err)
	if data, ok := encodeEvaluation(v); ok {
		return data, nil
	}
	data, err = c.CodecV2.Marshal(v)
	if err != nil {
		c.logger.Error("grpc answer cannot be encoded", "type", fmt.Sprintf("%T", v), "error", err)
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

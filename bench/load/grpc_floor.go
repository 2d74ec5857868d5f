package main

import (
	"bytes"
	"context"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"
)

// floorAnswer is about as large as the response for one boolean flag.
var floorAnswer = bytes.Repeat([]byte{0x08, 0x01}, 40)

// bytesCodec passes messages through without encoding them.
type bytesCodec struct{}

func (bytesCodec) Name() string { return "proto" }

func (bytesCodec) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.([]byte))}, nil
}

func (bytesCodec) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}

// serveGRPCFloor serves the floor: the evaluation methods, without interceptors, tokens or
// flags.
func serveGRPCFloor(address string) error {
	answer := func(_ any, _ context.Context, receive func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		var request []byte
		return floorAnswer, receive(&request)
	}
	server := grpc.NewServer(grpc.ForceServerCodecV2(bytesCodec{}))
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "flipt.evaluation.EvaluationService",
		HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{
			{MethodName: "Boolean", Handler: answer}, {MethodName: "Variant", Handler: answer}, {MethodName: "Batch", Handler: answer},
		},
	}, nil)
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	return server.Serve(listener)
}

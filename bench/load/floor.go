package main

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"

	"github.com/guidonhq/guidon/bench/floor"
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

// floorPath is the path that sets the response of the floor.
const floorPath = "/floor"

// serveHTTPFloor serves the floor with net/http.
func serveHTTPFloor(address string) error {
	var answer atomic.Pointer[floor.Answer]
	server := &http.Server{Addr: address, ReadTimeout: 30 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != floorPath {
			answer.Load().ServeHTTP(w, r)
			return
		}
		status, _ := strconv.Atoi(r.FormValue("status"))
		size, _ := strconv.Atoi(r.FormValue("size"))
		answer.Store(floor.NewAnswer(status, size))
	})}
	return server.ListenAndServe()
}

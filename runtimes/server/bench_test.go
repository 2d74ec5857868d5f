package server_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"path"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/wire/evaluation"
	"github.com/guidonhq/guidon/runtimes/server"
)

// BenchmarkGRPC is an evaluation over a real connection, by a token, beside a
// bare grpc-go server that reads the same request and answers as many bytes. The
// client is in the same process and the same in both: what differs is the service.
func BenchmarkGRPC(b *testing.B) {
	metrics := server.NewMetrics(server.MetricsConfig{})
	in := start(b, func(s *settings) {
		s.handler.Authentication = handler.AuthenticationConfig{Required: true, ExcludeManagement: true, TokenMethod: true}
		s.handler.Observer = metrics
		s.handler.Logger = slog.New(slog.DiscardHandler)
	})
	const flags = 50
	items := make([]*evaluation.EvaluationRequest, flags)
	for i := range items {
		key := fmt.Sprintf("flag-%02d", i)
		in.seed(key)
		items[i] = &evaluation.EvaluationRequest{
			NamespaceKey: "default", FlagKey: key, EntityId: "user-0001",
			Context: map[string]string{"country": "US", "age": "42", "beta": "true"},
		}
	}
	token, _, err := in.service.CreateToken(b.Context(), guidon.TokenInput{Name: "bench"})
	if err != nil {
		b.Fatal(err)
	}
	ctx := metadata.AppendToOutgoingContext(b.Context(), "authorization", "Bearer "+token)
	for _, test := range []struct {
		name, method string
		request      proto.Message
	}{
		{"Boolean", "/flipt.evaluation.EvaluationService/Boolean", items[0]},
		{"Batch", "/flipt.evaluation.EvaluationService/Batch", &evaluation.BatchEvaluationRequest{Requests: items}},
	} {
		request, err := proto.MarshalOptions{Deterministic: true}.Marshal(test.request)
		if err != nil {
			b.Fatal(err)
		}
		answer := call(ctx, b, in.conn, test.method, request)
		bare := bareServer(b, test.method, answer)
		for _, peer := range []struct {
			name string
			conn *grpc.ClientConn
		}{{"bare", bare}, {"guidon", in.conn}} {
			b.Run(test.name+"/"+peer.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					call(ctx, b, peer.conn, test.method, request)
				}
			})
		}
	}
}

func call(ctx context.Context, b *testing.B, conn *grpc.ClientConn, method string, request []byte) []byte {
	b.Helper()
	var answer []byte
	if err := conn.Invoke(ctx, method, request, &answer, grpc.ForceCodecV2(rawCodec{})); err != nil {
		b.Fatal(err)
	}
	return answer
}

// bareServer returns a connection to a server that has the one method, and answers
// the same bytes every time.
func bareServer(b *testing.B, method string, answer []byte) *grpc.ClientConn {
	b.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	s := grpc.NewServer(grpc.ForceServerCodecV2(rawCodec{}))
	s.RegisterService(&grpc.ServiceDesc{
		ServiceName: strings.Trim(path.Dir(method), "/"),
		HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{
			MethodName: path.Base(method),
			Handler: func(_ any, _ context.Context, receive func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
				var request []byte
				return answer, receive(&request)
			},
		}},
	}, nil)
	go func() { _ = s.Serve(listener) }()
	b.Cleanup(s.Stop)
	conn, err := grpc.NewClient("passthrough:///"+listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close() })
	return conn
}

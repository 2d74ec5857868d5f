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

	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/wire/evaluation"
	"github.com/guidonhq/guidon/runtimes/server/metrics"
	"github.com/guidonhq/guidon/service"
)

// BenchmarkGRPC measures evaluations over a real connection, authenticated by a token.
// The baseline is a bare grpc-go server that reads the same request and returns the same
// bytes. The client is the same and in the same process, so the difference is the
// service.
func BenchmarkGRPC(b *testing.B) {
	metrics := metrics.New(metrics.Config{})
	in := start(b, func(s *settings) {
		s.handler.Authentication = call.AuthenticationConfig{Required: true, ExcludeManagement: true, TokenMethod: true}
		s.handler.Observer, s.handler.Evaluations = metrics, metrics
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
	token, _, err := in.service.CreateToken(b.Context(), service.Write{}, service.TokenInput{Name: "bench"})
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
		response := invoke(ctx, b, in.conn, test.method, request)
		bare := bareServer(b, test.method, response)
		for _, peer := range []struct {
			name string
			conn *grpc.ClientConn
		}{{"bare", bare}, {"guidon", in.conn}} {
			b.Run(test.name+"/"+peer.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					invoke(ctx, b, peer.conn, test.method, request)
				}
			})
		}
	}
}

func invoke(ctx context.Context, b *testing.B, conn *grpc.ClientConn, method string, request []byte) []byte {
	b.Helper()
	var response []byte
	if err := conn.Invoke(ctx, method, request, &response, grpc.ForceCodecV2(rawCodec{})); err != nil {
		b.Fatal(err)
	}
	return response
}

// bareServer returns a connection to a server that has only the method, which always
// returns the response.
func bareServer(b *testing.B, method string, response []byte) *grpc.ClientConn {
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
				return response, receive(&request)
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

package login

import (
	"context"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"

	_ "github.com/guidonhq/guidon/handler/wire/auth"
	_ "github.com/guidonhq/guidon/handler/wire/evaluation"
	_ "github.com/guidonhq/guidon/handler/wire/flipt"
	_ "github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/integration/harness"
)

// rpc is a connection to the gRPC API.
type rpc struct {
	service *service
	conn    *grpc.ClientConn
}

func (s *service) rpc(t *testing.T) *rpc {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///"+strings.TrimPrefix(s.GRPC, "grpc://"), grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDisableRetry())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &rpc{s, conn}
}

// result is that of a call.
type result struct {
	code    codes.Code
	message string // of an error
	body    string // JSON
	header  metadata.MD
}

// call calls the method with a message in JSON. Metadata has the form "name: value".
func (r *rpc) call(t testing.TB, method, body string, pairs ...string) result {
	t.Helper()
	found, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(strings.ReplaceAll(method, "/", ".")))
	if err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	m := found.(protoreflect.MethodDescriptor)
	in, out := dynamicpb.NewMessage(m.Input()), dynamicpb.NewMessage(m.Output())
	if err := protojson.Unmarshal([]byte(body), in); err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), harness.Patience)
	defer cancel()
	for _, p := range pairs {
		name, value, _ := strings.Cut(p, ": ")
		ctx = metadata.AppendToOutgoingContext(ctx, strings.ToLower(name), value)
	}
	var got result
	err = r.conn.Invoke(ctx, "/"+method, in, out, grpc.Header(&got.header))
	got.code, got.message = status.Code(err), status.Convert(err).Message()
	if err != nil {
		r.service.secrets.refused(method, got.message)
	} else if b, err := protojson.Marshal(out); err == nil {
		got.body = string(b)
	}
	return got
}

package server_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/api/httpbody"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/runtimes/server/metrics"
)

// rawCodec sends and receives bytes as they are.
type rawCodec struct{}

var _ encoding.CodecV2 = rawCodec{}

func (rawCodec) Name() string { return "proto" }

func (rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.([]byte))}, nil
}

func (rawCodec) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}

func (in *instance) meta(ctx context.Context) *httpbody.HttpBody {
	in.t.Helper()
	body := &httpbody.HttpBody{}
	if err := in.call(ctx, "/flipt.meta.MetadataService/GetInfo", &emptypb.Empty{}, body); err != nil {
		in.t.Fatal(err)
	}
	return body
}

// revision returns the revision of the default namespace.
func (in *instance) revision() string {
	in.t.Helper()
	var header metadata.MD
	err := in.call(in.t.Context(), "/flipt.Flipt/ListFlags", &flipt.ListFlagRequest{}, &flipt.FlagList{}, grpc.Header(&header))
	if err != nil {
		in.t.Fatal(err)
	}
	return strings.Join(header.Get("guidon-revision"), ",")
}

// nested returns a request to create the flag "deep" with nested metadata.
func nested(t *testing.T, levels int) []byte {
	t.Helper()
	metadata := &structpb.Struct{}
	for range levels - 1 {
		metadata = &structpb.Struct{Fields: map[string]*structpb.Value{"a": structpb.NewStructValue(metadata)}}
	}
	data, err := proto.Marshal(&flipt.CreateFlagRequest{Key: "deep", Name: "deep", Metadata: metadata})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// gRPC accepts the same nesting as HTTP: the 50 levels that metadata may have.
func TestGRPCAcceptsTheNestingOfHTTP(t *testing.T) {
	in := start(t, nil)
	body := `{"key":"http","name":"n","metadata":` + strings.Repeat(`{"a":`, 49) + `{}` + strings.Repeat(`}`, 49) + `}`
	if response, responseBody := in.do("POST", "/api/v1/namespaces/default/flags", body); response.StatusCode != 200 {
		t.Errorf("HTTP response: %d %s", response.StatusCode, responseBody)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var response []byte
	if err := in.conn.Invoke(ctx, "/flipt.Flipt/CreateFlag", nested(t, 50), &response, grpc.ForceCodecV2(rawCodec{})); err != nil {
		t.Error(err)
	}
}

// Invalid gRPC messages of all kinds get a clean error, are logged and counted, and
// change nothing.
func TestGRPCBadInput(t *testing.T) {
	metrics := metrics.New(metrics.Config{})
	in := start(t, func(s *settings) {
		s.handler.Observer, s.handler.Evaluations = metrics, metrics
	})
	in.seed("banner")
	before := in.revision()

	const create = "/flipt.Flipt/CreateFlag"
	big, err := proto.Marshal(&flipt.CreateFlagRequest{Key: "k", Name: "n", Description: strings.Repeat("x", 4<<20)})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name    string
		method  string
		message []byte
		want    codes.Code
		text    string
	}{
		{"too large", create, big, codes.ResourceExhausted, "larger than max"},
		{"garbage", create, []byte("\xff\xff\xff\xff"), codes.InvalidArgument, "malformed"},
		{"cut off", create, big[:100], codes.InvalidArgument, "malformed"},
		{"a field of the wrong type", create, []byte{0x08, 0x01, 0x12, 0xff}, codes.InvalidArgument, "malformed"},
		{"invalid UTF-8", create, []byte("\x0a\x01\xff\x12\x01n"), codes.InvalidArgument, "malformed"},
		{"nested too deeply", create, nested(t, 200), codes.InvalidArgument, "malformed"},
		{"empty, rejected by validation", create, nil, codes.InvalidArgument, "key"},
		{"unknown fields are ignored, then rejected by validation", create, []byte("\xf2\x3f\x01x"), codes.InvalidArgument, "key"},
		{"unknown method", "/flipt.Flipt/Nothing", nil, codes.Unimplemented, "unknown method"},
		{"unknown service", "/flipt.Nothing/CreateFlag", nil, codes.Unimplemented, "unknown service"},
		{"a disabled service", "/flipt.auth.AuthenticationMethodTokenService/CreateToken", nil, codes.Unimplemented, "unknown service"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			var response []byte
			err := in.conn.Invoke(ctx, test.method, test.message, &response, grpc.ForceCodecV2(rawCodec{}))
			if status.Code(err) != test.want || !strings.Contains(status.Convert(err).Message(), test.text) {
				t.Errorf("got %v, want %v with %q", err, test.want, test.text)
			}
		})
	}
	if after := in.revision(); after != before {
		t.Errorf("the revision is %s after bad input, want %s", after, before)
	}
	if !strings.Contains(in.log.String(), "the request could not be decoded") {
		t.Error("the log lacks the rejected requests")
	}
	// grpc-go responds to a message above its own limit before the method, which counts
	// it, gets the error. A graceful stop waits for the method.
	in.cancel()
	if err := in.wait(); err != nil {
		t.Errorf("Run: %v", err)
	}
	counted := scrape(t, metrics, `grpc_server_handled_total{grpc_code="ResourceExhausted",grpc_method="CreateFlag"`)
	if len(counted) != 1 || !strings.HasSuffix(counted[0], " 1") {
		t.Errorf("oversized messages counted: %q, want 1", counted)
	}
}

// A call whose message is announced and not sent ends after the timeout. It is logged
// like any other call.
func TestGRPCSilentClient(t *testing.T) {
	in := start(t, func(s *settings) { s.server.GRPC.ReceiveTimeout = 10 * time.Millisecond })
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	description := &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}
	stream, err := in.conn.NewStream(ctx, description, "/flipt.Flipt/CreateFlag")
	if err != nil {
		t.Fatal(err)
	}
	err = stream.RecvMsg(&flipt.Flag{})
	if status.Code(err) != codes.DeadlineExceeded || !strings.Contains(status.Convert(err).Message(), "did not arrive") {
		t.Errorf("got %v, want DeadlineExceeded from the server", err)
	}
	header, err := stream.Header()
	if err != nil || len(header.Get("x-request-id")) != 1 {
		t.Errorf("the response has the metadata %v (error %v), want a request id", header, err)
	}
	in.cancel()
	if err := in.wait(); err != nil {
		t.Errorf("Run: %v", err)
	}
	if got := strings.Count(in.log.String(), "operation=/flipt.Flipt/CreateFlag"); got != 1 {
		t.Errorf("the log has the call %d times, want once", got)
	}
}

// A unary call with two messages violates the protocol and is not run.
func TestGRPCTwoMessages(t *testing.T) {
	in := start(t, nil)
	before := in.revision()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	description := &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}
	stream, err := in.conn.NewStream(ctx, description, "/flipt.Flipt/CreateFlag")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if err := stream.SendMsg(&flipt.CreateFlagRequest{Key: fmt.Sprint("k", i), Name: "n"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := stream.RecvMsg(&flipt.Flag{}); err == nil {
		t.Error("two messages were accepted for one call")
	}
	if after := in.revision(); after != before {
		t.Errorf("the revision is %s, want %s", after, before)
	}
}

// A status message must be valid UTF-8, even if it quotes caller input or contains
// control characters.
func TestGRPCErrorTextIsClean(t *testing.T) {
	in := start(t, nil)
	err := in.call(t.Context(), "/flipt.Flipt/GetFlag", &flipt.GetFlagRequest{Key: "a\n\x01ü"}, &flipt.Flag{})
	if got, want := status.Code(err), codes.NotFound; got != want {
		t.Errorf("got %v, want %v", err, want)
	}
}

// squeezed is the compressor "gzip" with a content that a test may damage.
type squeezed struct{ damage func(data []byte) []byte }

func (s squeezed) Do(w io.Writer, p []byte) error {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(p)
	_ = z.Close()
	_, err := w.Write(s.damage(b.Bytes()))
	return err
}

func (squeezed) Type() string { return "gzip" }

// A request may be compressed with gzip, as most clients can be told to. Its content has the
// limits of one that is not.
func TestGRPCCompressedMessage(t *testing.T) {
	in := start(t, nil)
	whole := func(data []byte) []byte { return data }
	for _, test := range []struct {
		name        string
		description int // bytes
		damage      func([]byte) []byte
		want        codes.Code
		text        string
	}{
		{"small", 1, whole, codes.OK, ""},
		{"large", 3 << 20, whole, codes.OK, ""},
		{"too large", 4 << 20, whole, codes.ResourceExhausted, "received message larger than max (4194323 vs. 4194304)"},
		{"nothing", 1, func([]byte) []byte { return nil }, codes.InvalidArgument, "malformed request message"},
		{"not compressed", 1, func([]byte) []byte { return []byte("\x0a\x01a\x12\x01n") }, codes.InvalidArgument, "malformed request message"},
		{"damaged", 1 << 10, func(data []byte) []byte { data[12] = ^data[12]; return data }, codes.InvalidArgument, "malformed request message"},
		{"a wrong checksum", 1, func(data []byte) []byte { data[len(data)-8]++; return data }, codes.InvalidArgument, "malformed request message"},
		{"more than it says", 1 << 10, func(data []byte) []byte { data[len(data)-3] = 0; return data }, codes.InvalidArgument, "malformed request message"},
		{"less than it says", 1 << 10, func(data []byte) []byte { data[len(data)-2] = 9; return data }, codes.InvalidArgument, "malformed request message"},
	} {
		t.Run(test.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			compressed := grpc.WithCompressor(squeezed{test.damage}) //lint:ignore SA1019 the other one is that of all connections
			conn, err := grpc.NewClient(in.conn.Target(), grpc.WithTransportCredentials(insecure.NewCredentials()), compressed)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			request := &flipt.CreateFlagRequest{Key: strings.ReplaceAll(test.name, " ", "-"), Name: "n", Description: strings.Repeat("x", test.description)}
			err = conn.Invoke(ctx, "/flipt.Flipt/CreateFlag", request, &flipt.Flag{})
			if got := status.Convert(err); got.Code() != test.want || got.Message() != test.text {
				t.Errorf("got %v, want %v %q", err, test.want, test.text)
			}
		})
	}
	if used := in.reserved(); used != 0 {
		t.Errorf("%d bytes are reserved after all calls", used)
	}
}

package server_test

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/wire/evaluation"
	"github.com/guidonhq/guidon/handler/wire/flipt"
)

const (
	batchMethod       = "/flipt.evaluation.EvaluationService/Batch"
	legacyBatchMethod = "/flipt.Flipt/BatchEvaluate"
)

// required makes authentication required.
func required(s *settings) {
	s.handler.Authentication = call.AuthenticationConfig{Required: true, TokenMethod: true}
}

// silent opens a call, sends no message and returns the error that ends the call.
func (in *instance) silent(ctx context.Context, method string) error {
	in.t.Helper()
	stream, err := in.conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, method)
	if err != nil {
		in.t.Fatal(err)
	}
	return stream.RecvMsg(&flipt.Flag{})
}

// A caller without a valid credential is rejected before its message is received, by
// every operation.
func TestGRPCNoMessageBeforeCredential(t *testing.T) {
	in := start(t, func(s *settings) {
		required(s)
		s.server.GRPC.ReceiveTimeout = time.Hour
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for _, o := range handler.Operations() {
		if o.Area == call.AreaPublic {
			continue
		}
		for _, authorization := range []string{"", "Bearer wrong"} {
			ctx := metadata.AppendToOutgoingContext(ctx, "authorization", authorization)
			if err := in.silent(ctx, o.Name); status.Code(err) != codes.Unauthenticated {
				t.Errorf("%s with %q: got %v, want Unauthenticated", o.Name, authorization, err)
			}
		}
	}
}

// A message of many values is rejected by their number, before they are decoded.
func TestGRPCValues(t *testing.T) {
	in := start(t, nil)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	entry := []byte("\x2a\x04\x0a\x00\x12\x00") // an entry of a context, in a request
	request := bytes.Repeat(entry, 1000)
	nested := bytes.Repeat(append([]byte{0x1a, 0xf0, 0x2e}, request...), 100)
	const most = "more than 100000 values"
	for _, test := range []struct {
		name, method string
		message      []byte
		want         string
	}{
		{"batch", batchMethod, bytes.Repeat([]byte("\x1a\x00"), 200_000), most},
		{"legacy batch", legacyBatchMethod, bytes.Repeat([]byte("\x12\x00"), 200_000), most},
		{"context", "/flipt.evaluation.EvaluationService/Boolean", bytes.Repeat([]byte("\x2a\x00"), 200_000), most},
		{"nested", batchMethod, nested, most},
		{"an unknown field", batchMethod, bytes.Repeat([]byte("\x58\x01"), 200_000), most},
		{"import", "/guidon.v1.DocumentService/Import", append([]byte{0x12, 0xc0, 0x9a, 0x0c}, bytes.Repeat([]byte("\x12\x00"), 100_000)...), "more than 600000 values, of which each object counts as 6; import it over HTTP"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var response []byte
			err := in.conn.Invoke(ctx, test.method, test.message, &response, grpc.ForceCodecV2(rawCodec{}))
			if status.Code(err) != codes.ResourceExhausted || !strings.Contains(status.Convert(err).Message(), test.want) {
				t.Errorf("got %v, want ResourceExhausted that names the limit", err)
			}
		})
	}
	if used := in.reserved(); used != 0 {
		t.Errorf("%d bytes are reserved after all calls", used)
	}
}

// reserved returns how many bytes are reserved for requests and responses.
func (in *instance) reserved() int64 {
	b := in.handler.Budget()
	return b.Bodies.Stats().Used + b.Messages.Stats().Used + b.Responses.Stats().Used
}

// counter is an observer that records the code of the last call of each operation.
type counter struct {
	mu       sync.Mutex
	finished map[string]guidon.Code
}

func (c *counter) Finished(operation, _ string, code guidon.Code, _ time.Duration, _ string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.finished[operation] = code
}

// A call with a rejected message is logged once, with the request id of the client and at
// the level of client errors, and reported to the observer.
func TestGRPCRejectionIsAnEvent(t *testing.T) {
	observer := &counter{finished: map[string]guidon.Code{}}
	in := start(t, func(s *settings) { s.handler.Observer = observer })
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	ctx = metadata.AppendToOutgoingContext(ctx, "x-request-id", "mine-1")
	var response []byte
	var header metadata.MD
	err := in.conn.Invoke(ctx, "/flipt.Flipt/CreateFlag", []byte("\xff\xff"), &response, grpc.ForceCodecV2(rawCodec{}), grpc.Header(&header))
	if status.Code(err) != codes.InvalidArgument {
		t.Errorf("got %v, want InvalidArgument", err)
	}
	if got := header.Get("x-request-id"); len(got) != 1 || got[0] != "mine-1" {
		t.Errorf("the response has the request id %q, want the client's", got)
	}
	in.cancel()
	if err := in.wait(); err != nil {
		t.Errorf("Run: %v", err)
	}
	var lines []string
	for line := range strings.Lines(in.log.String()) {
		if strings.Contains(line, "request_id=mine-1") {
			lines = append(lines, line)
		}
	}
	if len(lines) != 1 || !strings.Contains(lines[0], "level=INFO") || !strings.Contains(lines[0], "could not be decoded") {
		t.Errorf("the log has %q, want one line at the level info", lines)
	}
	if got := observer.finished["/flipt.Flipt/CreateFlag"]; got != guidon.InvalidArgument {
		t.Errorf("the observer got %v, want InvalidArgument", got)
	}
}

// A client that requests large responses and does not read them is disconnected, and the
// memory of the responses is released.
func TestGRPCClientThatDoesNotRead(t *testing.T) {
	in := start(t, func(s *settings) { s.server.HTTP.WriteTimeout = 500 * time.Millisecond })
	long := strings.Repeat("f", 200) // repeated in every item of the response
	in.seed(long)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	batch := &evaluation.BatchEvaluationRequest{}
	for range 1000 {
		batch.Requests = append(batch.Requests, &evaluation.EvaluationRequest{FlagKey: long, EntityId: "e"})
	}
	message, err := proto.Marshal(batch)
	if err != nil {
		t.Fatal(err)
	}
	conn := in.dial(
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithStaticStreamWindowSize(64<<10), grpc.WithStaticConnWindowSize(64<<10), // less than the response
	)
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, batchMethod, grpc.ForceCodecV2(rawCodec{}))
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.SendMsg(message); err != nil {
		t.Fatal(err)
	}
	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	if !conn.WaitForStateChange(ctx, connectivity.Ready) {
		t.Fatal("the client was not disconnected")
	}
	in.cancel()
	if err := in.wait(); err != nil {
		t.Errorf("Run: %v", err)
	}
	if used := in.reserved(); used != 0 {
		t.Errorf("%d bytes are reserved after the stop", used)
	}
}

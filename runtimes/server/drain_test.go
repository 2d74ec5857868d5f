package server_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/stats"

	"github.com/guidonhq/guidon/handler/wire/evaluation"
)

// stopping starts a server, calls prepare and starts to stop the server. The stop lasts
// until the test ends.
func stopping(t *testing.T, prepare func(*instance)) *instance {
	t.Helper()
	abort := make(chan struct{})
	in := start(t, func(s *settings) {
		s.server.ShutdownDelay = time.Hour
		s.server.Abort = abort
	})
	t.Cleanup(func() {
		close(abort)
		_ = in.wait()
	})
	in.seed("banner")
	watch := in.watch()
	prepare(in)
	in.cancel()
	in.next(watch, healthpb.HealthCheckResponse_NOT_SERVING)
	return in
}

// dialRaw returns a connection to the HTTP listener.
func (in *instance) dialRaw() (net.Conn, *bufio.Reader) {
	in.t.Helper()
	conn, err := net.Dial("tcp", in.httpAt.String())
	if err != nil {
		in.t.Fatal(err)
	}
	in.t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	return conn, bufio.NewReader(conn)
}

// exchangeRaw sends the request and returns the response after reading its body.
func exchangeRaw(t *testing.T, conn net.Conn, responses *bufio.Reader, method, text string) *http.Response {
	t.Helper()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(responses, &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return response
}

// During the delay, each response on a connection, old or new, announces that the
// connection closes, and it does. Before that, no response does.
func TestDelayTellsHTTPClientsToClose(t *testing.T) {
	const healthy = "GET /health HTTP/1.1\r\nHost: a\r\n\r\n"
	requests := []struct{ name, method, text string }{
		{"success", "POST", "POST /evaluate/v1/boolean HTTP/1.1\r\nHost: a\r\nContent-Length: 36\r\n\r\n" + `{"flagKey":"banner","entityId":"e" }`},
		{"error", "GET", "GET /api/v1/namespaces/absent HTTP/1.1\r\nHost: a\r\n\r\n"},
		{"no such path", "GET", "GET /absent HTTP/1.1\r\nHost: a\r\n\r\n"},
		{"head", "HEAD", "HEAD /health HTTP/1.1\r\nHost: a\r\n\r\n"},
		{"health", "GET", healthy},
		{"HTTP/1.0", "GET", "GET /health HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n"},
	}
	type open struct {
		net.Conn
		responses *bufio.Reader
	}
	conns := make([]open, len(requests))
	in := stopping(t, func(in *instance) {
		for i := range conns {
			conns[i].Conn, conns[i].responses = in.dialRaw()
			if response := exchangeRaw(t, conns[i], conns[i].responses, "GET", healthy); response.Close {
				t.Error("before the stop, a response announces that the connection closes")
			}
		}
	})
	for i, request := range requests {
		fresh, responses := in.dialRaw()
		for age, conn := range map[string]open{"old": conns[i], "new": {fresh, responses}} {
			response := exchangeRaw(t, conn, conn.responses, request.method, request.text)
			if !response.Close {
				t.Errorf("%s, %s connection: the response does not announce that the connection closes", request.name, age)
			}
			if _, err := conn.responses.ReadByte(); !errors.Is(err, io.EOF) {
				t.Errorf("%s, %s connection: got %v, want the end of the connection", request.name, age, err)
			}
		}
	}
}

// A request that is received in part before the stop is answered while the server drains,
// however late the rest arrives.
func TestDrainAnswersWhatArrives(t *testing.T) {
	in := start(t, nil)
	in.seed("banner")
	half, responses := in.dialRaw()
	if response := exchangeRaw(t, half, responses, "GET", "GET /health HTTP/1.1\r\nHost: a\r\n\r\n"); response.Close {
		t.Fatal("the connection closes")
	}
	idle, ended := in.dialRaw()
	exchangeRaw(t, idle, ended, "GET", "GET /health HTTP/1.1\r\nHost: a\r\n\r\n")
	if _, err := io.WriteString(half, "GET /health HTTP/1.1\r\nHo"); err != nil {
		t.Fatal(err)
	}
	in.cancel()
	if _, err := ended.ReadByte(); !errors.Is(err, io.EOF) { // by then the half request has waited as long
		t.Errorf("the idle connection: got %v, want its end", err)
	}
	if response := exchangeRaw(t, half, responses, "GET", "st: a\r\n\r\n"); response.StatusCode != http.StatusServiceUnavailable || !response.Close {
		t.Errorf("got status %d, closing %v; want status 503 and a closing connection", response.StatusCode, response.Close)
	}
	if err := in.wait(); err != nil {
		t.Errorf("Run: %v", err)
	}
}

// connections notifies a test of the connections that a gRPC client opens.
type connections struct{ opened chan struct{} }

func (c *connections) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context   { return ctx }
func (c *connections) HandleRPC(context.Context, stats.RPCStats)                         {}
func (c *connections) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (c *connections) HandleConn(_ context.Context, s stats.ConnStats) {
	if _, ok := s.(*stats.ConnBegin); ok {
		c.opened <- struct{}{}
	}
}

// During the delay, gRPC clients are told to reconnect, and calls over their new
// connections succeed.
func TestDelayTellsGRPCClientsToReconnect(t *testing.T) {
	var conn *grpc.ClientConn
	opened := &connections{opened: make(chan struct{}, 16)}
	evaluate := func() error {
		request := &evaluation.EvaluationRequest{FlagKey: "banner", EntityId: "e"}
		return conn.Invoke(t.Context(), evaluateBoolean, request, &evaluation.BooleanEvaluationResponse{})
	}
	stopping(t, func(in *instance) {
		conn = in.dial(grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithStatsHandler(opened), grpc.WithDisableRetry())
		if err := evaluate(); err != nil {
			t.Fatal(err)
		}
		await(t, "the first connection", opened.opened)
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for conn.GetState() != connectivity.Idle { // idle means that it has received GOAWAY
		if !conn.WaitForStateChange(ctx, conn.GetState()) {
			t.Fatalf("the connection stays %v", conn.GetState())
		}
	}
	if err := evaluate(); err != nil {
		t.Error(err)
	}
	await(t, "the second connection", opened.opened)
	if err := evaluate(); err != nil {
		t.Error(err)
	}
}

// A connection whose client sends nothing does not keep gRPC from draining.
func TestStopDespiteSilentGRPCConnection(t *testing.T) {
	in := start(t, func(s *settings) { s.server.ShutdownTimeout = time.Hour })
	silent, err := net.Dial("tcp", in.grpcAt.String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	if err := in.call(t.Context(), "/grpc.health.v1.Health/Check", &healthpb.HealthCheckRequest{}, &healthpb.HealthCheckResponse{}); err != nil {
		t.Fatal(err)
	}
	in.cancel()
	if err := in.wait(); err != nil {
		t.Errorf("Run: %v", err)
	}
}

// The write timeout counts from the start of the response.
func TestWriteTimeoutStartsWithResponse(t *testing.T) {
	const soon = 50 * time.Millisecond
	g := newGate()
	in := start(t, func(s *settings) {
		s.handler.Observer, s.handler.Evaluations = g, g
		s.server.HTTP.WriteTimeout = soon
	})
	in.seed("banner")
	result := make(chan error, 1)
	go func() {
		response, err := http.Post(in.http+"/evaluate/v1/boolean", "application/json", strings.NewReader(`{"flagKey":"banner","entityId":"e"}`))
		if err == nil {
			err = response.Body.Close()
		}
		result <- err
	}()
	await(t, "the request", g.entered)
	time.Sleep(3 * soon) // longer than the write timeout
	close(g.open)
	if err := <-result; err != nil {
		t.Error(err)
	}
}

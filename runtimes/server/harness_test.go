package server_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"
	_ "modernc.org/sqlite"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/evaluation"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/runtimes/server"
	"github.com/guidonhq/guidon/runtimes/server/metrics"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store/cache"
	"github.com/guidonhq/guidon/store/storetest"
)

// patience limits every wait of a test. Waits normally take far less time.
const patience = 30 * time.Second

// instance is a running server on loopback ports of its own.
type instance struct {
	t       testing.TB
	service *service.Service
	handler *handler.Handler
	log     *syncBuffer
	http    string // base URL
	httpAt  net.Addr
	grpcAt  net.Addr
	conn    *grpc.ClientConn // plaintext

	cancel context.CancelFunc
	ended  chan error
	once   sync.Once
	result error
}

// settings is the configuration that a test may change before the start.
type settings struct {
	handler handler.Config
	server  server.Config
}

// newService returns a service over a fresh SQLite file.
func newService(t testing.TB) *service.Service {
	t.Helper()
	return service.NewService(cache.New(storetest.NewSQLite(t)), time.Now)
}

// start runs a server until the test ends.
func start(t testing.TB, change func(*settings)) *instance {
	t.Helper()
	in := &instance{t: t, service: newService(t), log: &syncBuffer{}, ended: make(chan error, 1)}
	logger := slog.New(slog.NewTextHandler(in.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	health := server.NewHealth()
	s := settings{
		handler: handler.Config{Service: in.service, Health: health.Status, Logger: logger},
		server: server.Config{
			Health: health, Logger: logger,
			HTTP: server.HTTP{Address: "127.0.0.1:0"}, GRPC: server.GRPC{Address: "127.0.0.1:0"},
		},
	}
	if change != nil {
		change(&s)
	}
	in.handler = handler.New(s.handler)
	s.server.Handler = in.handler
	ready := make(chan struct{})
	s.server.OnReady = func(http, grpc net.Addr) {
		in.httpAt, in.grpcAt = http, grpc
		close(ready)
	}
	var ctx context.Context
	ctx, in.cancel = context.WithCancel(context.Background())
	go func() { in.ended <- server.Run(ctx, s.server) }()
	await(t, "the start", ready)
	t.Cleanup(func() {
		in.cancel()
		in.wait()
	})
	in.http = "http://" + in.httpAt.String()
	in.conn = in.dial(grpc.WithTransportCredentials(insecure.NewCredentials()))
	return in
}

// dial returns a gRPC connection to the server.
func (in *instance) dial(options ...grpc.DialOption) *grpc.ClientConn {
	in.t.Helper()
	conn, err := grpc.NewClient("passthrough:///"+in.grpcAt.String(), options...)
	if err != nil {
		in.t.Fatal(err)
	}
	in.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// wait waits for Run and returns its result.
func (in *instance) wait() error {
	in.t.Helper()
	in.once.Do(func() {
		select {
		case in.result = <-in.ended:
		case <-time.After(patience):
			in.t.Fatal("Run did not return")
		}
	})
	return in.result
}

// call makes a unary gRPC call.
func (in *instance) call(ctx context.Context, method string, request, response proto.Message, options ...grpc.CallOption) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return in.conn.Invoke(ctx, method, request, response, options...)
}

// do makes an HTTP request and returns the response with its body.
func (in *instance) do(method, path, body string) (*http.Response, []byte) {
	in.t.Helper()
	request, err := http.NewRequestWithContext(in.t.Context(), method, in.http+path, strings.NewReader(body))
	if err != nil {
		in.t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	response, err := client.Do(request)
	if err != nil {
		in.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		in.t.Fatal(err)
	}
	return response, data
}

// seed creates boolean flags in the default namespace.
func (in *instance) seed(keys ...string) {
	in.t.Helper()
	for _, key := range keys {
		request := &flipt.CreateFlagRequest{Key: key, Name: key, Type: flipt.FlagType_BOOLEAN_FLAG_TYPE, Enabled: true}
		if err := in.call(in.t.Context(), "/flipt.Flipt/CreateFlag", request, &flipt.Flag{}); err != nil {
			in.t.Fatal(err)
		}
	}
}

func await(t testing.TB, what string, event <-chan struct{}) {
	t.Helper()
	select {
	case <-event:
	case <-time.After(patience):
		t.Fatalf("timed out waiting for %s", what)
	}
}

// syncBuffer is a log that can be read while it is written.
type syncBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}

// gate is an observer that blocks every evaluation until it is opened.
type gate struct {
	entered chan struct{} // one for each request
	open    chan struct{}
}

func newGate() *gate {
	return &gate{entered: make(chan struct{}, 16), open: make(chan struct{})}
}

func (g *gate) Finished(string, string, guidon.Code, time.Duration, string) {}

func (g *gate) SnapshotRequested(string, int) {}

func (g *gate) Evaluated([]evaluation.Event) {
	g.entered <- struct{}{}
	<-g.open
}

// scrape returns the lines of the metrics that begin with the prefix.
func scrape(t testing.TB, m *metrics.Registry, prefix string) []string {
	t.Helper()
	recorder := httptest.NewRecorder()
	m.Handler().ServeHTTP(recorder, httptest.NewRequest("GET", "/metrics", nil))
	var lines []string
	for line := range strings.Lines(recorder.Body.String()) {
		if strings.HasPrefix(line, prefix) {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	return lines
}

package server_test

import (
	"context"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	"github.com/guidonhq/guidon/handler/wire/evaluation"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/runtimes/server"
)

const evaluateBoolean = "/flipt.evaluation.EvaluationService/Boolean"

// evaluateBoth starts an evaluation over each transport and returns when both are in
// progress. The channel receives their errors.
func (in *instance) evaluateBoth(g *gate) <-chan error {
	in.t.Helper()
	results := make(chan error, 2)
	go func() {
		request := &evaluation.EvaluationRequest{FlagKey: "banner", EntityId: "e"}
		results <- in.call(context.Background(), evaluateBoolean, request, &evaluation.BooleanEvaluationResponse{})
	}()
	go func() {
		response, err := http.Post(in.http+"/evaluate/v1/boolean", "application/json",
			strings.NewReader(`{"flagKey":"banner","entityId":"e"}`))
		if err == nil {
			err = response.Body.Close()
		}
		results <- err
	}()
	await(in.t, "the first request", g.entered)
	await(in.t, "the second request", g.entered)
	return results
}

// watch opens a health watch and reads the first state, which is SERVING.
func (in *instance) watch() healthpb.Health_WatchClient {
	in.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	in.t.Cleanup(cancel)
	stream, err := healthpb.NewHealthClient(in.conn).Watch(ctx, &healthpb.HealthCheckRequest{})
	if err != nil {
		in.t.Fatal(err)
	}
	in.next(stream, healthpb.HealthCheckResponse_SERVING)
	return stream
}

func (in *instance) next(stream healthpb.Health_WatchClient, want healthpb.HealthCheckResponse_ServingStatus) {
	in.t.Helper()
	got, err := stream.Recv()
	if err != nil {
		in.t.Fatal(err)
	}
	if got.GetStatus() != want {
		in.t.Fatalf("health is %v, want %v", got.GetStatus(), want)
	}
}

// The stop first sets health to not serving, and requests are still served during the
// configured delay.
func TestStopTurnsHealthOffBeforeItDrains(t *testing.T) {
	abort := make(chan struct{})
	in := start(t, func(s *settings) {
		s.server.ShutdownDelay = time.Hour
		s.server.Abort = abort
	})
	in.seed("banner")
	watch := in.watch()
	if response, _ := in.do("GET", "/health", ""); response.StatusCode != http.StatusOK {
		t.Errorf("before the stop GET /health is %d", response.StatusCode)
	}
	in.cancel()
	in.next(watch, healthpb.HealthCheckResponse_NOT_SERVING)

	if response, body := in.do("GET", "/health", ""); response.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("GET /health is %d %s, want 503", response.StatusCode, body)
	}
	for _, service := range []string{"", "flipt.Flipt"} {
		got, err := healthpb.NewHealthClient(in.conn).Check(t.Context(), &healthpb.HealthCheckRequest{Service: service})
		if err != nil || got.GetStatus() != healthpb.HealthCheckResponse_NOT_SERVING {
			t.Errorf("health of %q is %v, %v, want NOT_SERVING", service, got.GetStatus(), err)
		}
	}
	if err := in.call(t.Context(), "/flipt.Flipt/GetFlag", &flipt.GetFlagRequest{Key: "banner"}, &flipt.Flag{}); err != nil {
		t.Errorf("a call during the delay: %v", err)
	}
	close(abort)
	_ = in.wait()
}

// Without a delay, a watcher still sees the last change before its stream ends, and the
// stream does not delay the stop.
func TestStopEndsWatchesAfterTheLastChange(t *testing.T) {
	in := start(t, nil)
	watch := in.watch()
	in.cancel()
	in.next(watch, healthpb.HealthCheckResponse_NOT_SERVING)
	if _, err := watch.Recv(); status.Code(err) != codes.Unavailable {
		t.Errorf("the watch ended with %v, want Unavailable", err)
	}
	if err := in.wait(); err != nil {
		t.Errorf("Run: %v", err)
	}
}

// Requests in progress finish.
func TestStopLetsRequestsFinish(t *testing.T) {
	g := newGate()
	in := start(t, func(s *settings) { s.handler.Observer, s.handler.Evaluations = g, g })
	in.seed("banner")
	watch := in.watch()
	results := in.evaluateBoth(g)
	in.cancel()
	in.next(watch, healthpb.HealthCheckResponse_NOT_SERVING)
	if _, err := watch.Recv(); err == nil {
		t.Fatal("the watch continues while the server drains")
	}
	close(g.open) // only now, while the server drains
	for range 2 {
		if err := <-results; err != nil {
			t.Errorf("a request in progress failed: %v", err)
		}
	}
	if err := in.wait(); err != nil {
		t.Errorf("Run: %v", err)
	}
}

// Requests that do not finish within the shutdown timeout are aborted.
func TestStopAbortsStuckRequestsAtTheTimeout(t *testing.T) {
	g := newGate()
	in := start(t, func(s *settings) {
		s.handler.Observer, s.handler.Evaluations = g, g
		s.server.ShutdownTimeout = 20 * time.Millisecond
	})
	in.seed("banner")
	results := in.evaluateBoth(g)
	in.cancel()
	err := in.wait()
	for range 2 {
		if err := <-results; err == nil {
			t.Error("a stuck request was answered")
		}
	}
	close(g.open)
	for _, want := range []string{"aborted HTTP requests", "aborted gRPC requests", "20ms"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Run returned %v, want an error with %q", err, want)
		}
	}
}

// A second signal ends the server immediately.
func TestAbortEndsTheStopImmediately(t *testing.T) {
	g := newGate()
	abort := make(chan struct{})
	in := start(t, func(s *settings) {
		s.handler.Observer, s.handler.Evaluations = g, g
		s.server.Abort = abort
		s.server.ShutdownTimeout = time.Hour
	})
	in.seed("banner")
	results := in.evaluateBoth(g)
	in.cancel()
	close(abort)
	err := in.wait()
	close(g.open)
	<-results
	<-results
	if err == nil || !strings.Contains(err.Error(), "cut short") {
		t.Errorf("Run returned %v, want an error with %q", err, "cut short")
	}
}

// Loops continue while requests drain, and have ended when Run returns.
func TestStopEndsLoopsLast(t *testing.T) {
	g := newGate()
	began, ended := make(chan struct{}), make(chan struct{})
	in := start(t, func(s *settings) {
		s.handler.Observer, s.handler.Evaluations = g, g
		s.server.Loops = []server.Loop{{Name: "test", Interval: time.Millisecond, Run: func(ctx context.Context) error {
			close(began)
			<-ctx.Done()
			close(ended)
			return nil
		}}}
	})
	in.seed("banner")
	await(t, "the loop", began)
	watch := in.watch()
	results := in.evaluateBoth(g)
	in.cancel()
	in.next(watch, healthpb.HealthCheckResponse_NOT_SERVING)
	if _, err := watch.Recv(); err == nil {
		t.Fatal("the watch continues while the server drains")
	}
	select {
	case <-ended:
		t.Error("the loop ended before the requests")
	default:
	}
	close(g.open)
	<-results
	<-results
	if err := in.wait(); err != nil {
		t.Errorf("Run: %v", err)
	}
	select {
	case <-ended:
	default:
		t.Error("the loop outlives Run")
	}
}

// No goroutine outlives Run, not even those of clients that never sent a message or
// finished a call.
func TestNoGoroutineOutlivesRun(t *testing.T) {
	in := start(t, func(s *settings) {
		s.server.GRPC.ReceiveTimeout = time.Millisecond
		s.server.Loops = []server.Loop{{Name: "test", Interval: time.Hour, Run: func(context.Context) error { return nil }}}
	})
	in.watch()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	silent, err := in.conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true}, "/flipt.Flipt/CreateFlag")
	if err != nil {
		t.Fatal(err)
	}
	if err := silent.RecvMsg(&flipt.Flag{}); err == nil {
		t.Fatal("a silent client was answered")
	}
	if _, err := reflectionv1.NewServerReflectionClient(in.conn).ServerReflectionInfo(ctx); err != nil {
		t.Fatal(err)
	}
	in.cancel()
	if err := in.wait(); err != nil {
		t.Errorf("Run: %v", err)
	}
	// Goroutines that have finished their work may still be executing their last
	// instructions.
	var left string
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); runtime.Gosched() {
		if left = ours(); left == "" {
			return
		}
	}
	t.Errorf("goroutines left:\n%s", left)
}

// ours returns the stacks of goroutines in package server.
func ours() string {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	var left []string
	for stack := range strings.SplitSeq(string(stacks), "\n\n") {
		if strings.Contains(stack, "runtimes/server.") {
			left = append(left, stack)
		}
	}
	return strings.Join(left, "\n\n")
}

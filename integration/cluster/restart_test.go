package cluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/resolver/manual"

	"github.com/guidonhq/guidon/handler/wire/evaluation"
	"github.com/guidonhq/guidon/integration/harness"
)

// TestRestartInTurn restarts three instances one after the other, under load through a
// balancer and from gRPC clients. No request fails, although the clients never retry.
func TestRestartInTurn(t *testing.T) {
	harness.Postgres.Need(t)
	const connections = 200
	database := harness.Postgres.Migrated(t)
	c := make(cluster, instances)
	env := make([][]string, instances)
	for i := range c {
		env[i] = append(fixedPorts(t), "GUIDON_SERVER_SHUTDOWN_DELAY=1s", "GUIDON_LOG_LEVEL=info")
		c[i] = harness.Start(t, database, env[i]...)
	}
	seedShutdown(t, c[0], nil)

	results := &results{}
	b := newBalancer(t, c)
	stop := make(chan struct{})
	var calling sync.WaitGroup
	for range connections {
		calling.Go(func() { b.work(stop, results) })
	}
	for _, policy := range []string{"round_robin", "pick_first"} {
		for range 5 {
			conn := dialGRPC(t, c, policy)
			for range 4 {
				calling.Go(func() { callGRPC(conn, policy, stop, results) })
			}
		}
	}
	for i := range c {
		results.await(t, 5*connections)
		c[i].Signal(t, syscall.SIGTERM)
		if code := c[i].Wait(t); code != 0 {
			t.Errorf("instance %d: exit code %d, want 0\n%s", i, code, c[i].Log())
		}
		c[i] = harness.Start(t, database, env[i]...)
		b.awaitHealthy(t, i)
	}
	results.await(t, 5*connections)
	close(stop)
	calling.Wait()
	results.check(t)
}

// fixedPorts returns settings with free ports, so that an instance can be restarted on the
// same ones.
func fixedPorts(t *testing.T) []string {
	t.Helper()
	var ports []string
	for range 2 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ports = append(ports, strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
	}
	return []string{"GUIDON_SERVER_HTTP_PORT=" + ports[0], "GUIDON_SERVER_GRPC_PORT=" + ports[1]}
}

// results counts the outcomes of requests.
type results struct {
	http, grpc atomic.Int64
	mu         sync.Mutex
	failed     []error
}

func (r *results) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = append(r.failed, fmt.Errorf("%s: %w", time.Now().Format("05.000"), err))
}

// await waits for n further responses over each transport.
func (r *results) await(t *testing.T, n int64) {
	t.Helper()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	overHTTP, overGRPC := r.http.Load()+n, r.grpc.Load()+n
	for end := time.Now().Add(harness.Patience); r.http.Load() < overHTTP || r.grpc.Load() < overGRPC; <-again.C {
		if time.Now().After(end) {
			r.check(t)
			t.Fatal("too few responses")
		}
	}
}

func (r *results) check(t *testing.T) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, err := range r.failed[:min(len(r.failed), 5)] {
		t.Error(err)
	}
	if len(r.failed) > 0 {
		t.Errorf("%d requests failed", len(r.failed))
	}
	t.Logf("%d responses over HTTP, %d over gRPC", r.http.Load(), r.grpc.Load())
}

// balancer distributes requests over the healthy instances. Each worker keeps one
// connection per instance and never retries a request.
type balancer struct {
	addresses []string
	healthy   []atomic.Bool
	left      []atomic.Uint32 // how often the instance became unhealthy
	next      atomic.Uint32
}

func newBalancer(t *testing.T, c cluster) *balancer {
	t.Helper()
	b := &balancer{healthy: make([]atomic.Bool, len(c)), left: make([]atomic.Uint32, len(c))}
	for _, s := range c {
		b.addresses = append(b.addresses, strings.TrimPrefix(s.URL, "http://"))
	}
	ctx, cancel := context.WithCancel(context.Background())
	var polling sync.WaitGroup
	for i := range c {
		polling.Go(func() { b.poll(ctx, i) })
	}
	t.Cleanup(func() {
		cancel()
		polling.Wait()
	})
	for i := range c {
		b.awaitHealthy(t, i)
	}
	return b
}

// poll checks the health of an instance every 50 ms.
func (b *balancer) poll(ctx context.Context, i int) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: harness.Patience}
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for ctx.Err() == nil {
		request, err := http.NewRequestWithContext(ctx, "GET", "http://"+b.addresses[i]+"/health", nil)
		if err != nil {
			panic(err)
		}
		response, err := client.Do(request)
		healthy := err == nil && response.StatusCode == http.StatusOK
		if b.healthy[i].Swap(healthy) && !healthy {
			b.left[i].Add(1)
		}
		if err == nil {
			_ = response.Body.Close()
		}
		<-again.C
	}
}

func (b *balancer) awaitHealthy(t *testing.T, i int) {
	t.Helper()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for end := time.Now().Add(harness.Patience); !b.healthy[i].Load(); <-again.C {
		if time.Now().After(end) {
			t.Fatalf("instance %d is not healthy", i)
		}
	}
}

// keptConn is a keep-alive connection of a worker.
type keptConn struct {
	net.Conn
	responses *bufio.Reader
	left      uint32 // balancer.left when it was opened
}

// work sends consecutive requests until stop is closed.
func (b *balancer) work(stop <-chan struct{}, results *results) {
	connections := make([]*keptConn, len(b.addresses))
	defer func() {
		for _, conn := range connections {
			if conn != nil {
				_ = conn.Close()
			}
		}
	}()
	for {
		select {
		case <-stop:
			return
		case <-time.After(rand.N(20 * time.Millisecond)): // think time
		}
		i, err := b.pick()
		if err == nil {
			connections[i], err = b.forward(i, connections[i])
		}
		if err != nil {
			results.fail(fmt.Errorf("HTTP, instance %d: %w", i, err))
			continue
		}
		results.http.Add(1)
	}
}

// pick returns the next healthy instance.
func (b *balancer) pick() (int, error) {
	for range b.addresses {
		if i := int(b.next.Add(1)) % len(b.addresses); b.healthy[i].Load() {
			return i, nil
		}
	}
	return 0, errors.New("no instance is healthy")
}

// forward sends one request, and returns the connection if it can be reused.
func (b *balancer) forward(i int, conn *keptConn) (*keptConn, error) {
	left := b.left[i].Load()
	if conn != nil && conn.left != left { // the instance has closed it since
		_ = conn.Close()
		conn = nil
	}
	if conn == nil {
		dialed, err := net.Dial("tcp", b.addresses[i])
		if err != nil {
			return nil, err
		}
		conn = &keptConn{Conn: dialed, responses: bufio.NewReader(dialed), left: left}
	}
	last, err := exchange(conn, conn.responses)
	if err != nil || last {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// dialGRPC returns a connection to all instances that never retries a call.
func dialGRPC(t *testing.T, c cluster, policy string) *grpc.ClientConn {
	t.Helper()
	addresses := manual.NewBuilderWithScheme("instances")
	state := resolver.State{}
	for _, s := range c {
		state.Addresses = append(state.Addresses, resolver.Address{Addr: strings.TrimPrefix(s.GRPC, "grpc://")})
	}
	addresses.InitialState(state)
	conn, err := grpc.NewClient("instances:///", grpc.WithResolvers(addresses), grpc.WithDisableRetry(),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultServiceConfig(fmt.Sprintf(`{"loadBalancingConfig": [{%q: {}}]}`, policy)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func callGRPC(conn *grpc.ClientConn, policy string, stop <-chan struct{}, results *results) {
	request := &evaluation.EvaluationRequest{NamespaceKey: "default", FlagKey: "busy", EntityId: "e"}
	for {
		select {
		case <-stop:
			return
		case <-time.After(rand.N(20 * time.Millisecond)): // think time
		}
		ctx, cancel := context.WithTimeout(context.Background(), harness.Patience)
		err := conn.Invoke(ctx, "/flipt.evaluation.EvaluationService/Boolean", request, &evaluation.BooleanEvaluationResponse{})
		cancel()
		if err != nil {
			results.fail(fmt.Errorf("gRPC, %s: %w", policy, err))
			continue
		}
		results.grpc.Add(1)
	}
}

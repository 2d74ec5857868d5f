package handler_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/codec/quick"
	"github.com/guidonhq/guidon/handler/evaluation"
	"github.com/guidonhq/guidon/internal/clock"
	serverruntime "github.com/guidonhq/guidon/runtimes/server"
	"github.com/guidonhq/guidon/service"
)

// hotKind is a frequent kind of request.
type hotKind struct {
	name, path, header, body string
	status                   int
	allocations              int // at most; net/http alone, with a handler that only sets a header, makes 22
}

// hotRequests are the frequent kinds of request. The flags are those of [benchSnapshot].
var hotRequests = []hotKind{
	{"boolean", "/evaluate/v1/boolean", "", evaluationOf("bool-00000"), http.StatusOK, 25},
	{"variant", "/evaluate/v1/variant", "", evaluationOf("var-00001"), http.StatusOK, 25},
	{"batch of 50", "/evaluate/v1/batch", "", batchOf(50), http.StatusOK, 42},
	{"OFREP boolean", ofrepPath + "/bool-00000", "", hotContext, http.StatusOK, 25},
	{"OFREP variant", ofrepPath + "/var-00001", "", hotContext, http.StatusOK, 25},
	{"OFREP bulk of 50", ofrepPath, "", hotContext, http.StatusOK, 31},
	{"OFREP bulk, not modified", ofrepPath, "If-None-Match: {etag}\r\n", hotContext, http.StatusNotModified, 29},
}

const hotContext = `{"context":{"targetingKey":"user-0001","country":"US","age":42,"beta":true}}`

func evaluationOf(flag string) string {
	return `{"namespaceKey":"default","flagKey":"` + flag + `","entityId":"user-0001","context":{"country":"US","age":"42","beta":"true"}}`
}

func batchOf(n int) string {
	items := make([]string, n)
	for i := range items {
		items[i] = evaluationOf(benchKey(i))
	}
	return `{"requests":[` + strings.Join(items, ",") + `]}`
}

// benchToken is the token in the requests.
const benchToken = "gdn_0123456789"

// newHotHandler returns a handler over 50 flags that requires a token and has an
// observer, but does not log. requests may be nil.
func newHotHandler(requests *call.RequestLimiter) *handler.Handler {
	known := &service.Authentication{ID: service.NewID(), Method: service.MethodToken, TokenHash: service.HashToken(benchToken)}
	store := &protected{set: service.NewAuthenticationSet(guidon.Revision{Number: 1}, []*service.Authentication{known})}
	store.byKey = map[string]*guidon.Snapshot{"default": benchSnapshot(50)}
	return handler.New(handler.Config{
		Service: service.NewService(store, time.Now), Observer: noObserver{}, Evaluations: noObserver{},
		Authentication: call.AuthenticationConfig{Required: true}, Requests: requests,
	})
}

type noObserver struct{}

func (noObserver) Finished(string, string, guidon.Code, time.Duration, string) {}
func (noObserver) Evaluated([]evaluation.Event)                                {}
func (noObserver) SnapshotRequested(string, int)                               {}

// hotConnection is a client that allocates nothing.
type hotConnection struct {
	net.Conn
	reader *bufio.Reader
}

// dialHot starts a server with the handler and connects to it.
func dialHot(t testing.TB, h *handler.Handler) *hotConnection {
	t.Helper()
	address, done := make(chan net.Addr, 1), make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer close(done) // if the start fails, done is received from twice
		done <- serverruntime.Run(ctx, serverruntime.Config{
			Handler: h, Health: serverruntime.NewHealth(), Logger: slog.New(slog.DiscardHandler),
			HTTP: serverruntime.HTTP{Address: "127.0.0.1:0"}, GRPC: serverruntime.GRPC{Address: "127.0.0.1:0"},
			OnReady: func(http, _ net.Addr) { address <- http },
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	var conn net.Conn
	select {
	case err := <-done:
		t.Fatal(err)
	case at := <-address:
		var err error
		if conn, err = net.Dial("tcp", at.String()); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &hotConnection{conn, bufio.NewReaderSize(conn, 64<<10)}
}

func hotRequest(path, header, body string) []byte {
	return fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAuthorization: Bearer %s\r\n%sContent-Length: %d\r\n\r\n%s",
		path, benchToken, header, len(body), body)
}

// exchange sends a request, reads the response and returns its status.
func (c *hotConnection) exchange(request []byte) (status int, err error) {
	if _, err := c.Write(request); err != nil {
		return 0, err
	}
	length := 0
	for first := true; ; first = false {
		line, err := c.reader.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if value, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			if length, err = strconv.Atoi(string(value)); err != nil {
				return 0, err
			}
		}
		switch {
		case first && len(line) > len("HTTP/1.1 200"):
			status, _ = strconv.Atoi(string(line[len("HTTP/1.1 "):len("HTTP/1.1 200")]))
		case len(line) == 0:
			_, err = c.reader.Discard(length)
			return status, err
		}
	}
}

// etag returns the ETag of the bulk response for hotContext.
func etag(t testing.TB, h *handler.Handler) string {
	t.Helper()
	answer := serve(h, http.MethodPost, ofrepPath, hotContext, "Authorization", "Bearer "+benchToken)
	if answer.Code != http.StatusOK {
		t.Fatal(answer.Body)
	}
	return answer.Header().Get("ETag")
}

// BenchmarkServing measures evaluations on a connection to a server. The allocations
// include those of net/http.
func BenchmarkServing(b *testing.B) {
	h := newHotHandler(nil)
	tag := etag(b, h)
	for _, hot := range hotRequests {
		b.Run(hot.name, func(b *testing.B) {
			c := dialHot(b, h)
			request := hotRequest(hot.path, strings.Replace(hot.header, "{etag}", tag, 1), hot.body)
			b.ReportAllocs()
			for b.Loop() {
				if status, err := c.exchange(request); err != nil || status != hot.status {
					b.Fatalf("got status %d, error %v", status, err)
				}
			}
		})
	}
}

// TestHotAllocations checks the allocations that BenchmarkServing measures. A limit of
// requests adds none.
func TestHotAllocations(t *testing.T) {
	if raceDetected() || !quick.Enabled {
		t.Skip("the race detector makes pools drop items, and the simple paths allocate more; make test runs this without both")
	}
	for name, limit := range map[string]*call.RequestLimiter{"": nil, ", limited": call.NewRequestLimiter(1_000_000, clock.Tick)} {
		h := newHotHandler(limit)
		tag := etag(t, h)
		for _, hot := range hotRequests {
			t.Run(hot.name+name, func(t *testing.T) { checkAllocations(t, h, hot, tag) })
		}
	}
}

func checkAllocations(t *testing.T, h *handler.Handler, hot hotKind, tag string) {
	t.Helper()
	c := dialHot(t, h)
	request := hotRequest(hot.path, strings.Replace(hot.header, "{etag}", tag, 1), hot.body)
	got := testing.AllocsPerRun(500, func() {
		if status, err := c.exchange(request); err != nil || status != hot.status {
			t.Fatalf("got status %d, error %v", status, err)
		}
	})
	t.Logf("%v allocations", got)
	if got > float64(hot.allocations) {
		t.Errorf("%v allocations, want at most %d", got, hot.allocations)
	}
}

// raceDetected reports whether the race detector is enabled.
func raceDetected() bool {
	info, _ := debug.ReadBuildInfo()
	return info != nil && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// protected is a store with one token.
type protected struct {
	states
	set *service.AuthenticationSet
}

func (p *protected) Authentications(context.Context, service.Demand, string) (*service.AuthenticationSet, time.Duration, error) {
	return p.set, 0, nil
}

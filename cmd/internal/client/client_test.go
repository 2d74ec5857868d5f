package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genproto/googleapis/api/httpbody"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	_ "modernc.org/sqlite"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/auth"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/evaluation"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/runtimes/server"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store/cache"
	"github.com/guidonhq/guidon/store/storetest"
)

// observer records which operations were called.
type observer struct {
	mu    sync.Mutex
	calls []string
}

func (o *observer) Finished(operation, transport string, _ guidon.Code, _ time.Duration, _ string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.calls = append(o.calls, transport+" "+operation)
}

func (o *observer) Evaluated([]evaluation.Event) {}

func (o *observer) SnapshotRequested(string, int) {}

// take returns the calls since the last take.
func (o *observer) take() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	calls := o.calls
	o.calls = nil
	return calls
}

// testService is a running service and its token.
type testService struct {
	observer observer
	handler  *handler.Handler
	web      string
	grpc     string
	token    string
}

// everyMethod enables all methods of signing in, so that there are routes for them.
type everyMethod struct{ auth.NoSignIn }

// Describe implements auth.SignIn.
func (everyMethod) Describe(service.Method) (bool, *structpb.Struct) { return true, nil }

// start runs a service on free ports until the test ends.
func start(t *testing.T, required bool) *testService {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	domain := service.NewService(cache.New(storetest.NewSQLite(t)), time.Now)
	s, health := new(testService), server.NewHealth()
	var err error
	if s.token, _, err = domain.CreateToken(ctx, service.Write{}, service.TokenInput{Name: "test"}); err != nil {
		t.Fatal(err)
	}
	s.handler = handler.New(handler.Config{
		Service: domain, Health: health.Status, Observer: &s.observer, SignIn: everyMethod{},
		Authentication: call.AuthenticationConfig{Required: required, TokenMethod: true},
	})
	ready, done := make(chan struct{}), make(chan error, 1)
	go func() {
		done <- server.Run(ctx, server.Config{
			Handler: s.handler, Health: health,
			HTTP: server.HTTP{Address: "127.0.0.1:0"}, GRPC: server.GRPC{Address: "127.0.0.1:0"},
			OnReady: func(web, grpc net.Addr) {
				s.web, s.grpc = "http://"+web.String(), "grpc://"+grpc.String()
				close(ready)
			},
		})
	}()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	select {
	case <-ready:
	case err := <-done:
		done <- err
		t.Fatal(err)
	}
	return s
}

// clients returns a client for each transport.
func (s *testService) clients(t *testing.T, options client.Options) map[string]client.Client {
	t.Helper()
	all := map[string]client.Client{"local": client.NewLocal(s.handler, change.Actor{ID: "cli:test"}, nil)}
	for name, address := range map[string]string{"http": s.web, "grpc": s.grpc} {
		c, err := client.Dial(address, options)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = c
	}
	t.Cleanup(func() {
		for name, c := range all {
			for range 2 { // Close may be called twice
				if err := c.Close(); err != nil {
					t.Errorf("close %s: %v", name, err)
				}
			}
		}
	})
	return all
}

// TestSame: all transports have the same results.
func TestSame(t *testing.T) {
	s := start(t, true)
	ctx := t.Context()
	for name, c := range s.clients(t, client.Options{Token: s.token}) {
		t.Run(name, func(t *testing.T) {
			key, began := "flag-"+name, time.Now().Add(-time.Second)
			flag := new(flipt.Flag)
			if err := c.Invoke(ctx, "/flipt.Flipt/CreateFlag", &flipt.CreateFlagRequest{Key: key, Name: "A <b> & c"}, flag); err != nil {
				t.Fatal(err)
			}
			got := &flipt.Flag{Key: "left over", Description: "left over"}
			if err := c.Invoke(ctx, "/flipt.Flipt/GetFlag", &flipt.GetFlagRequest{Key: key}, got); err != nil {
				t.Fatal(err)
			}
			if !proto.Equal(flag, got) {
				t.Errorf("got flag %v, want %v", got, flag)
			}

			list := new(flipt.FlagList)
			if err := c.Invoke(ctx, "/flipt.Flipt/ListFlags", &flipt.ListFlagRequest{Limit: 1}, list); err != nil {
				t.Fatal(err)
			}
			if len(list.GetFlags()) != 1 {
				t.Errorf("got %d flags, want the 1 of the limit", len(list.GetFlags()))
			}

			changes := new(guidonv1.ListChangesResponse)
			query := &guidonv1.ListChangesRequest{Kind: "flag", Key: key, Since: timestamppb.New(began)}
			if err := c.Invoke(ctx, "/guidon.v1.ChangeService/ListChanges", query, changes); err != nil {
				t.Fatal(err)
			}
			if n := len(changes.GetChanges()); n != 1 || changes.GetChanges()[0].GetKey() != key {
				t.Fatalf("got %d changes, want the one of %s", n, key)
			}
			query.Since = timestamppb.New(time.Now().Add(time.Hour))
			if err := c.Invoke(ctx, "/guidon.v1.ChangeService/ListChanges", query, changes); err != nil {
				t.Fatal(err)
			}
			if n := len(changes.GetChanges()); n != 0 {
				t.Errorf("got %d changes since the future, want 0", n)
			}

			update := &flipt.UpdateFlagRequest{Key: key, Name: "new"}
			if err := c.Invoke(client.WithMessage(ctx, "50 % off, “now”"), "/flipt.Flipt/UpdateFlag", update, flag); err != nil {
				t.Error(err)
			}
			latest := new(guidonv1.LatestChangesResponse)
			if err := c.Invoke(ctx, "/guidon.v1.ChangeService/LatestChanges", &guidonv1.LatestChangesRequest{Kind: "flag", Keys: []string{"none", key}}, latest); err != nil {
				t.Fatal(err)
			}
			if got := latest.GetChanges(); len(got) != 1 || got[0].GetKey() != key || got[0].GetMessage() != "50 % off, “now”" {
				t.Errorf("latest changes: got %v, want that of %s with its message", got, key)
			}
			if err := c.Invoke(client.WithIfMatch(ctx, 1), "/flipt.Flipt/UpdateFlag", update, flag); !errors.Is(err, guidon.FailedPrecondition) {
				t.Errorf("update of an old revision: got error %v, want FailedPrecondition", err)
			}
			err := c.Invoke(ctx, "/flipt.Flipt/GetFlag", &flipt.GetFlagRequest{Key: "none"}, flag)
			if want := `flag "default/none" not found`; !errors.Is(err, guidon.NotFound) || err.Error() != want {
				t.Errorf("got error %v, want NotFound %q", err, want)
			}
			if err := c.Invoke(ctx, "/flipt.Flipt/CreateFlag", &flipt.CreateFlagRequest{Key: "a b"}, flag); !errors.Is(err, guidon.InvalidArgument) {
				t.Errorf("got error %v, want InvalidArgument", err)
			}
			err = c.Invoke(ctx, "/flipt.Flipt/CreateFlag", &flipt.CreateFlagRequest{Key: "latin", Name: "M\xfcller"}, flag)
			if want := "invalid field name: must be valid UTF-8"; !errors.Is(err, guidon.InvalidArgument) || err.Error() != want {
				t.Errorf("a name in Latin-1: got error %v, want InvalidArgument %q", err, want)
			}
			if err := c.Invoke(ctx, "/flipt.Flipt/DeleteFlag", &flipt.DeleteFlagRequest{Key: key}, new(emptypb.Empty)); err != nil {
				t.Error(err)
			}
			past := &flipt.GetFlagRequest{NamespaceKey: "default@1", Key: key}
			for range 2 { // the first call leaves the request as it is
				err := c.Invoke(ctx, "/flipt.Flipt/GetFlag", past, flag)
				if want := fmt.Sprintf("flag %q not found", "default/"+key); !errors.Is(err, guidon.NotFound) || err.Error() != want || past.GetNamespaceKey() != "default@1" {
					t.Errorf("an earlier state: got error %v, want NotFound %q; now the request is %v", err, want, past)
				}
			}
			info := new(httpbody.HttpBody)
			if err := c.Invoke(ctx, "/flipt.meta.MetadataService/GetInfo", new(emptypb.Empty), info); err != nil || !strings.Contains(string(info.GetData()), `"goVersion"`) {
				t.Errorf("got info %q and error %v", info.GetData(), err)
			}
			if err := c.Invoke(ctx, "/no.Such/Operation", flag, flag); err == nil {
				t.Error("unknown operation: got no error")
			}
		})
	}
}

// TestUnauthenticated: an invalid token is rejected over all remote transports.
func TestUnauthenticated(t *testing.T) {
	s := start(t, true)
	for name, c := range s.clients(t, client.Options{Token: "wrong"}) {
		err := c.Invoke(t.Context(), "/flipt.Flipt/ListFlags", &flipt.ListFlagRequest{}, new(flipt.FlagList))
		if name == "local" {
			if err != nil {
				t.Errorf("%s: got error %v, want none: local calls need no token", name, err)
			}
		} else if !errors.Is(err, guidon.Unauthenticated) {
			t.Errorf("%s: got error %v, want Unauthenticated", name, err)
		}
	}
}

// TestEveryOperation sends each operation with all string fields set, and checks that
// its route maps to the same operation.
func TestEveryOperation(t *testing.T) {
	s := start(t, false)
	clients := s.clients(t, client.Options{})
	for _, o := range handler.Operations() {
		if !o.Enabled() && o.Method() != "CreateToken" {
			continue // of a method that is off
		}
		for name, c := range clients {
			request := o.NewRequest()
			fields := request.ProtoReflect().Descriptor().Fields()
			for i := range fields.Len() {
				if f := fields.Get(i); f.Kind() == protoreflect.StringKind && f.Cardinality() != protoreflect.Repeated {
					request.ProtoReflect().Set(f, protoreflect.ValueOfString("x-ü%?y"))
				}
			}
			_ = c.Invoke(t.Context(), o.Name, request, o.NewResponse()) // most fail validation, which is sufficient
			if diff := cmp.Diff([]string{name + " " + o.Name}, s.observer.take()); diff != "" {
				t.Errorf("%s over %s (-want +got):\n%s", o.Name, name, diff)
			}
		}
	}
}

// TestPathVariables: empty path variables and those with a slash are rejected, because
// the path would map to another operation.
func TestPathVariables(t *testing.T) {
	s := start(t, false)
	c := s.clients(t, client.Options{})["http"]
	for key, want := range map[string]string{
		"":        "invalid field key: must not be empty",
		"a/rules": "invalid field key: contains invalid characters",
	} {
		err := c.Invoke(t.Context(), "/flipt.Flipt/GetFlag", &flipt.GetFlagRequest{Key: key}, new(flipt.Flag))
		if err == nil || err.Error() != want {
			t.Errorf("key %q: got error %v, want %q", key, err, want)
		}
	}
}

// TestRetry: reads are retried while the service is unavailable, writes never are.
func TestRetry(t *testing.T) {
	tests := []struct {
		name      string
		method    string
		request   proto.Message
		response  proto.Message
		failures  int32
		wantCalls int32
		wantErr   error
	}{
		{"read that succeeds", "/flipt.Flipt/GetFlag", &flipt.GetFlagRequest{Key: "a"}, new(flipt.Flag), 2, 3, nil},
		{"read of a service that stays unavailable", "/flipt.Flipt/GetFlag", &flipt.GetFlagRequest{Key: "a"}, new(flipt.Flag), 100, 4, guidon.Unavailable},
		{"write", "/flipt.Flipt/CreateFlag", &flipt.CreateFlagRequest{Key: "a"}, new(flipt.Flag), 1, 1, guidon.Unavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int32
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if calls.Add(1) <= tt.failures {
					w.WriteHeader(http.StatusServiceUnavailable)
					return
				}
				_, _ = w.Write([]byte(`{"key":"a"}`))
			}))
			defer web.Close()
			c, err := client.Dial(web.URL, client.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if err := c.Invoke(t.Context(), tt.method, tt.request, tt.response); !errors.Is(err, tt.wantErr) {
				t.Errorf("got error %v, want %v", err, tt.wantErr)
			}
			if got := calls.Load(); got != tt.wantCalls {
				t.Errorf("got %d calls, want %d", got, tt.wantCalls)
			}
		})
	}
}

// TestUnreachable: a closed port is Unavailable, and the error contains the address.
func TestUnreachable(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	for _, scheme := range []string{"http://", "grpc://"} {
		c, err := client.Dial(scheme+address, client.Options{})
		if err != nil {
			t.Fatal(err)
		}
		err = c.Invoke(t.Context(), "/flipt.Flipt/DeleteFlag", &flipt.DeleteFlagRequest{Key: "a"}, new(emptypb.Empty))
		if !errors.Is(err, guidon.Unavailable) || !strings.Contains(err.Error(), scheme+address) {
			t.Errorf("%s: got error %v, want Unavailable with the address", scheme, err)
		}
		_ = c.Close()
	}
}

// TestTimeout: the client waits for a response no longer than the timeout.
func TestTimeout(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer web.Close()
	c, err := client.Dial(web.URL, client.Options{Timeout: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Invoke(t.Context(), "/flipt.Flipt/GetFlag", &flipt.GetFlagRequest{Key: "a"}, new(flipt.Flag)); !errors.Is(err, guidon.DeadlineExceeded) {
		t.Errorf("got error %v, want DeadlineExceeded", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Invoke(ctx, "/flipt.Flipt/GetFlag", &flipt.GetFlagRequest{Key: "a"}, new(flipt.Flag)); !errors.Is(err, guidon.Canceled) {
		t.Errorf("got error %v, want Canceled", err)
	}
}

// TestLost: who loses the connection after a write was sent is told that it may have been applied. One that was
// not sent, or that the service refused, was not.
func TestLost(t *testing.T) {
	web := func(answer func(w http.ResponseWriter)) func(t *testing.T) string {
		return func(t *testing.T) string {
			t.Helper()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				answer(w)
			}))
			t.Cleanup(s.Close)
			return s.URL
		}
	}
	rpc := func(answer func(s *grpc.Server, stream grpc.ServerStream) error) func(t *testing.T) string {
		return func(t *testing.T) string {
			t.Helper()
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			var s *grpc.Server
			s = grpc.NewServer(grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error { return answer(s, stream) }))
			go func() { _ = s.Serve(listener) }()
			t.Cleanup(s.Stop)
			return "grpc://" + listener.Addr().String()
		}
	}
	for name, test := range map[string]struct {
		start func(t *testing.T) string
		want  bool
	}{
		"HTTP, closed": {web(func(http.ResponseWriter) { panic(http.ErrAbortHandler) }), true},
		"HTTP, a part": {web(func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte("{"))
		}), true},
		"HTTP, a proxy":   {web(func(w http.ResponseWriter) { w.WriteHeader(http.StatusGatewayTimeout) }), true},
		"HTTP, no server": {func(*testing.T) string { return "http://127.0.0.1:1" }, false},
		"HTTP, refused": {web(func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte(`{"code":14,"message":"the database is unavailable","details":[]}`))
		}), false},
		"gRPC, closed": {rpc(func(s *grpc.Server, stream grpc.ServerStream) error {
			go s.Stop()
			<-stream.Context().Done()
			return nil
		}), true},
		"gRPC, no server": {func(*testing.T) string { return "grpc://127.0.0.1:1" }, false},
		"gRPC, refused": {rpc(func(*grpc.Server, grpc.ServerStream) error {
			return status.Error(codes.Unavailable, "the database is unavailable")
		}), false},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := client.Dial(test.start(t), client.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			err = c.Invoke(t.Context(), "/flipt.Flipt/CreateFlag", &flipt.CreateFlagRequest{Key: "a"}, new(flipt.Flag))
			if err == nil || errors.Is(err, client.ErrUnanswered) != test.want {
				t.Errorf("a write: got error %v, want that it may have been applied: %t", err, test.want)
			}
			err = c.Invoke(t.Context(), "/flipt.Flipt/GetFlag", &flipt.GetFlagRequest{Key: "a"}, new(flipt.Flag))
			if err == nil || errors.Is(err, client.ErrUnanswered) {
				t.Errorf("a read: got error %v, want nothing about changes", err)
			}
		})
	}
}

// TestLimited: a call that is limited is not retried, since its token would not become
// valid.
func TestLimited(t *testing.T) {
	var calls atomic.Int32
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = w.Write([]byte(`{"code":8,"message":"too many","details":[]}`))
	}))
	defer web.Close()
	c, err := client.Dial(web.URL, client.Options{Token: "wrong"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	err = c.Invoke(t.Context(), "/flipt.Flipt/GetFlag", &flipt.GetFlagRequest{Key: "a"}, new(flipt.Flag))
	if !errors.Is(err, guidon.Limited) || err.Error() != "too many" {
		t.Errorf("got error %v, want Limited", err)
	}
	if got := calls.Load(); got != 1 {
		t.Errorf("got %d calls, want 1", got)
	}
}

// TestUnexpectedResponses: responses that are not from the service are errors.
func TestUnexpectedResponses(t *testing.T) {
	tests := []struct {
		name    string
		handler http.HandlerFunc
		want    string
	}{
		{"another web server", func(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }, "is this a Guidon server?"},
		{"a redirect, which would forward the token", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://elsewhere.example/", http.StatusMovedPermanently)
		}, "redirects"},
		{"a page instead of JSON", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }, "cannot parse the response from http"},
		{"an error of the service", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte(`{"code":7,"message":"permission denied","details":[]}`))
		}, "permission denied"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			web := httptest.NewServer(tt.handler)
			defer web.Close()
			c, err := client.Dial(web.URL+"/", client.Options{Token: "s3cret"})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			err = c.Invoke(t.Context(), "/flipt.Flipt/CreateFlag", &flipt.CreateFlagRequest{Key: "a"}, new(flipt.Flag))
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("got error %v, want one with %q", err, tt.want)
			}
		})
	}
}

func TestDialErrors(t *testing.T) {
	tests := map[string]string{
		"":                        "invalid address",
		"localhost:8080":          "invalid address",
		"ftp://host":              "unknown scheme",
		"grpc://host:9000/path":   "no path",
		"http://host?token=s3cr":  "no user, query",
		"http://user:s3cr@host":   "no user, query",
		"http://user:s3cr@ho st/": "must have the form",
	}
	for address, want := range tests {
		_, err := client.Dial(address, client.Options{})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cr") {
			t.Errorf("%s: got error %v, want one with %q and no secret", address, err, want)
		}
	}
}

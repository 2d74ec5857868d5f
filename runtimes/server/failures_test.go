package server_test

import (
	"context"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/guidonhq/guidon/handler/limit"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/runtimes/server/metrics"
	"github.com/guidonhq/guidon/service"
)

// startLimiting starts a server that requires credentials and limits failed ones to one
// per second, with a clock that stands still. It trusts proxies on this machine.
func startLimiting(t *testing.T, loopback bool) (*instance, *metrics.Registry) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	limits := limit.NewFailures(limit.FailureConfig{PerAddress: 1, Loopback: loopback, Now: func() time.Time { return now }})
	m := metrics.New(metrics.Config{Failures: limits})
	in := start(t, func(s *settings) {
		s.handler.Authentication.Required = true
		s.handler.Failures, s.handler.Observer = limits, m
		s.handler.Proxies = limit.Proxies{netip.MustParsePrefix("127.0.0.0/8")}
	})
	return in, m
}

// overHTTP lists the namespaces with the token, as a proxy of the caller would, and
// returns the status. forwarded may be empty.
func (in *instance) overHTTP(token, forwarded string) *http.Response {
	in.t.Helper()
	request, err := http.NewRequestWithContext(in.t.Context(), http.MethodGet, in.http+"/api/v1/namespaces", nil)
	if err != nil {
		in.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	if forwarded != "" {
		request.Header.Set("X-Forwarded-For", forwarded)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		in.t.Fatal(err)
	}
	_ = response.Body.Close()
	return response
}

// overGRPC is overHTTP over gRPC.
func (in *instance) overGRPC(token, forwarded string) error {
	in.t.Helper()
	pairs := []string{"authorization", "Bearer " + token}
	if forwarded != "" {
		pairs = append(pairs, "x-forwarded-for", forwarded)
	}
	ctx := metadata.AppendToOutgoingContext(context.WithoutCancel(in.t.Context()), pairs...)
	return in.call(ctx, "/flipt.Flipt/ListNamespaces", &flipt.ListNamespaceRequest{}, &flipt.NamespaceList{})
}

// TestFailureLimits: both transports count the failed credentials of an address together,
// refuse the same, and never refuse a valid one.
func TestFailureLimits(t *testing.T) {
	in, m := startLimiting(t, false)
	token, _, err := in.service.CreateToken(t.Context(), service.Write{}, service.TokenInput{Name: "t"})
	if err != nil {
		t.Fatal(err)
	}
	const caller = "192.0.2.1"
	for i := range 5 {
		if got := in.overHTTP("nope", caller).StatusCode; got != http.StatusUnauthorized {
			t.Errorf("request %d over HTTP: got %d, want 401", i, got)
		}
		if err := in.overGRPC("nope", "198.51.100.1, "+caller); status.Code(err) != codes.Unauthenticated {
			t.Errorf("call %d over gRPC: got %v, want Unauthenticated", i, err)
		}
	}
	if r := in.overHTTP("nope", caller); r.StatusCode != http.StatusTooManyRequests || r.Header.Get("Retry-After") != "1" {
		t.Errorf("beyond the limit, over HTTP: got %d, Retry-After %q; want 429, 1", r.StatusCode, r.Header.Get("Retry-After"))
	}
	want := status.New(codes.ResourceExhausted, "too many requests with invalid credentials; try again later")
	if diff := cmp.Diff(want.String(), status.Convert(in.overGRPC("nope", caller)).String()); diff != "" {
		t.Errorf("beyond the limit, over gRPC (-want +got):\n%s", diff)
	}
	if got := in.overHTTP(token, caller).StatusCode; got != http.StatusOK {
		t.Errorf("a valid token over HTTP: got %d, want 200", got)
	}
	if err := in.overGRPC(token, caller); err != nil {
		t.Errorf("a valid token over gRPC: %v", err)
	}
	if got := in.overHTTP("nope", "2001:db8::1").StatusCode; got != http.StatusUnauthorized {
		t.Errorf("another address: got %d, want 401", got)
	}
	wantMetrics := []string{
		`guidon_failed_credentials_total{result="denied"} 11`,
		`guidon_failed_credentials_total{result="limited"} 2`,
	}
	if diff := cmp.Diff(wantMetrics, scrape(t, m, "guidon_failed_credentials_total")); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
	limited := `grpc_server_handled_total{grpc_code="ResourceExhausted",grpc_method="ListNamespaces",grpc_service="flipt.Flipt",grpc_type="unary"}`
	if diff := cmp.Diff([]string{limited + " 2"}, scrape(t, m, limited)); diff != "" {
		t.Errorf("operations that were limited (-want +got):\n%s", diff)
	}
}

// TestFailureLimitsOfLoopback: a client on this machine, over either transport, is limited
// only if that is configured.
func TestFailureLimitsOfLoopback(t *testing.T) {
	for loopback, want := range map[bool]int{false: 40, true: 10} {
		in, _ := startLimiting(t, loopback)
		got := 0
		for range 20 {
			if in.overHTTP("nope", "").StatusCode == http.StatusUnauthorized {
				got++
			}
			if status.Code(in.overGRPC("nope", "")) == codes.Unauthenticated {
				got++
			}
		}
		if got != want {
			t.Errorf("loopback %t: %d of 40 requests were unauthenticated, want %d", loopback, got, want)
		}
	}
}

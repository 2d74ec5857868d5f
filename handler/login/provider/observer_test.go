package provider_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/handler/login/provider"
)

// counts counts what a client is observed to do. It implements [provider.Observer].
type counts struct {
	mu   sync.Mutex
	seen map[string]int
}

func (c *counts) ProviderExpected(provider, kind, result string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[provider+" "+kind+" "+result] = 0
}

func (c *counts) ProviderAsked(_ context.Context, provider, kind string) func(result string) {
	return func(result string) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.seen[provider+" "+kind+" "+result]++
	}
}

// TestObserver: everything is expected that may be counted, and each request is counted once, by what it is for and how it ended, whether it
// is sent by the client itself or by a library.
func TestObserver(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := http.StatusOK
		_, _ = fmt.Sscanf(r.URL.Path, "/%d", &status)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "{}")
	}))
	defer server.Close()
	c := &counts{seen: map[string]int{}}
	client := newClient(t, provider.Config{Observer: c})
	ctx := provider.WithKind(t.Context(), provider.KindDiscovery)
	for _, status := range []int{200, 302, 404, 429, 500} {
		_ = client.Document(ctx, fmt.Sprintf("%s/%d", server.URL, status), new(struct{}))
	}
	request, err := http.NewRequestWithContext(provider.WithKind(t.Context(), provider.KindToken), http.MethodGet, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.HTTP().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, _ = client.Do(ended, provider.Request{URL: server.URL})
	want := map[string]int{
		"acme discovery ok": 1, "acme discovery refused": 2, "acme discovery unavailable": 2,
		"acme keys ok": 0, "acme keys refused": 0, "acme keys unavailable": 0,
		"acme token ok": 1, "acme token refused": 0, "acme token unavailable": 0,
		"acme userinfo ok": 0, "acme userinfo refused": 0, "acme userinfo unavailable": 0,
		"acme review ok": 0, "acme review refused": 0, "acme review unavailable": 0,
		"acme api ok": 0, "acme api refused": 0, "acme api unavailable": 1,
	}
	if diff := cmp.Diff(want, c.seen); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

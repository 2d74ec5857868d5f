package handler_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/service"
)

// TestOverload checks that a request that has waited longer than its share of the
// timeout, its own or the service's, is rejected.
func TestOverload(t *testing.T) {
	for _, test := range []struct {
		name   string
		delay  time.Duration
		lasts  bool
		caller string // the header Grpc-Timeout
		want   int
	}{
		{"idle", 0, false, "", http.StatusOK},
		{"busy", 900 * time.Millisecond, false, "", http.StatusOK},
		{"overloaded", 1100 * time.Millisecond, false, "", http.StatusServiceUnavailable},
		{"the caller waits longer than the service", 1100 * time.Millisecond, false, "1H", http.StatusServiceUnavailable},
		{"the caller does not wait that long", 200 * time.Millisecond, false, "1S", http.StatusServiceUnavailable},
		{"a short wait does not count", 40 * time.Millisecond, false, "100m", http.StatusOK},
		{"busy for a while", 250 * time.Millisecond, true, "", http.StatusServiceUnavailable},
		{"not so busy for a while", 150 * time.Millisecond, true, "", http.StatusOK},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := handler.New(handler.Config{
				Service: service.NewService(&states{}, time.Now), Timeout: 10 * time.Second,
				Overload: &call.OverloadConfig{Delay: func() (time.Duration, bool) { return test.delay, test.lasts }, Share: 0.1},
			})
			var header []string
			if test.caller != "" {
				header = []string{"Grpc-Timeout", test.caller}
			}
			for _, path := range []string{"/evaluate/v1/batch", "/ofrep/v1/evaluate/flags"} {
				got := serve(h, http.MethodPost, path, `{}`, header...)
				if got.Code != test.want || (got.Header().Get("Retry-After") != "") != (test.want == http.StatusServiceUnavailable) {
					t.Errorf("%s: status %d, Retry-After %q, want %d: %s", path, got.Code, got.Header().Get("Retry-After"), test.want, got.Body)
				}
			}
			if got := serve(h, http.MethodGet, "/health", ""); got.Code != http.StatusOK {
				t.Errorf("health: status %d, want 200 whatever the load", got.Code)
			}
		})
	}
}

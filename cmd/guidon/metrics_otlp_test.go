package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"sync"
	"testing"

	collectorpb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
)

// metricsCollector collects the names of metrics.
type metricsCollector struct {
	collectorpb.UnimplementedMetricsServiceServer
	mu    sync.Mutex
	names map[string]bool
}

// Export implements the service of collectors.
func (c *metricsCollector) Export(_ context.Context, request *collectorpb.ExportMetricsServiceRequest) (*collectorpb.ExportMetricsServiceResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range request.GetResourceMetrics() {
		for _, scope := range r.GetScopeMetrics() {
			for _, m := range scope.GetMetrics() {
				c.names[m.GetName()] = true
			}
		}
	}
	return &collectorpb.ExportMetricsServiceResponse{}, nil
}

// ServeHTTP implements the same over HTTP.
func (c *metricsCollector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	request := &collectorpb.ExportMetricsServiceRequest{}
	if err != nil || r.URL.Path != "/v1/metrics" || proto.Unmarshal(body, request) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	_, _ = c.Export(r.Context(), request)
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// TestMetricsOverOTLP: a collector gets what /metrics has, under the same names.
func TestMetricsOverOTLP(t *testing.T) {
	for _, protocol := range []string{"grpc", "http"} {
		t.Run(protocol, func(t *testing.T) {
			c := &metricsCollector{names: map[string]bool{}}
			web := httptest.NewServer(c)
			t.Cleanup(web.Close)
			endpoint := web.URL
			if protocol == "grpc" {
				listener, err := net.Listen("tcp", "127.0.0.1:0")
				if err != nil {
					t.Fatal(err)
				}
				server := grpc.NewServer()
				collectorpb.RegisterMetricsServiceServer(server, c)
				go func() { _ = server.Serve(listener) }()
				t.Cleanup(server.Stop)
				endpoint = "grpc://" + listener.Addr().String()
			}
			server := newShell(t, "GUIDON_METRICS_PUBLIC=true", "GUIDON_METRICS_EXPORTER=otlp", "GUIDON_METRICS_OTLP_ENDPOINT="+endpoint).serve()
			_, text := server.get("/metrics", "")
			server.stop()
			server.wait(0)
			found := regexp.MustCompile(`(?m)^# TYPE (\S+)`).FindAllStringSubmatch(text, -1)
			for _, name := range found {
				if !c.names[name[1]] {
					t.Errorf("the collector did not get %s", name[1])
				}
			}
			if len(found) < 30 {
				t.Errorf("only %d metrics", len(found))
			}
		})
	}
}

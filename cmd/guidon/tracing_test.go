package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon/handler/wire/evaluation"
)

// collector receives spans over gRPC and over HTTP.
type collector struct {
	collectorpb.UnimplementedTraceServiceServer
	grpc, http string // addresses
	status     func() int

	mu       sync.Mutex
	spans    []*tracepb.Span
	resource []*commonpb.KeyValue
	keys     []string // the header x-api-key of each request
	texts    string   // everything that was received, as JSON
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{status: func() int { return http.StatusOK }}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	collectorpb.RegisterTraceServiceServer(server, c)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	web := httptest.NewServer(http.HandlerFunc(c.serve))
	t.Cleanup(web.Close)
	c.grpc, c.http = listener.Addr().String(), web.URL
	return c
}

// Export implements the service of collectors.
func (c *collector) Export(ctx context.Context, request *collectorpb.ExportTraceServiceRequest) (*collectorpb.ExportTraceServiceResponse, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	c.receive(request, strings.Join(md["x-api-key"], ","))
	return &collectorpb.ExportTraceServiceResponse{}, nil
}

func (c *collector) serve(w http.ResponseWriter, r *http.Request) {
	status := c.status()
	if r.URL.Path != "/v1/traces" {
		status = http.StatusNotFound
	}
	body, err := io.ReadAll(r.Body)
	request := &collectorpb.ExportTraceServiceRequest{}
	if err != nil || proto.Unmarshal(body, request) != nil {
		status = http.StatusBadRequest
	}
	if status == http.StatusOK {
		c.receive(request, r.Header.Get("x-api-key"))
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
	w.WriteHeader(status)
}

func (c *collector) receive(request *collectorpb.ExportTraceServiceRequest, key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keys = append(c.keys, key)
	c.texts += protojson.Format(request)
	for _, r := range request.GetResourceSpans() {
		c.resource = r.GetResource().GetAttributes()
		for _, scope := range r.GetScopeSpans() {
			c.spans = append(c.spans, scope.GetSpans()...)
		}
	}
}

// trace returns the spans of the trace with the id, in the order in which they began.
func (c *collector) trace(id string) []*tracepb.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	var spans []*tracepb.Span
	for _, s := range c.spans {
		if hex.EncodeToString(s.GetTraceId()) == id {
			spans = append(spans, s)
		}
	}
	slices.SortStableFunc(spans, func(a, b *tracepb.Span) int { return int(a.GetStartTimeUnixNano()) - int(b.GetStartTimeUnixNano()) })
	return spans
}

// attributes returns the attributes as texts.
func attributes(all []*commonpb.KeyValue) map[string]string {
	texts := map[string]string{}
	for _, a := range all {
		texts[a.GetKey()] = a.GetValue().GetStringValue()
		if n, ok := a.GetValue().GetValue().(*commonpb.AnyValue_IntValue); ok {
			texts[a.GetKey()] = fmt.Sprint(n.IntValue)
		}
	}
	return texts
}

// traced are the environment of a server that traces.
func traced(endpoint string) []string {
	return []string{
		"GUIDON_TRACING_ENABLED=true", "GUIDON_TRACING_OTLP_ENDPOINT=" + endpoint, "GUIDON_TRACING_OTLP_HEADERS_X_API_KEY=", "GUIDON_METRICS_PUBLIC=true",
		"GUIDON_LOG_ENCODING=json",
	}
}

// parent returns a traceparent of the trace that ends with the digit.
func parent(digit int, flags string) string {
	return "00-" + traceID(digit) + "-00000000000000ab-" + flags
}

func traceID(digit int) string { return fmt.Sprintf("4bf92f3577b34da6a3ce929d0e0e473%d", digit) }

// send sends a request within the trace, and returns the status.
func (s *testServer) send(method, path, body, traceparent string) int {
	s.shell.t.Helper()
	request, err := http.NewRequestWithContext(s.shell.t.Context(), method, s.web+path, strings.NewReader(body))
	if err != nil {
		s.shell.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer hunter2")
	if traceparent != "" {
		request.Header.Set("Traceparent", traceparent)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.shell.t.Fatal(err)
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body)
	return response.StatusCode
}

// TestTracing: every kind of request is a span of the caller's trace with what it did below it,
// over both protocols of collectors, and nothing that a span must not have reaches a collector.
func TestTracing(t *testing.T) {
	for _, protocol := range []string{"grpc", "http"} {
		t.Run(protocol, func(t *testing.T) {
			c := newCollector(t)
			endpoint := c.grpc
			if protocol == "http" {
				endpoint = c.http
			}
			s := newShell(t, traced(endpoint)...)
			s.ok("flag", "create", "checkout", "--type", "boolean")
			server := s.serve()
			const context = `"context":{"plan":"secret-plan"}`
			for digit, r := range []struct{ method, path, body string }{
				{"POST", "/evaluate/v1/boolean?reference=secret-query", `{"flagKey":"checkout","entityId":"secret-entity",` + context + `}`},
				{"POST", "/ofrep/v1/evaluate/flags/checkout", `{"context":{"targetingKey":"secret-entity","plan":"secret-plan"}}`},
				{"PUT", "/api/v1/namespaces/default/flags/checkout", `{"name":"secret-name","enabled":true}`},
				{"GET", "/api/v1/namespaces/default/flags/missing", ""},
				{"GET", "/namespaces/default/flags?q=secret-query", ""},
			} {
				want := http.StatusOK
				if strings.HasSuffix(r.path, "missing") {
					want = http.StatusNotFound
				}
				if got := server.send(r.method, r.path, r.body, parent(digit, "01")); got != want {
					t.Errorf("%s: got status %d, want %d", r.path, got, want)
				}
			}
			server.evaluateOverGRPC(parent(5, "01"))
			server.send("GET", "/api/v1/namespaces/default/flags", "", parent(6, "00"))
			exemplars := server.openMetrics()
			server.stop()
			server.wait(0)

			route := "/api/v1/namespaces/{namespace_key}/flags/{key}"
			for digit, want := range [][]string{
				{"/flipt.evaluation.EvaluationService/Boolean server POST /evaluate/v1/boolean 200"},
				{"/ofrep/v1/evaluate/flags/{key} server POST /ofrep/v1/evaluate/flags/{key} 200"},
				{"/flipt.Flipt/UpdateFlag server PUT " + route + " 200", " client sqlite UPDATE", " client sqlite COMMIT"},
				{"/flipt.Flipt/GetFlag server GET " + route + " 404 not found"},
				{"/namespaces server GET /namespaces 200", " /guidon.v1.CatalogService/ListFlagSummaries internal"},
				{"/flipt.evaluation.EvaluationService/Boolean server flipt.evaluation.EvaluationService/Boolean OK"},
				nil, // not recorded, as the caller wants
			} {
				c.check(t, digit, want)
			}
			c.checkEvaluations(t)
			if got, want := attributes(c.resource)["service.name"], "guidon"; got != want {
				t.Errorf("got service %q, want %q", got, want)
			}
			for _, secret := range []string{"secret-", "hunter2"} {
				if strings.Contains(c.texts, secret) {
					t.Errorf("a span has %q", secret)
				}
			}
			server.checkLog(t)
			for _, digit := range []int{2, 5} { // the last ones of their operations, so no later one replaces them
				if !strings.Contains(exemplars, `# {trace_id="`+traceID(digit)+`"}`) {
					t.Errorf("the metrics lack the trace %s", traceID(digit))
				}
			}
			if strings.Contains(exemplars, traceID(6)) {
				t.Errorf("the metrics have a trace that is not recorded:\n%s", exemplars)
			}
		})
	}
}

// check compares the spans of the trace with those wanted: the first is below the caller's, and
// those that begin with a space are below the first. Of the others there may be more.
func (c *collector) check(t *testing.T, digit int, want []string) {
	t.Helper()
	spans := c.trace(traceID(digit))
	var got []string
	for i, s := range spans {
		text, above := describe(s), hex.EncodeToString(s.GetParentSpanId())
		switch {
		case i == 0 && above != "00000000000000ab":
			text += " without its parent"
		case i > 0 && above == hex.EncodeToString(spans[0].GetSpanId()):
			text = " " + text
		}
		got = append(got, text)
	}
	if len(want) == 0 || len(got) == 0 || got[0] != want[0] {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("trace %d: -want +got:\n%s", digit, diff)
		}
		return
	}
	for _, w := range want[1:] {
		if !slices.Contains(got, w) {
			t.Errorf("trace %d has no %q: %q", digit, w, got)
		}
	}
}

// describe returns what the span says in one line.
func describe(s *tracepb.Span) string {
	text := []string{s.GetName(), strings.ToLower(strings.TrimPrefix(s.GetKind().String(), "SPAN_KIND_"))}
	a := attributes(s.GetAttributes())
	if a["db.system.name"] != "" {
		text = []string{"client", a["db.system.name"], s.GetName()}
		if !strings.Contains(a["db.query.text"], strings.TrimPrefix(s.GetName(), "BATCH")) {
			text = append(text, "with the text", a["db.query.text"])
		}
	}
	for _, name := range []string{"http.request.method", "http.route", "http.response.status_code", "rpc.method", "rpc.response.status_code", "error.type"} {
		if a[name] != "" {
			text = append(text, a[name])
		}
	}
	if s.GetStatus().GetCode() == tracepb.Status_STATUS_CODE_ERROR {
		text = append(text, "failed")
	}
	return strings.Join(text, " ")
}

// checkEvaluations checks the events of the three evaluations.
func (c *collector) checkEvaluations(t *testing.T) {
	t.Helper()
	for _, digit := range []int{0, 1, 5} {
		spans := c.trace(traceID(digit))
		if len(spans) == 0 || len(spans[0].GetEvents()) != 1 || spans[0].GetEvents()[0].GetName() != "feature_flag.evaluation" {
			t.Errorf("trace %d has not one event: %v", digit, spans)
			continue
		}
		got := attributes(spans[0].GetEvents()[0].GetAttributes())
		delete(got, "feature_flag.result.reason") // OFREP has its own
		delete(got, "feature_flag.result.variant")
		delete(got, "feature_flag.version")
		want := map[string]string{"feature_flag.key": "checkout", "feature_flag.set.id": "default", "feature_flag.provider.name": "guidon"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("event of trace %d: -want +got:\n%s", digit, diff)
		}
	}
}

// checkLog checks that the line of each request has its trace.
func (s *testServer) checkLog(t *testing.T) {
	t.Helper()
	seen := map[string]bool{}
	for line := range strings.Lines(s.text()) {
		var event struct {
			M     string
			Trace string `json:"trace_id"`
		}
		if json.Unmarshal([]byte(line), &event) == nil && event.M == "request" {
			seen[event.Trace] = true
		}
	}
	for digit := range 7 {
		if !seen[traceID(digit)] {
			t.Errorf("no line of the log has trace %d", digit)
		}
	}
}

func (s *testServer) evaluateOverGRPC(traceparent string) {
	s.shell.t.Helper()
	conn, err := grpc.NewClient(strings.TrimPrefix(s.grpc, "grpc://"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		s.shell.t.Fatal(err)
	}
	defer conn.Close()
	ctx := metadata.AppendToOutgoingContext(s.shell.t.Context(), "traceparent", traceparent, "authorization", "Bearer hunter2")
	err = conn.Invoke(ctx, "/flipt.evaluation.EvaluationService/Boolean", &evaluation.EvaluationRequest{
		FlagKey: "checkout", EntityId: "secret-entity", Context: map[string]string{"plan": "secret-plan"},
	}, new(evaluation.BooleanEvaluationResponse))
	if err != nil {
		s.shell.t.Error(err)
	}
}

// openMetrics returns the metrics in the format that has exemplars.
func (s *testServer) openMetrics() string {
	s.shell.t.Helper()
	request, err := http.NewRequestWithContext(s.shell.t.Context(), http.MethodGet, s.web+"/metrics", nil)
	if err != nil {
		s.shell.t.Fatal(err)
	}
	request.Header.Set("Accept", "application/openmetrics-text; version=1.0.0")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.shell.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		s.shell.t.Fatal(err)
	}
	return string(body)
}

// TestCollectorAway: a collector that rejects everything is logged once, and once more when it
// accepts spans again.
func TestCollectorAway(t *testing.T) {
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "1")
	c := newCollector(t)
	asked := make(chan int)
	c.status = func() int { return <-asked }
	server := newShell(t, traced(c.http)...).serve()
	for _, status := range []int{400, 400, 401, 200, 200} {
		server.send("GET", "/api/v1/namespaces", "", "")
		asked <- status
	}
	close(asked) // what follows is rejected
	server.stop()
	server.wait(0)
	var got []string
	for line := range strings.Lines(server.text()) {
		if _, text, found := strings.Cut(line, `"M":"`); found && strings.Contains(line, "collector") {
			got = append(got, text[:strings.IndexByte(text, '"')])
		}
	}
	want := []string{"cannot send spans to the collector; some will be lost", "the collector accepts spans again"}
	if diff := cmp.Diff(want, got[:min(len(got), 2)]); diff != "" || len(got) > 3 {
		t.Errorf("-want +got:\n%s%q", diff, got)
	}
}

// TestCollectorStalls: a collector that does not answer delays neither operations nor, for long,
// the stop, and what is kept for it is bounded.
func TestCollectorStalls(t *testing.T) {
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "1")
	t.Setenv("OTEL_BSP_MAX_QUEUE_SIZE", "8")
	t.Setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "8")
	c := newCollector(t)
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	c.status = func() int { <-release; return http.StatusOK }
	server := newShell(t, traced(c.http)...).serve()
	for range 100 {
		if got := server.send("GET", "/api/v1/namespaces", "", ""); got != http.StatusOK {
			t.Fatalf("got status %d", got)
		}
	}
	begun := time.Now()
	server.stop()
	server.wait(0)
	if took := time.Since(begun); took > 8*time.Second {
		t.Errorf("the stop took %s", took)
	}
}

// TestTracingVariables: the variables of the SDK say what nothing else is configured for.
func TestTracingVariables(t *testing.T) {
	c := newCollector(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.http)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-api-key=theirs")
	t.Setenv("OTEL_SERVICE_NAME", "flags")
	t.Setenv("OTEL_TRACES_SAMPLER", "always_on")
	server := newShell(t, "GUIDON_TRACING_ENABLED=true", "GUIDON_TRACING_SAMPLING_RATIO=0").serve()
	server.send("GET", "/api/v1/namespaces", "", "")
	server.stop()
	server.wait(0)
	if got := attributes(c.resource)["service.name"]; got != "flags" || c.keys[0] != "theirs" {
		t.Errorf("got service %q, keys %q", got, c.keys)
	}
}

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
)

// TestMetricsOfNewServer: a server that did nothing yet has every counter whose labels are
// known, at zero, because an alert does not see the first increase of one that appears
// later. Their names are as "promtool check metrics" demands.
func TestMetricsOfNewServer(t *testing.T) {
	const codehost = "GUIDON_AUTHENTICATION_METHODS_CODEHOST_"
	s := newShell(t, "GUIDON_METRICS_PUBLIC=true", "GUIDON_SERVER_PUBLIC_URL=http://127.0.0.1:8080",
		"GUIDON_AUTHENTICATION_METHODS_OIDC_ENABLED=true", "GUIDON_AUTHENTICATION_METHODS_OIDC_PROVIDERS_GOOGLE_ISSUER_URL=http://127.0.0.1:1",
		"GUIDON_AUTHENTICATION_METHODS_OIDC_PROVIDERS_GOOGLE_CLIENT_ID=guidon", "GUIDON_AUTHENTICATION_METHODS_OIDC_PROVIDERS_GOOGLE_ALLOW_EVERYONE=true",
		codehost+"ENABLED=true", codehost+"CLIENT_ID=guidon", codehost+"CLIENT_SECRET=secret", codehost+"ALLOWED_ORGANIZATIONS=acme",
		"GUIDON_AUTHENTICATION_METHODS_KUBERNETES_ENABLED=true", "GUIDON_AUTHENTICATION_METHODS_KUBERNETES_ALLOWED_SERVICE_ACCOUNTS=shop/*")
	_, text := s.serve().get("/metrics", "")
	// The cleanups of the methods read through the cache soon after the start.
	_, quiet := newShell(t, "GUIDON_METRICS_PUBLIC=true").serve().get("/metrics", "")
	for _, want := range []string{
		`grpc_server_handled_total{grpc_code="Unavailable",grpc_method="Boolean",grpc_service="flipt.evaluation.EvaluationService",grpc_type="unary"}`,
		`grpc_server_handled_total{grpc_code="Internal",grpc_method="_other",grpc_service="",grpc_type="unary"}`,
		`grpc_server_started_total{grpc_method="Import",grpc_service="guidon.v1.DocumentService",grpc_type="unary"}`,
		`guidon_cache_hit_total{cache="memory",type="snapshot"}`,
		`guidon_cache_miss_total{cache="memory",type="snapshot"}`,
		`guidon_evaluations_errors_total{flag="",namespace=""}`,
		`guidon_evaluations_latency_milliseconds_count{type="boolean"}`,
		`guidon_evaluations_latency_seconds_count{type="boolean"}`,
		`guidon_evaluations_latency_seconds_count{type="variant"}`,
		`guidon_evaluations_requests_total{flag="",namespace=""}`,
		`guidon_failed_credentials_total{result="denied"}`,
		`guidon_failed_credentials_total{result="limited"}`,
		`guidon_provider_requests_total{kind="api",provider="github",result="refused"}`,
		`guidon_provider_requests_total{kind="discovery",provider="google",result="unavailable"}`,
		`guidon_provider_requests_total{kind="review",provider="kubernetes",result="ok"}`,
		`guidon_request_memory_rejected_total{kind="message"}`,
		`guidon_server_errors_total`,
		`guidon_sign_in_total{method="cli",provider="",result="ok"}`,
		`guidon_sign_in_total{method="codehost",provider="",result="error"}`,
		`guidon_sign_in_total{method="kubernetes",provider="",result="invalid"}`,
		`guidon_sign_in_total{method="oidc",provider="google",result="not_admitted"}`,
		`guidon_streams_ended_total{kind="changes",reason="slow"}`,
		`guidon_streams_ended_total{kind="ofrep",reason="failed"}`,
		`guidon_streams_refused_total{kind="ofrep"}`,
		`guidon_webhook_deliveries_total{result="failed"}`,
		`guidon_webhook_deliveries_total{result="succeeded"}`,
	} {
		of := text
		if strings.HasPrefix(want, "guidon_cache_") {
			of = quiet
		}
		if !strings.Contains(of, "\n"+want+" 0\n") {
			t.Errorf("the metrics of a new server have no %s 0", want)
		}
	}
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	want := []promlint.Problem{{ // the former name
		Metric: "guidon_evaluations_latency_milliseconds", Text: `use base unit "seconds" instead of "milliseconds"`,
	}}
	if diff := cmp.Diff(want, problems); diff != "" {
		t.Errorf("the names of the metrics (-want +got):\n%s", diff)
	}
}

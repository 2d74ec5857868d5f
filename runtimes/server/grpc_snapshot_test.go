package server_test

import (
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/guidonhq/guidon/handler/wire/evaluation"
)

// Contract 9.3: over gRPC, the ETag and the status 304 are in the metadata, and an
// unchanged snapshot is an empty message. The ETag is the same as over HTTP.
func TestGRPCSnapshot(t *testing.T) {
	in := start(t, nil)
	in.seed("one")
	const version = "1.47.0"
	get := func(pairs ...string) (*evaluation.EvaluationNamespaceSnapshot, metadata.MD) {
		t.Helper()
		var header metadata.MD
		response := &evaluation.EvaluationNamespaceSnapshot{}
		ctx := metadata.AppendToOutgoingContext(t.Context(), pairs...)
		request := &evaluation.EvaluationNamespaceSnapshotRequest{Key: "default", Reference: "main"}
		if err := in.call(ctx, "/flipt.evaluation.DataService/EvaluationSnapshotNamespace", request, response, grpc.Header(&header)); err != nil {
			t.Fatal(err)
		}
		return response, header
	}
	response, header := get("x-flipt-accept-server-version", version)
	etag := strings.Join(header.Get("x-etag"), ",")
	if len(response.GetFlags()) != 1 || response.GetNamespace().GetKey() != "default" || len(etag) != 40 || header.Get("x-http-code") != nil {
		t.Errorf("%v with %v", response, header)
	}
	for _, name := range []string{"grpcgateway-if-none-match", "if-none-match"} {
		response, header = get("x-flipt-accept-server-version", version, name, etag)
		if response.GetNamespace() != nil || len(response.GetFlags()) != 0 {
			t.Errorf("%s: %v", name, response)
		}
		if got := append(header.Get("x-etag"), header.Get("x-http-code")...); strings.Join(got, " ") != etag+" 304" {
			t.Errorf("%s: %v", name, header)
		}
	}
	if response, header = get("grpcgateway-if-none-match", etag); len(response.GetFlags()) != 1 || strings.Join(header.Get("x-etag"), "") == etag {
		t.Errorf("for a client of another version: %v with %v", response, header)
	}
	in.seed("two")
	if response, _ = get("x-flipt-accept-server-version", version, "grpcgateway-if-none-match", etag); len(response.GetFlags()) != 2 {
		t.Errorf("after a write: %v", response)
	}
}

// Contract 10.3: a token that is limited to a namespace can read only its snapshot.
func TestGRPCSnapshotScope(t *testing.T) {
	in := start(t, required)
	ctx := in.limitedTo("shop")
	for key, want := range map[string]codes.Code{"shop": codes.OK, "default": codes.Unauthenticated, "": codes.Unauthenticated} {
		err := in.call(ctx, "/flipt.evaluation.DataService/EvaluationSnapshotNamespace",
			&evaluation.EvaluationNamespaceSnapshotRequest{Key: key}, &evaluation.EvaluationNamespaceSnapshot{})
		if status.Code(err) != want {
			t.Errorf("%q: %v, want %v", key, err, want)
		}
	}
}

package server_test

import (
	"context"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon/handler/limit"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// TestGRPCStates reads an earlier state over gRPC. The metadata are those of the state, and
// what it took of the memory is free afterwards.
func TestGRPCStates(t *testing.T) {
	memory := limit.NewBudget(0)
	in := start(t, func(s *settings) { s.handler.Budget = memory })
	const text = 100 << 10 // more than is free
	in.must("/flipt.Flipt/CreateFlag", &flipt.CreateFlagRequest{Key: "f", Name: "F", Description: strings.Repeat("x", text)}, &flipt.Flag{})
	in.must("/flipt.Flipt/DeleteFlag", &flipt.DeleteFlagRequest{Key: "f"}, &emptypb.Empty{})
	var header metadata.MD
	document := &guidonv1.Document{}
	export := func(pairs ...string) {
		t.Helper()
		header, document = nil, &guidonv1.Document{}
		ctx := metadata.AppendToOutgoingContext(t.Context(), pairs...)
		if err := in.call(ctx, "/guidon.v1.DocumentService/Export", &guidonv1.ExportRequest{NamespaceKey: "default@2"}, document, grpc.Header(&header)); err != nil {
			t.Fatal(err)
		}
	}
	export()
	etag := strings.Join(header.Get("x-etag"), ",")
	if len(document.GetFlags()) != 1 || len(document.GetFlags()[0].GetDescription()) != text ||
		strings.Join(header.Get("guidon-revision"), ",") != "2" || !strings.HasPrefix(etag, "2-") {
		t.Errorf("%d flags with %v", len(document.GetFlags()), header)
	}
	export("if-none-match", etag)
	if len(document.GetFlags()) != 0 || strings.Join(header.Get("x-http-code"), ",") != "304" || strings.Join(header.Get("x-etag"), ",") != etag {
		t.Errorf("with its ETag: %d flags with %v", len(document.GetFlags()), header)
	}
	namespace := &flipt.Namespace{}
	in.must("/flipt.Flipt/GetNamespace", &flipt.GetNamespaceRequest{Key: "default@1"}, namespace)
	if namespace.GetKey() != "default" {
		t.Errorf("got %v", namespace)
	}
	if used := memory.Responses.Stats().Used; used != 0 {
		t.Errorf("%d bytes are still reserved", used)
	}
	for reference, want := range map[string]codes.Code{"default@9": codes.NotFound, "default@0": codes.InvalidArgument, "none@1": codes.NotFound} {
		err := in.call(t.Context(), "/flipt.Flipt/ListFlags", &flipt.ListFlagRequest{NamespaceKey: reference}, &flipt.FlagList{})
		if status.Code(err) != want {
			t.Errorf("%s: %v, want %v", reference, err, want)
		}
	}
	err := in.call(t.Context(), "/flipt.Flipt/DeleteNamespace", &flipt.DeleteNamespaceRequest{Key: "default@2", Force: true}, &emptypb.Empty{})
	if status.Code(err) != codes.InvalidArgument || !strings.Contains(status.Convert(err).Message(), "can only be read") {
		t.Errorf("a write: %v", err)
	}
}

// TestGRPCStateScope: a token that is limited to a namespace reads its states and no others.
func TestGRPCStateScope(t *testing.T) {
	in := start(t, required)
	ctx := in.limitedTo("default")
	for reference, want := range map[string]codes.Code{
		"default@1": codes.OK, "@1": codes.OK, "other@1": codes.Unauthenticated, "other@0": codes.Unauthenticated, "other@default": codes.Unauthenticated,
	} {
		err := in.call(ctx, "/flipt.Flipt/ListFlags", &flipt.ListFlagRequest{NamespaceKey: reference}, &flipt.FlagList{})
		if status.Code(err) != want {
			t.Errorf("%s: %v, want %v", reference, err, want)
		}
	}
}

// must calls a method that must succeed.
func (in *instance) must(method string, request, response proto.Message) {
	in.t.Helper()
	if err := in.call(context.Background(), method, request, response); err != nil {
		in.t.Fatalf("%s: %v", method, err)
	}
}

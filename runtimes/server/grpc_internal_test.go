package server

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/auth"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/service"
)

// registered returns the methods of a gRPC server for the handler, except those of health
// and reflection.
func registered(t *testing.T, h *handler.Handler) []string {
	t.Helper()
	config, err := Config{Handler: h, Health: NewHealth()}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	server := newGRPCServer(config, nil, newRunningServer(config, nil, listeners{}).calls)
	defer server.Stop()
	var methods []string
	for service, info := range server.GetServiceInfo() {
		if strings.HasPrefix(service, "grpc.") {
			continue
		}
		for _, m := range info.Methods {
			methods = append(methods, "/"+service+"/"+m.Name)
		}
		if file, _ := info.Metadata.(string); file == "" {
			t.Errorf("%s has no .proto file for reflection", service)
		}
	}
	slices.Sort(methods)
	return methods
}

// everyMethod is a way to sign in with which every method is enabled.
type everyMethod struct{ auth.NoSignIn }

// Describe implements [auth.SignIn].
func (everyMethod) Describe(service.Method) (bool, *structpb.Struct) { return true, nil }

// Neither transport has a call that the other lacks.
func TestGRPCIsTheOperationsTable(t *testing.T) {
	all := handler.New(handler.Config{Authentication: call.AuthenticationConfig{TokenMethod: true}, SignIn: everyMethod{}})
	var want []string
	for _, o := range handler.Operations() {
		want = append(want, o.Name)
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, registered(t, all)); diff != "" {
		t.Errorf("gRPC methods (-table +registered):\n%s", diff)
	}
}

// Contract 12: the service of a disabled method is not registered.
func TestGRPCLacksDisabledServices(t *testing.T) {
	for _, method := range registered(t, handler.New(handler.Config{})) {
		if strings.HasPrefix(method, "/flipt.auth.AuthenticationMethodTokenService/") {
			t.Errorf("%s is registered although the token method is disabled", method)
		}
	}
}

// A panic does not end the process, wherever it occurs.
func TestGuardsTurnPanicsIntoInternalErrors(t *testing.T) {
	var log bytes.Buffer
	c := &calls{logger: slog.New(slog.NewTextHandler(&log, nil))}
	_, unaryErr := c.guardUnary(t.Context(), nil, &grpc.UnaryServerInfo{FullMethod: "/a/Unary"},
		func(context.Context, any) (any, error) { panic("a bug with a secret") })
	streamErr := c.guardStream(nil, nil, &grpc.StreamServerInfo{FullMethod: "/a/Stream"},
		func(any, grpc.ServerStream) error { panic("another bug") })
	codec := newCodec(c.logger)
	_, marshalErr := codec.Marshal((*panicMessage)(nil))
	for name, err := range map[string]error{"unary": unaryErr, "stream": streamErr} {
		if status.Code(err) != codes.Internal || status.Convert(err).Message() != "internal error" {
			t.Errorf("%s: got %v, want only %q", name, err, "internal error")
		}
	}
	if marshalErr == nil || marshalErr.Error() != "internal error" {
		t.Errorf("marshal: got %v, want only %q", marshalErr, "internal error")
	}
	for _, want := range []string{"/a/Unary", "a bug with a secret", "/a/Stream", "another bug", "stack"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q", want)
		}
	}
}

// panicMessage is a message whose encoding panics.
type panicMessage struct{ proto.Message }

// A response that protobuf rejects is an internal error, whose cause is only logged.
func TestCodecHidesCauses(t *testing.T) {
	var log bytes.Buffer
	codec := newCodec(slog.New(slog.NewTextHandler(&log, nil)))
	_, err := codec.Marshal(&flipt.Flag{Name: "\xff"})
	if err == nil || err.Error() != "internal error" {
		t.Errorf("got %v, want only %q", err, "internal error")
	}
	if !strings.Contains(log.String(), "UTF-8") {
		t.Errorf("the log lacks the cause: %s", log.String())
	}
}

package handler_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/wire/auth"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/service"
)

// operation returns the operation with the method name.
func operation(t testing.TB, method string) *call.Operation {
	t.Helper()
	for _, o := range handler.Operations() {
		if o.Method() == method {
			return o
		}
	}
	t.Fatalf("no operation %s", method)
	return nil
}

// TestInvoke tests the entry point of the other transports.
func TestInvoke(t *testing.T) {
	s := newInside(t, "calls the handler without a request", required)
	token := "Bearer " + s.token("")
	create := operation(t, "CreateFlag")
	message := &flipt.CreateFlagRequest{Key: "f", Name: "F"}

	response, err := s.handler.Invoke(t.Context(), create, call.Request{Message: message, Transport: "grpc", RequestID: "not fit for a log"})
	if !errors.Is(err, guidon.Unauthenticated) || guidon.PublicMessage(err) != unauthenticated {
		t.Errorf("without a credential: %v", err)
	}
	if len(response.RequestID) != 36 {
		t.Errorf("request id %q", response.RequestID)
	}

	response, err = s.handler.Invoke(t.Context(), create, call.Request{
		Message: message, Transport: "grpc", RequestID: "mine", Credentials: call.Credentials{Authorization: []string{token}}, IfMatch: "99",
	})
	if !errors.Is(err, guidon.FailedPrecondition) {
		t.Errorf("with a stale revision: %v", err)
	}
	if response.RequestID != "mine" || response.Namespace != "default" || response.Revision == 0 {
		t.Errorf("with a stale revision: %+v", response)
	}
	before := response.Revision

	response, err = s.handler.Invoke(t.Context(), create, call.Request{
		Message: message, Transport: "grpc", Credentials: call.Credentials{Cookie: []string{"service_client_token=" + strings.TrimPrefix(token, "Bearer ")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := response.Message.(*flipt.Flag).GetKey(); got != "f" || response.Revision != before+1 {
		t.Errorf("created %q at %d", got, response.Revision)
	}
}

// TestTrustedActor: a trusted actor skips authentication, may use disabled operations,
// and is recorded as the author of the change.
func TestTrustedActor(t *testing.T) {
	svc := newService(t)
	h := handler.New(handler.Config{Service: svc, Authentication: call.AuthenticationConfig{Required: true}})
	actor := change.Actor{ID: "cli:me"}
	response, err := h.Invoke(t.Context(), operation(t, "CreateToken"), call.Request{
		Transport: "local", Actor: &actor, Message: &auth.CreateTokenRequest{Name: "n"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := response.Message.(*auth.CreateTokenResponse).GetAuthentication().GetMetadata()[service.MetadataTokenCreatedBy]; got != "cli:me" {
		t.Errorf("created by %q", got)
	}
	_, err = h.Invoke(t.Context(), operation(t, "CreateToken"), call.Request{Message: &auth.CreateTokenRequest{Name: "n"}})
	if !errors.Is(err, guidon.Unimplemented) {
		t.Errorf("a disabled operation without a trusted actor: %v", err)
	}
}

// TestMessagesOfOtherTransports tests values that JSON cannot express.
func TestMessagesOfOtherTransports(t *testing.T) {
	s := newInside(t, "calls the handler without a request", tokens)
	nan := &structpb.Struct{Fields: map[string]*structpb.Value{"x": structpb.NewNumberValue(math.NaN())}}
	_, err := s.handler.Invoke(t.Context(), operation(t, "CreateFlag"), call.Request{
		Message: &flipt.CreateFlagRequest{Key: "f", Name: "F", Metadata: nan},
	})
	if got := guidon.PublicMessage(err); got != "invalid field metadata: must be a json object" {
		t.Errorf("NaN in metadata: %s", got)
	}
	_, err = s.handler.Invoke(t.Context(), operation(t, "CreateToken"), call.Request{
		Message: &auth.CreateTokenRequest{Name: "n", ExpiresAt: &timestamppb.Timestamp{Seconds: math.MaxInt64}},
	})
	if got := guidon.PublicMessage(err); got != "invalid field expiresAt: must be a time between the years 1 and 9999" {
		t.Errorf("a time that does not exist: %s", got)
	}
	// A message of another operation is a bug in the transport.
	_, err = s.handler.Invoke(t.Context(), operation(t, "CreateFlag"), call.Request{Message: &emptypb.Empty{}})
	if !errors.Is(err, guidon.Internal) {
		t.Errorf("a message of another operation: %v", err)
	}
}

// TestDeadlines: the caller's deadline results in a 504, the handler's own in a 503,
// which may be retried.
func TestDeadlines(t *testing.T) {
	s := newServer(t)
	for header, want := range map[string]int{
		"0S": 504, "1n": 504, "10S": 200, "99999999H": 200,
		"10": 400, "S": 400, "-1S": 400, "1.5S": 400, "999999999S": 400, "1s": 400,
	} {
		if r := s.do("GET", "/api/v1/flags", "", "Grpc-Timeout", header); r.status != want {
			t.Errorf("Grpc-Timeout %s: %d %s", header, r.status, r.body)
		}
	}
	s.do("GET", "/api/v1/flags", "", "Grpc-Timeout", "0S").fails(t, 504, 4, "deadline exceeded")

	h := handler.New(handler.Config{Service: service.NewService(waitingStore{}, time.Now), Timeout: time.Millisecond})
	_, err := h.Invoke(t.Context(), operation(t, "ListFlags"), call.Request{Message: &flipt.ListFlagRequest{}})
	if got := guidon.CodeOf(err); got != guidon.Unavailable {
		t.Errorf("the handler's own deadline: %v (%v)", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = h.Invoke(ctx, operation(t, "ListFlags"), call.Request{Message: &flipt.ListFlagRequest{}})
	if got := guidon.CodeOf(err); got != guidon.Canceled {
		t.Errorf("a caller that has disconnected: %v (%v)", got, err)
	}
}

// waitingStore waits for the end of the request and then returns an error of its own,
// not that of the context.
type waitingStore struct{ service.Store }

func (waitingStore) Snapshot(ctx context.Context, _ string, _ service.Demand) (*guidon.Snapshot, time.Duration, error) {
	<-ctx.Done()
	return nil, 0, errors.New("interrupted")
}

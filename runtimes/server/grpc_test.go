package server_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	reflection "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/codec"
	"github.com/guidonhq/guidon/handler/diagnostics"
	"github.com/guidonhq/guidon/handler/wire/auth"
	"github.com/guidonhq/guidon/handler/wire/evaluation"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// Contract 12: the health of the process and of each service, and the error for an
// unknown service.
func TestGRPCHealth(t *testing.T) {
	in := start(t, nil)
	client := healthpb.NewHealthClient(in.conn)
	for _, service := range []string{"", "flipt.Flipt", "flipt.evaluation.EvaluationService", "guidon.v1.ChangeService"} {
		got, err := client.Check(t.Context(), &healthpb.HealthCheckRequest{Service: service})
		if err != nil || got.GetStatus() != healthpb.HealthCheckResponse_SERVING {
			t.Errorf("health of %q is %v, %v, want SERVING", service, got.GetStatus(), err)
		}
	}
	_, err := client.Check(t.Context(), &healthpb.HealthCheckRequest{Service: "unheard.Of"})
	if status.Code(err) != codes.NotFound || status.Convert(err).Message() != "unknown service" {
		t.Errorf("health of an unknown service: %v, want NotFound, unknown service", err)
	}
	list, err := client.List(t.Context(), &healthpb.HealthListRequest{})
	if err != nil || list.GetStatuses()["flipt.Flipt"].GetStatus() != healthpb.HealthCheckResponse_SERVING {
		t.Errorf("health list is %v, %v, want flipt.Flipt in it", list, err)
	}
}

// reflected opens a reflection stream of the version and returns the services that it
// lists. Both versions have the same messages. The stream stays open.
func (in *instance) reflected(version string) []string {
	in.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	in.t.Cleanup(cancel)
	stream, err := in.conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true},
		"/grpc.reflection."+version+".ServerReflection/ServerReflectionInfo")
	if err != nil {
		in.t.Fatal(err)
	}
	request := &reflection.ServerReflectionRequest{MessageRequest: &reflection.ServerReflectionRequest_ListServices{}}
	if err := stream.SendMsg(request); err != nil {
		in.t.Fatal(err)
	}
	response := &reflection.ServerReflectionResponse{}
	if err := stream.RecvMsg(response); err != nil {
		in.t.Fatal(err)
	}
	var services []string
	for _, s := range response.GetListServicesResponse().GetService() {
		services = append(services, s.GetName())
	}
	return services
}

// Contract 12: reflection in both versions.
func TestReflectionListsServices(t *testing.T) {
	in := start(t, nil)
	v1, v1alpha := in.reflected("v1"), in.reflected("v1alpha")
	if diff := cmp.Diff(v1, v1alpha); diff != "" {
		t.Errorf("the versions differ (-v1 +v1alpha):\n%s", diff)
	}
	for _, want := range []string{"flipt.Flipt", "flipt.evaluation.EvaluationService", "grpc.health.v1.Health", "guidon.v1.ChangeService"} {
		if !slices.Contains(v1, want) {
			t.Errorf("reflection lacks %s: %v", want, v1)
		}
	}
	// OFREP and the event streams are HTTP only.
	for _, service := range v1 {
		if strings.HasPrefix(service, "grpc.") {
			continue
		}
		d, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(service))
		if err != nil {
			t.Errorf("%s: %v", service, err)
			continue
		}
		methods := d.(protoreflect.ServiceDescriptor).Methods()
		for i := range methods.Len() {
			if m := methods.Get(i); m.IsStreamingServer() || m.IsStreamingClient() || strings.Contains(strings.ToLower(service), "ofrep") {
				t.Errorf("%s is offered over gRPC", m.FullName())
			}
		}
	}
	// Both streams are still open. An idle client must not delay the stop.
	in.cancel()
	if err := in.wait(); err != nil {
		t.Errorf("Run: %v", err)
	}
}

// limitedTo returns a context whose calls have a new token that is limited to the namespace.
func (in *instance) limitedTo(namespace string) context.Context {
	in.t.Helper()
	token, _, err := in.service.CreateToken(in.t.Context(), service.Write{}, service.TokenInput{Name: "t", Namespace: namespace})
	if err != nil {
		in.t.Fatal(err)
	}
	return metadata.AppendToOutgoingContext(in.t.Context(), "authorization", "Bearer "+token)
}

// Contract 10.2: the metadata in which a credential may be sent over gRPC.
func TestGRPCCredentials(t *testing.T) {
	in := start(t, required)
	token, _, err := in.service.CreateToken(t.Context(), service.Write{}, service.TokenInput{Name: "ci"})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name     string
		metadata []string
		want     codes.Code
	}{
		{"none", nil, codes.Unauthenticated},
		{"bearer", []string{"authorization", "Bearer " + token}, codes.OK},
		{"the scheme is case-sensitive", []string{"authorization", "bearer " + token}, codes.Unauthenticated},
		{"a wrong token", []string{"authorization", "Bearer x" + token}, codes.Unauthenticated},
		{"gateway cookie", []string{"grpcgateway-cookie", "a=b; service_client_token=" + token}, codes.OK},
		{"cookie", []string{"cookie", "service_client_token=" + token}, codes.OK},
		{"a cookie counts only without authorization",
			[]string{"authorization", "Basic x", "cookie", "service_client_token=" + token}, codes.Unauthenticated},
		{"only the first authorization counts",
			[]string{"authorization", "Bearer x", "authorization", "Bearer " + token}, codes.Unauthenticated},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			ctx := metadata.AppendToOutgoingContext(t.Context(), test.metadata...)
			err := in.call(ctx, "/flipt.auth.AuthenticationService/GetAuthenticationSelf", &emptypb.Empty{}, &auth.Authentication{})
			if status.Code(err) != test.want {
				t.Errorf("got %v, want %v", err, test.want)
			}
		})
	}
	if strings.Contains(in.log.String(), token) {
		t.Error("the log has the token")
	}
	// Health and reflection never require a credential (contract 10.1).
	if _, err := healthpb.NewHealthClient(in.conn).Check(t.Context(), &healthpb.HealthCheckRequest{}); err != nil {
		t.Errorf("health: %v", err)
	}
}

// The message of a write is sent in metadata, percent-encoded, as in the HTTP header.
func TestGRPCMessage(t *testing.T) {
	in := start(t, nil)
	in.seed("one")
	update := func(message, name string) error {
		ctx := metadata.AppendToOutgoingContext(t.Context(), "guidon-message", message)
		return in.call(ctx, "/flipt.Flipt/UpdateFlag", &flipt.UpdateFlagRequest{Key: "one", Name: name}, &flipt.Flag{})
	}
	if err := update("Gr%C3%BC%C3%9Fe, 50%25 off", "two"); err != nil {
		t.Fatal(err)
	}
	if err := update("50 % off", "three"); status.Code(err) != codes.InvalidArgument {
		t.Errorf("got %v, want InvalidArgument", err)
	}
	changes := new(guidonv1.ListChangesResponse)
	if err := in.call(t.Context(), "/guidon.v1.ChangeService/ListChanges", &guidonv1.ListChangesRequest{Limit: 1}, changes); err != nil {
		t.Fatal(err)
	}
	if got, want := changes.GetChanges()[0].GetMessage(), "Grüße, 50% off"; got != want {
		t.Errorf("got message %q, want %q", got, want)
	}
}

// An edit of an object that has changed fails with the reason, and the current revision in
// the metadata.
func TestGRPCEdit(t *testing.T) {
	in := start(t, nil)
	in.seed("one")
	var header metadata.MD
	edit := func(method string, request proto.Message) (*guidonv1.EditResponse, error) {
		response := new(guidonv1.EditResponse)
		return response, in.call(t.Context(), "/guidon.v1.EditService/"+method, request, response, grpc.Header(&header))
	}
	zero := int64(0)
	_, err := edit("ReplaceFlag", &guidonv1.ReplaceFlagRequest{Key: "one", Flag: &guidonv1.DocumentFlag{Name: "New"}, UnlessChangedSince: &zero})
	if s := status.Convert(err); s.Code() != codes.FailedPrecondition || !strings.HasPrefix(s.Message(), `flag "default/one" was created in revision 2 by anonymous at `) {
		t.Errorf("ReplaceFlag: got %v, want a conflict", err)
	}
	if got := header.Get("guidon-revision"); len(got) != 1 || got[0] != "2" {
		t.Errorf("got revision %q, want 2", got)
	}
	for _, test := range []struct {
		method  string
		request proto.Message
	}{
		{"Patch", &guidonv1.PatchRequest{
			Flags:    []*guidonv1.FlagEdit{{Delete: "one"}, {Put: &guidonv1.DocumentFlag{Key: "two", Name: "Two", Type: flipt.FlagType_BOOLEAN_FLAG_TYPE}}},
			Segments: []*guidonv1.SegmentEdit{{Put: &guidonv1.DocumentSegment{Key: "s", Name: "S"}}},
		}},
		{"ReplaceSegment", &guidonv1.ReplaceSegmentRequest{Key: "s", Segment: &guidonv1.DocumentSegment{Name: "SS"}}},
		{"TurnFlagOff", &guidonv1.SwitchFlagRequest{Key: "two"}},
		{"TurnFlagOn", &guidonv1.SwitchFlagRequest{Key: "two"}},
	} {
		before := header.Get("guidon-revision")
		response, err := edit(test.method, test.request)
		if err != nil || len(response.GetChanges()) == 0 || slices.Equal(header.Get("guidon-revision"), before) {
			t.Errorf("%s: got %v, %v at revision %q", test.method, response, err, header.Get("guidon-revision"))
		}
	}
}

// The revision, the precondition and the request id are sent in metadata as in HTTP
// headers.
func TestGRPCMetadata(t *testing.T) {
	in := start(t, nil)
	in.seed("one")
	var header metadata.MD
	read := func() string {
		t.Helper()
		ctx := metadata.AppendToOutgoingContext(t.Context(), "x-request-id", "my-request")
		if err := in.call(ctx, "/flipt.Flipt/GetFlag", &flipt.GetFlagRequest{Key: "one"}, &flipt.Flag{}, grpc.Header(&header)); err != nil {
			t.Fatal(err)
		}
		return strings.Join(header.Get("guidon-revision"), ",")
	}
	revision := read()
	if got := header.Get("x-request-id"); !slices.Equal(got, []string{"my-request"}) {
		t.Errorf("x-request-id is %q, want the one of the request", got)
	}
	update := func(ifMatch string) error {
		ctx := metadata.AppendToOutgoingContext(t.Context(), "if-match", ifMatch)
		return in.call(ctx, "/flipt.Flipt/UpdateFlag", &flipt.UpdateFlagRequest{Key: "one", Name: "One"}, &flipt.Flag{}, grpc.Header(&header))
	}
	if err := update(revision); err != nil {
		t.Errorf("update of revision %s: %v", revision, err)
	}
	after := read()
	if after == revision {
		t.Errorf("the revision is %s before and after an update", after)
	}
	if err := update(revision); status.Code(err) != codes.FailedPrecondition {
		t.Errorf("update of a stale revision: %v, want FailedPrecondition", err)
	}
	if got := header.Get("guidon-revision"); !slices.Equal(got, []string{after}) {
		t.Errorf("the error has the revision %q, want the current one, %s", got, after)
	}
	if len(header.Get("x-request-id")) != 1 {
		t.Error("the error has no request id")
	}
	if got := read(); got != after {
		t.Errorf("the revision is %s after a rejected update, want %s", got, after)
	}
}

// The freshness requirements of a request, and the age of a response, are sent in
// metadata as in HTTP headers.
func TestFreshnessOverGRPC(t *testing.T) {
	stub := &freshStore{}
	in := start(t, func(s *settings) { s.handler.Service = service.NewService(stub, time.Now) })
	request := &evaluation.EvaluationRequest{FlagKey: "f", EntityId: "e"}
	evaluate := func(pairs ...string) (metadata.MD, error) {
		var header metadata.MD
		ctx := metadata.AppendToOutgoingContext(t.Context(), pairs...)
		err := in.call(ctx, "/flipt.evaluation.EvaluationService/Boolean", request, &evaluation.BooleanEvaluationResponse{}, grpc.Header(&header))
		return header, err
	}
	header, err := evaluate("cache-control", "max-age=0", "cache-control", "no-cache", "guidon-min-revision", "7")
	if err != nil {
		t.Fatal(err)
	}
	if d := stub.demand; !d.Fresh || d.AtLeast != 7 || !d.MayBeStale {
		t.Errorf("the store got the demand %+v", d)
	}
	if got := header.Get("guidon-stale"); !slices.Equal(got, []string{"3"}) {
		t.Errorf("guidon-stale is %q, want 3: the age in seconds, rounded up", got)
	}
	if _, err := evaluate("guidon-min-revision", "nonsense"); status.Code(err) != codes.InvalidArgument {
		t.Errorf("got %v, want InvalidArgument", err)
	}
}

// freshStore returns an old snapshot and records the demand.
type freshStore struct {
	service.Store // nil: no other method is called
	demand        service.Demand
}

func (s *freshStore) Snapshot(_ context.Context, namespace string, d service.Demand) (*guidon.Snapshot, time.Duration, error) {
	s.demand = d
	flags := []*guidon.Flag{{Key: "f", Type: guidon.BooleanFlag}}
	return guidon.NewSnapshot(&guidon.Namespace{Key: namespace}, guidon.Revision{Number: 9}, flags, nil), 2500 * time.Millisecond, nil
}

// Both transports return the same result, success or error.
func TestBothTransportsReturnTheSame(t *testing.T) {
	in := start(t, nil)
	in.seed("banner", "checkout")
	tests := []struct {
		name         string
		method, path string
		body         string
		operation    string
		request      proto.Message
		response     proto.Message
	}{
		{"get", "GET", "/api/v1/namespaces/default/flags/banner", "",
			"/flipt.Flipt/GetFlag", &flipt.GetFlagRequest{Key: "banner"}, &flipt.Flag{}},
		{"list", "GET", "/api/v1/namespaces/default/flags?limit=1", "",
			"/flipt.Flipt/ListFlags", &flipt.ListFlagRequest{NamespaceKey: "default", Limit: 1}, &flipt.FlagList{}},
		{"namespaces", "GET", "/api/v1/namespaces", "",
			"/flipt.Flipt/ListNamespaces", &flipt.ListNamespaceRequest{}, &flipt.NamespaceList{}},
		{"evaluate", "POST", "/evaluate/v1/boolean", `{"flagKey":"banner","entityId":"e","requestId":"r"}`,
			evaluateBoolean, &evaluation.EvaluationRequest{FlagKey: "banner", EntityId: "e", RequestId: "r"}, &evaluation.BooleanEvaluationResponse{}},
		{"methods", "GET", "/auth/v1/method", "",
			"/flipt.auth.PublicAuthenticationService/ListAuthenticationMethods", &emptypb.Empty{}, &auth.ListAuthenticationMethodsResponse{}},
		{"delete", "DELETE", "/api/v1/namespaces/default/flags/absent", "",
			"/flipt.Flipt/DeleteFlag", &flipt.DeleteFlagRequest{Key: "absent"}, &emptypb.Empty{}},
		{"not found", "GET", "/api/v1/namespaces/default/flags/absent", "",
			"/flipt.Flipt/GetFlag", &flipt.GetFlagRequest{Key: "absent"}, &flipt.Flag{}},
		{"duplicate", "POST", "/api/v1/namespaces/default/flags", `{"key":"banner","name":"again"}`,
			"/flipt.Flipt/CreateFlag", &flipt.CreateFlagRequest{Key: "banner", Name: "again"}, &flipt.Flag{}},
		{"invalid", "POST", "/api/v1/namespaces/default/flags", `{"key":"a b","name":"n"}`,
			"/flipt.Flipt/CreateFlag", &flipt.CreateFlagRequest{Key: "a b", Name: "n"}, &flipt.Flag{}},
		{"wrong type", "POST", "/evaluate/v1/variant", `{"flagKey":"banner","entityId":"e"}`,
			"/flipt.evaluation.EvaluationService/Variant", &evaluation.EvaluationRequest{FlagKey: "banner", EntityId: "e"}, &evaluation.VariantEvaluationResponse{}},
		{"unauthenticated", "GET", "/auth/v1/self", "",
			"/flipt.auth.AuthenticationService/GetAuthenticationSelf", &emptypb.Empty{}, &auth.Authentication{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			httpResponse, overHTTP := in.do(test.method, test.path, test.body)
			var header metadata.MD
			err := in.call(t.Context(), test.operation, test.request, test.response, grpc.Header(&header))
			if diff := cmp.Diff(comparable(t, overHTTP), comparable(t, asJSON(t, test.response, err))); diff != "" {
				t.Errorf("responses (-HTTP +gRPC):\n%s", diff)
			}
			if got, want := strings.Join(header.Get("guidon-revision"), ","), httpResponse.Header.Get("Guidon-Revision"); got != want {
				t.Errorf("revision over gRPC is %q, over HTTP %q", got, want)
			}
			if want := http.StatusOK; err == nil && httpResponse.StatusCode != want {
				t.Errorf("HTTP status %d, want %d", httpResponse.StatusCode, want)
			}
		})
	}
}

// asJSON returns the gRPC response as HTTP would write it.
func asJSON(t *testing.T, response proto.Message, err error) []byte {
	t.Helper()
	if err != nil {
		s := status.Convert(err)
		body, err := json.Marshal(map[string]any{"code": s.Code(), "message": s.Message(), "details": []any{}})
		if err != nil {
			t.Fatal(err)
		}
		return body
	}
	body, err := codec.Marshal(response)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// comparable returns the response without the fields that differ from call to call.
func comparable(t *testing.T, body []byte) map[string]any {
	t.Helper()
	var response map[string]any
	if err := json.Unmarshal(body, &response); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	delete(response, "timestamp")
	delete(response, "requestDurationMillis")
	return response
}

// Contract 12.4: instance metadata is returned as an HttpBody with the bytes of HTTP.
func TestGRPCMeta(t *testing.T) {
	in := start(t, func(s *settings) { s.handler.Info = diagnostics.Info{Version: "1.2.3"} })
	_, want := in.do("GET", "/meta/info", "")
	got := in.meta(context.Background())
	if diff := cmp.Diff(string(want), string(got.GetData())); diff != "" {
		t.Errorf("info (-HTTP +gRPC):\n%s", diff)
	}
	if got.GetContentType() != "application/json" {
		t.Errorf("content type is %q", got.GetContentType())
	}
}

package server_test

import (
	"bytes"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon/handler/wire/auth"
	"github.com/guidonhq/guidon/handler/wire/evaluation"
	"github.com/guidonhq/guidon/handler/wire/flipt"
)

// No string of a message may contain NUL or bytes that are not UTF-8. The call fails as
// InvalidArgument, and nothing changes; an evaluation with a NUL may succeed. The messages are
// those with a decoder of their own, and some others: what the handler rejects in each string of
// each message is tested there (TestTextsOfOtherTransports).
func TestGRPCTexts(t *testing.T) {
	const placeholder, evaluations = "PLACEHOLDER", "/flipt.evaluation.EvaluationService/"
	in := start(t, func(s *settings) { s.handler.Authentication.TokenMethod = true })
	before := in.revision()
	items := []*evaluation.EvaluationRequest{
		{RequestId: placeholder}, {NamespaceKey: placeholder}, {FlagKey: placeholder}, {EntityId: placeholder}, {Reference: placeholder},
		{Context: map[string]string{placeholder: "a"}}, {Context: map[string]string{"a": placeholder}},
	}
	type request struct {
		method  string
		message proto.Message
	}
	requests := []request{
		{"/flipt.Flipt/CreateFlag", &flipt.CreateFlagRequest{NamespaceKey: "default", Key: "a", Name: placeholder}},
		{"/flipt.Flipt/CreateFlag", &flipt.CreateFlagRequest{NamespaceKey: placeholder, Key: "a", Name: "a"}},
		{"/flipt.Flipt/OrderRules", &flipt.OrderRulesRequest{NamespaceKey: "default", FlagKey: "a", RuleIds: []string{placeholder}}},
		{"/flipt.auth.AuthenticationMethodTokenService/CreateToken", &auth.CreateTokenRequest{Name: placeholder}},
		{evaluations + "Batch", &evaluation.BatchEvaluationRequest{RequestId: placeholder}},
		{evaluations + "Batch", &evaluation.BatchEvaluationRequest{Reference: placeholder}},
	}
	for _, item := range items {
		requests = append(requests, request{evaluations + "Boolean", item}, request{evaluations + "Variant", item},
			request{evaluations + "Batch", &evaluation.BatchEvaluationRequest{Requests: []*evaluation.EvaluationRequest{item}}})
	}
	for _, r := range requests {
		encoded, err := proto.Marshal(r.message)
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range []string{"\x00", "\xff"} {
			sent := bytes.ReplaceAll(encoded, []byte(placeholder), []byte(strings.Repeat(bad, len(placeholder))))
			var response []byte
			code := status.Code(in.conn.Invoke(t.Context(), r.method, sent, &response, grpc.ForceCodecV2(rawCodec{})))
			evaluates := strings.HasPrefix(r.method, evaluations) && bad == "\x00" && (code == codes.OK || code == codes.NotFound)
			if code != codes.InvalidArgument && !evaluates {
				t.Errorf("%s, %q in %v: got %v, want InvalidArgument", r.method, bad, r.message, code)
			}
		}
	}
	if after := in.revision(); after != before {
		t.Errorf("the revision is %s, want %s", after, before)
	}
}

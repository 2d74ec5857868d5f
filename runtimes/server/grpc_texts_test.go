package server_test

import (
	"bytes"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/auth"
	"github.com/guidonhq/guidon/handler/wire/wiretest"
	"github.com/guidonhq/guidon/service"
)

// everyMethod is a way to sign in with which every method is enabled, and nobody gets in.
type everyMethod struct{ auth.NoSignIn }

// Describe implements [auth.SignIn].
func (everyMethod) Describe(service.Method) (bool, *structpb.Struct) { return true, nil }

// No string of any message may contain NUL or bytes that are not UTF-8. The call fails as
// InvalidArgument, and nothing changes.
func TestGRPCTexts(t *testing.T) {
	const placeholder = "PLACEHOLDER"
	in := start(t, func(s *settings) { s.handler.Authentication.TokenMethod, s.handler.SignIn = true, everyMethod{} })
	before := in.revision()
	for _, o := range handler.Operations() {
		for _, text := range wiretest.Texts(o.NewRequest()) {
			m := o.NewRequest()
			text.Set(m, placeholder)
			encoded, err := proto.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			for _, bad := range []string{"\x00", "\xff"} {
				request := bytes.ReplaceAll(encoded, []byte(placeholder), []byte(strings.Repeat(bad, len(placeholder))))
				var response []byte
				err := in.conn.Invoke(t.Context(), o.Name, request, &response, grpc.ForceCodecV2(rawCodec{}))
				code := status.Code(err)
				if code == codes.InvalidArgument || o.ServesStale() && bad == "\x00" && (code == codes.OK || code == codes.NotFound) {
					continue
				}
				t.Errorf("%s, %q in %s: got %v, want InvalidArgument", o.Name, bad, text.Path, err)
			}
		}
	}
	if after := in.revision(); after != before {
		t.Errorf("the revision is %s, want %s", after, before)
	}
	if all, _, err := in.service.ListAuthentications(t.Context(), service.Demand{}, service.AuthenticationFilter{}, 100, ""); err != nil || len(all) != 0 {
		t.Errorf("got %d tokens, error %v, want none", len(all), err)
	}
}

package handler_test

import (
	"net/http"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/wire/auth"
)

// TestUnknownMembers: a member that is hardly anything but a misspelled one is refused, and
// changes nothing.
func TestUnknownMembers(t *testing.T) {
	s := newServer(t, tokens)
	s.must("", "POST", "/api/v1/flags", `{"key":"b","name":"B","type":"BOOLEAN_FLAG_TYPE","x":1}`) // Flipt ignores them too
	s.must("", "POST", "/api/v1/flags", `{"key":"v","name":"V"}`)
	s.must("", "POST", "/api/v1/segments", `{"key":"s","name":"S"}`)
	s.must("variant", "POST", "/api/v1/flags/v/variants", `{"key":"a"}`)
	s.must("rule", "POST", "/api/v1/flags/v/rules", `{"segmentKey":"s","rank":1}`)
	const namespace = "/api/v1/namespaces/default"
	before := s.state()
	long := strings.Repeat(" ", 300<<10) // makes the body one that is decoded while it is read
	for _, test := range []struct{ method, path, body, want string }{
		{"POST", "/auth/v1/method/token", `{"name":"t","namespaces":["shop"]}`, "invalid field namespaces: is not known; did you mean namespaceKeys?"},
		{"POST", "/auth/v1/bindings", `{"role":"admin","subject":"user:a@guidon.example","namespaces":["shop"]}`, "invalid field namespaces: is not known; did you mean namespaceKeys?"},
		{"POST", namespace + "/flags/b/rollouts", `{"rank":1,"threshold":{"percent":50,"value":true}}`, "invalid field threshold.percent: is not known, and percentage is missing; did you mean percentage?"},
		{"POST", "/api/v1/flags/v/rules/{rule}/distributions", `{"variantId":"{variant}","rolout":50}`, "invalid field rolout: is not known, and rollout is missing; did you mean rollout?"},
		{"POST", namespace + "/import", `{"document":{"flags":[{"key":"f","name":"F","enabld":true}]}}`, "invalid field document.flags[0].enabld: is not known; did you mean enabled?"},
		{"POST", namespace + "/import", long + `{"document":{"flags":[{"key":"e","name":"E"},{"key":"f","name":"F","rolouts":[]}]}}`, "invalid field document.flags[1].rolouts: is not known; did you mean rollouts?"},
		{"POST", namespace + "/import", long + `{"document":{"segmnts":[]}}`, "invalid field document.segmnts: is not known; did you mean segments?"},
		{"POST", namespace + "/import", `{"document":{},"dry_ru":true}`, "invalid field dry_ru: is not known; did you mean dry_run?"},
		{"POST", namespace + "/plan", `{"document":{"namespace":{"colour":"red"}}}`, "invalid field document.namespace.colour: is not known; did you mean color?"},
		{"POST", namespace + "/apply", `{"document":{"segments":[{"key":"s","name":"S","constraint":[]}]},"digest":"x"}`, "invalid field document.segments[0].constraint: is not known; did you mean constraints?"},
		{"PUT", namespace + "/flags/b/content", `{"flag":{"key":"b","name":"B","rollouts":[{"threshold":{"percent":5}}]}}`, "invalid field flag.rollouts[0].threshold.percent: is not known; did you mean percentage?"},
	} {
		s.do(test.method, test.path, test.body).fails(t, http.StatusBadRequest, 3, test.want)
	}
	if after := s.state(); after != before {
		t.Errorf("the state has changed: got %s, want %s", after, before)
	}

	s.must("", "POST", namespace+"/flags/b/rollouts", `{"rank":1,"threshold":{"value":true}}`) // 0 %
	s.must("", "POST", namespace+"/flags/b/rollouts", `{"rank":2,"threshold":{"percentage":0,"value":true,"x":1}}`)
	s.must("", "POST", "/api/v1/flags/v/rules/{rule}/distributions", `{"variantId":"{variant}"}`)
	s.must("", "POST", "/auth/v1/method/token", `{"name":"t","metadata":{"namespaces":"any"}}`)
	for _, padding := range []string{"", long} {
		s.must("", "POST", namespace+"/import", padding+`{"document":{"flags":[{"key":"b","name":"B","x":1}]},"mode":"UPDATE_IMPORT_MODE","ignoreUnknown":true}`)
		s.must("", "POST", namespace+"/plan", padding+`{"ignoreUnknown":true,"document":{"x":{}}}`)
	}
}

// TestUnknownMembersOfOperations: every operation that grants something, and every one that is
// not part of Flipt v1, refuses a member that its request does not have.
func TestUnknownMembersOfOperations(t *testing.T) {
	s := newInside(t, "goes through the operations of the handler", required)
	admin, strict := "Bearer "+s.token(""), 0
	for _, o := range s.handler.Operations() {
		if !o.HasMessages() || !o.Enabled() {
			continue
		}
		for _, route := range o.Routes {
			if !o.HasBody(route) || strings.HasSuffix(o.Name, "/Revoke") { // a form, of a provider
				continue
			}
			path := pathVariable.ReplaceAllString(strings.Replace(route.Pattern, "{namespace_key}", "default", 1), "x")
			got := s.do(route.Method, path, `{"nonsense":1}`, "Authorization", admin)
			refused := got.status == http.StatusBadRequest && strings.Contains(got.body, "invalid field nonsense: is not known")
			want := strings.HasPrefix(o.Name, "/guidon.v1.") || o.Changes() && !o.Has(call.Writes)
			if refused != want && !strings.Contains(o.Name, "Distribution") {
				t.Errorf("%s %s: got %d %s, want it refused: %t", route.Method, path, got.status, got.body, want)
			}
			if refused {
				strict++
			}
		}
	}
	if strict < 20 {
		t.Errorf("got %d operations that refuse, want at least 20", strict)
	}
}

// TestUnknownFieldOverGRPC: a field with a number that the service does not know is refused in
// what grants something.
func TestUnknownFieldOverGRPC(t *testing.T) {
	s := newInside(t, "calls operations without a request", tokens)
	message := &auth.CreateTokenRequest{Name: "t"}
	newer := protowire.AppendTag(nil, 2000, protowire.BytesType)
	message.ProtoReflect().SetUnknown(protowire.AppendString(newer, "shop"))
	for _, o := range s.handler.Operations() {
		if o.Method() != "CreateToken" {
			continue
		}
		_, err := s.handler.Invoke(t.Context(), o, call.Request{Transport: "grpc", Message: proto.Clone(message)})
		if guidon.CodeOf(err) != guidon.InvalidArgument || !strings.Contains(err.Error(), "invalid field 2000: is not known") {
			t.Errorf("got %v", err)
		}
	}
}

// TestContentSentBack: what is read of a flag or segment can be sent back as it is.
func TestContentSentBack(t *testing.T) {
	s := newServer(t)
	s.must("", "POST", "/api/v1/namespaces/default/flags", `{"key":"f","name":"F"}`)
	s.must("", "POST", "/api/v1/namespaces/default/segments", `{"key":"s","name":"S"}`)
	for _, path := range []string{"/api/v1/namespaces/default/flags/f", "/api/v1/namespaces/default/segments/s"} {
		content := s.must("", "GET", path+"/content", "").body
		s.must("", "PUT", path+"/content", content)
		s.must("", "POST", path+"/effect", content)
	}
}

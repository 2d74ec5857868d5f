package handler_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/codec"
)

// placeholder is replaced, in an encoded request, by a string that no encoder would
// write.
const placeholder = "PLACEHOLDER"

// attacked returns a request of the operation with the value at the place, and "default"
// in all other string fields, which may be path variables.
func attacked(o *call.Operation, text messageText, value string) proto.Message {
	m := o.NewRequest()
	fields := m.ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		if f := fields.Get(i); f.Kind() == protoreflect.StringKind && !f.IsList() {
			m.ProtoReflect().Set(f, protoreflect.ValueOfString("default"))
		}
	}
	text.put(m, value)
	return m
}

// state returns everything that requests could change.
func (s *server) state() string {
	s.t.Helper()
	var all []string
	for _, path := range []string{
		"/api/v1/namespaces", "/auth/v1/tokens?limit=100",
		"/api/v1/namespaces/default/export", "/api/v1/namespaces/default/changes",
	} {
		all = append(all, s.must("", "GET", path, "").body)
	}
	return strings.Join(all, "\n")
}

// filled adds a flag, a segment and a token that requests can refer to, and returns s.
func filled(t *testing.T, s *server) *server {
	t.Helper()
	s.must("", "POST", "/api/v1/flags", `{"key":"default","name":"Default"}`)
	s.must("", "POST", "/api/v1/segments", `{"key":"default","name":"Default"}`)
	s.must("", "POST", "/auth/v1/method/token", `{"name":"default"}`)
	return s
}

// TestNULInRequests checks that a NUL, which PostgreSQL cannot store, is rejected in
// every string of every request. The error names the field, and nothing changes.
// Evaluations, which store nothing, still succeed.
func TestNULInRequests(t *testing.T) {
	s := filled(t, newServer(t, tokens, withEveryMethod))
	s.attackTexts("a%00b", `a\u0000b`, func(o *call.Operation, path, request string, got reply) {
		switch want := "invalid field " + path + ": must not contain a NUL character"; {
		case o.Has(call.ServesStale) && got.status < 500:
		case o.Has(call.ServesStale) || got.status != http.StatusBadRequest || !strings.Contains(got.body, want):
			t.Errorf("%s: got %d %s, want 400 with %q", request, got.status, got.body, want)
		}
	})
}

// TestInvalidUTF8InRequests checks the same for bytes that are not UTF-8.
func TestInvalidUTF8InRequests(t *testing.T) {
	s := filled(t, newInside(t, "sends what the events of functions cannot carry", tokens, withEveryMethod))
	s.attackTexts("a%ffb", "a\xffb", func(_ *call.Operation, _, request string, got reply) {
		if got.status != http.StatusBadRequest {
			t.Errorf("%s: got %d %s, want 400", request, got.status, got.body)
		}
	})
}

// attackTexts puts a string into each string field of each request, escaped for URLs and
// for JSON, and calls check with the path of the field and the response. It fails if
// anything has changed.
func (s *server) attackTexts(inURL, inJSON string, check func(o *call.Operation, path, request string, got reply)) {
	s.t.Helper()
	before := s.state()
	for _, o := range handler.Operations() {
		if o.Method() == "Revoke" { // its body is a form
			continue
		}
		for _, route := range o.Routes {
			for _, text := range textsOfMessage(o.NewRequest()) {
				method, target, body, ok := requestOf(s.t, o, route, text)
				if !ok {
					continue
				}
				target = strings.ReplaceAll(target, placeholder, inURL)
				body = strings.ReplaceAll(body, placeholder, inJSON)
				check(o, text.path, fmt.Sprintf("%s %s %q", method, target, body), s.do(method, target, body))
			}
		}
	}
	if diff := cmp.Diff(before, s.state()); diff != "" {
		s.t.Errorf("the state has changed (-before +after):\n%s", diff)
	}
}

// requestOf returns the request with the placeholder at the place, or false if the route
// has no way to set it.
func requestOf(t testing.TB, o *call.Operation, route call.Route, text messageText) (method, target, body string, ok bool) {
	t.Helper()
	m := attacked(o, text, placeholder)
	target = route.Pattern
	inPath := false
	for _, name := range route.Variables() {
		field := m.ProtoReflect().Descriptor().Fields().ByTextName(name)
		target = strings.Replace(target, "{"+name+"}", m.ProtoReflect().Get(field).String(), 1)
		inPath = inPath || field == text.field
	}
	switch {
	case inPath:
		return route.Method, target, "", true
	case o.HasBody(route):
		encoded, err := codec.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return route.Method, target, string(encoded), true
	case text.field.Kind() == protoreflect.StringKind && !text.field.IsMap():
		return route.Method, target + "?" + url.Values{text.field.JSONName(): {placeholder}}.Encode(), "", true
	}
	return "", "", "", false
}

// TestTextsOfOtherTransports checks that invalid strings are also rejected if a transport
// has decoded the message less strictly.
func TestTextsOfOtherTransports(t *testing.T) {
	s := filled(t, newInside(t, "calls the handler without a request", tokens))
	before := s.state()
	for _, o := range handler.Operations() {
		for _, text := range textsOfMessage(o.NewRequest()) {
			for value, rule := range map[string]string{"a\x00b": "must not contain a NUL character", "a\xffb": "must be valid UTF-8"} {
				actor := change.Actor{ID: "test"}
				_, err := s.handler.Invoke(t.Context(), o, call.Request{
					Message: attacked(o, text, value), Actor: &actor, Transport: "local",
				})
				want := "invalid field " + text.path + ": " + rule
				if !o.Has(call.ServesStale) && (!errors.Is(err, guidon.InvalidArgument) || guidon.PublicMessage(err) != want) || errors.Is(err, guidon.Internal) {
					t.Errorf("%s, %q in %s: got error %v, want %q", o.Name, value, text.path, err, want)
				}
			}
		}
	}
	if diff := cmp.Diff(before, s.state()); diff != "" {
		t.Errorf("the state has changed (-before +after):\n%s", diff)
	}
}

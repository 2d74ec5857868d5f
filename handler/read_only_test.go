package handler_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/service"
)

const readOnlyRefusal = "permission denied: the service is read-only (server.read_only is set)"

func readOnly(c *handler.Config) { c.ReadOnly = true }

// onReadOnly returns a server that is read-only, with something in it.
func onReadOnly(t *testing.T, options ...func(*handler.Config)) *server {
	t.Helper()
	s := newServer(t, append(options, readOnly)...)
	if _, _, err := s.service.CreateFlag(t.Context(), service.Write{}, "default", guidon.Flag{Key: "x", Name: "X", Type: guidon.BooleanFlag}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.service.CreateSegment(t.Context(), service.Write{}, "default", guidon.Segment{Key: "x", Name: "X"}); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestReadOnlyRoutes: every route of every operation that writes a namespace is refused,
// and no other one.
func TestReadOnlyRoutes(t *testing.T) {
	s := onReadOnly(t)
	before, refused := s.state(), 0
	for _, o := range handler.Operations() {
		for _, route := range o.Routes {
			path := pathVariable.ReplaceAllString(strings.Replace(route.Pattern, "{namespace_key}", "default", 1), "x")
			body := ""
			if o.HasBody(route) {
				body = "{}"
			}
			got := s.do(route.Method, path, body)
			if o.Has(call.Writes) {
				got.fails(t, http.StatusForbidden, 7, readOnlyRefusal)
				refused++
			} else if strings.Contains(got.body, "read-only") {
				t.Errorf("%s %s: got %d %s; want it to work", route.Method, path, got.status, got.body)
			}
		}
	}
	if diff := cmp.Diff(before, s.state()); diff != "" {
		t.Errorf("the state has changed (-before +after):\n%s", diff)
	}
	if refused < 50 {
		t.Errorf("got %d refused routes, want at least 50", refused)
	}
}

// TestReadOnlyWrites: requests that would change something are refused, in every form.
func TestReadOnlyWrites(t *testing.T) {
	s := onReadOnly(t)
	before := s.state()
	for _, test := range []struct{ method, path, body string }{
		{"POST", "/api/v1/namespaces", `{"key":"n","name":"N"}`},
		{"PUT", "/api/v1/namespaces/default", `{"name":"N"}`},
		{"DELETE", "/api/v1/namespaces/default?force=true", ""},
		{"PUT", "/api/v1/namespaces/default/flags/x", `{"name":"X","enabled":true}`},
		{"DELETE", "/api/v1/segments/x", ""},
		{"POST", "/api/v1/namespaces/default/flags/x/on", `{}`},
		{"POST", "/api/v1/namespaces/default/patch", `{"flags":[{"delete":"x"}]}`},
		{"POST", "/api/v1/namespaces/default/import", `{"document":{"flags":[{"key":"y","name":"Y"}]}}`},
		{"POST", "/api/v1/namespaces/default/import", `{"document":{"flags":[{"key":"y","name":"Y"}]},"dryRun":false}`},
		{"POST", "/api/v1/namespaces/default/apply", `{"undo":{"firstRevision":"1"},"digest":"x"}`},
	} {
		s.do(test.method, test.path, test.body).fails(t, http.StatusForbidden, 7, readOnlyRefusal)
	}
	if diff := cmp.Diff(before, s.state()); diff != "" {
		t.Errorf("the state has changed (-before +after):\n%s", diff)
	}
}

// TestReadOnlyWorks: what changes no namespace goes on, also signing in and tokens.
func TestReadOnlyWorks(t *testing.T) {
	s := onReadOnly(t, tokens)
	before := s.state()
	s.must("", "POST", "/evaluate/v1/boolean", `{"flagKey":"x","entityId":"e"}`)
	s.must("", "POST", "/api/v1/namespaces/default/flags/x/explain", `{"entityId":"e"}`)
	s.must("", "POST", "/api/v1/namespaces/default/plan", `{"document":{"flags":[{"key":"y","name":"Y"}]}}`)
	dry := s.must("", "POST", "/api/v1/namespaces/default/import", `{"document":{"flags":[{"key":"y","name":"Y"}]},"dryRun":true}`)
	if !strings.Contains(dry.body, `"key":"y"`) {
		t.Errorf("a dry run: got %s, want a change of y", dry.body)
	}
	created := s.must("", "POST", "/api/v1/namespaces", `{"key":"n","name":"N"}`, "Guidon-Dry-Run", "true")
	if !strings.Contains(created.body, `"key":"n"`) {
		t.Errorf("a dry run of a write: got %s, want the namespace", created.body)
	}
	s.do("DELETE", "/api/v1/namespaces/default/flags/x", "", "Guidon-Dry-Run", "false").fails(t, http.StatusForbidden, 7, readOnlyRefusal)
	if diff := cmp.Diff(before, s.state()); diff != "" {
		t.Errorf("the state has changed (-before +after):\n%s", diff)
	}
	token := s.must("", "POST", "/auth/v1/method/token", `{"name":"n"}`).field(t, "clientToken")
	if !strings.HasPrefix(token, "gdn_") {
		t.Errorf("got token %q", token)
	}
	s.must("", "POST", "/auth/v1/bindings", `{"role":"viewer","subject":"oidc:google:*","namespaceKeys":["*"]}`)
}

// TestReadOnlyAfterAuthorization: a caller without rights does not get further than it
// would otherwise.
func TestReadOnlyAfterAuthorization(t *testing.T) {
	s := onReadOnly(t, required)
	const path = "/api/v1/namespaces/default/flags/x"
	s.do("DELETE", path, "").fails(t, 401, 16, unauthenticated)
	viewer, editor := "Bearer "+s.grant(service.RoleViewer), "Bearer "+s.grant(service.RoleEditor)
	s.do("DELETE", path, "", "Authorization", viewer).fails(t, 403, 7, `permission denied: needs editor on namespace "default"`)
	s.do("DELETE", path, "", "Authorization", editor).fails(t, 403, 7, readOnlyRefusal)
}

// TestReadOnlyTrusted: the commands that work on the database itself are refused, too.
func TestReadOnlyTrusted(t *testing.T) {
	s := newInside(t, "calls the handler without a request", readOnly)
	_, err := s.handler.Invoke(t.Context(), operation(t, "CreateFlag"), call.Request{
		Message: &flipt.CreateFlagRequest{Key: "f", Name: "F"}, Actor: &change.Actor{ID: "cli:me"}, Transport: "local",
	})
	if guidon.CodeOf(err) != guidon.PermissionDenied || guidon.PublicMessage(err) != readOnlyRefusal {
		t.Errorf("got error %v, want %q", err, readOnlyRefusal)
	}
}

// TestReadOnlyInfo: clients can find out before they try.
func TestReadOnlyInfo(t *testing.T) {
	if got := newServer(t, readOnly).must("", "GET", "/meta/info", "").body; !strings.Contains(got, `"readOnly":true`) {
		t.Errorf("got %s, want readOnly", got)
	}
	if got := newServer(t).must("", "GET", "/meta/info", "").body; strings.Contains(got, "readOnly") {
		t.Errorf("got %s, want no readOnly", got)
	}
}

package handler_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/stream"
	"github.com/guidonhq/guidon/service"
)

// roles are all roles, from that with the fewest rights.
var roles = []service.Role{service.RoleNone, service.RoleEvaluator, service.RoleClient, service.RoleViewer, service.RoleEditor, service.RoleAdmin}

// needs are the roles that operations need in the namespaces of their requests, by method.
// Operations that are missing need "admin everywhere", those with an empty role none.
var needs = map[string]service.Role{
	"Variant": service.RoleEvaluator, "Boolean": service.RoleEvaluator, "Batch": service.RoleEvaluator,
	"Evaluate": service.RoleEvaluator, "BatchEvaluate": service.RoleEvaluator,
	"EvaluationSnapshotNamespace": service.RoleClient,
	"GetNamespace":                service.RoleViewer, "ListFlags": service.RoleViewer, "GetFlag": service.RoleViewer, "ListRules": service.RoleViewer, "GetRule": service.RoleViewer,
	"ListRollouts": service.RoleViewer, "GetRollout": service.RoleViewer, "ListSegments": service.RoleViewer, "GetSegment": service.RoleViewer,
	"ListChanges": service.RoleViewer, "ListAllChanges": service.RoleViewer, "LatestChanges": service.RoleViewer, "Export": service.RoleViewer, "Explain": service.RoleViewer, "ExplainBatch": service.RoleViewer, "ExplainSegment": service.RoleViewer, "ExplainFlags": service.RoleViewer,
	"GetSegmentUsage": service.RoleViewer, "PreviewSegment": service.RoleViewer, "PreviewFlag": service.RoleViewer, "GetFlagReach": service.RoleViewer, "GetFlagEvaluations": service.RoleViewer, "GetEvaluations": service.RoleViewer, "GetFlagEvaluationsCount": service.RoleViewer, "ReportEvaluations": service.RoleClient, "GetFlagTimeline": service.RoleViewer, "ListFlagUses": service.RoleViewer, "PreviewFlagReach": service.RoleViewer, "GetFlagContent": service.RoleViewer, "GetSegmentContent": service.RoleViewer,
	"Compare": service.RoleViewer, "ListFlagSummaries": service.RoleViewer, "ListSegmentSummaries": service.RoleViewer, "ListUnusedFlags": service.RoleViewer,
	"ListProperties": service.RoleViewer, "GetCatalogCounts": service.RoleViewer, "Search": service.RoleUnset, "ListFlagNamespaces": service.RoleUnset,
	"MergeFlag": service.RoleViewer, "MergeSegment": service.RoleViewer,
	"CreateFlag": service.RoleEditor, "UpdateFlag": service.RoleEditor, "DeleteFlag": service.RoleEditor,
	"CreateVariant": service.RoleEditor, "UpdateVariant": service.RoleEditor, "DeleteVariant": service.RoleEditor,
	"CreateRule": service.RoleEditor, "UpdateRule": service.RoleEditor, "OrderRules": service.RoleEditor, "DeleteRule": service.RoleEditor,
	"CreateDistribution": service.RoleEditor, "UpdateDistribution": service.RoleEditor, "DeleteDistribution": service.RoleEditor,
	"CreateRollout": service.RoleEditor, "UpdateRollout": service.RoleEditor, "OrderRollouts": service.RoleEditor, "DeleteRollout": service.RoleEditor,
	"CreateSegment": service.RoleEditor, "UpdateSegment": service.RoleEditor, "DeleteSegment": service.RoleEditor,
	"CreateConstraint": service.RoleEditor, "UpdateConstraint": service.RoleEditor, "DeleteConstraint": service.RoleEditor,
	"ReplaceFlag": service.RoleEditor, "ReplaceSegment": service.RoleEditor, "TurnFlagOff": service.RoleEditor, "TurnFlagOn": service.RoleEditor, "ControlRamp": service.RoleEditor, "Patch": service.RoleEditor,
	"Import": service.RoleEditor, "Plan": service.RoleViewer, "Apply": service.RoleEditor,
	"CreateNamespace": service.RoleAdmin, "UpdateNamespace": service.RoleAdmin, "DeleteNamespace": service.RoleAdmin,
	"ListWebhooks": service.RoleAdmin, "CreateWebhook": service.RoleAdmin, "GetWebhook": service.RoleAdmin, "UpdateWebhook": service.RoleAdmin, "DeleteWebhook": service.RoleAdmin,
	"RotateWebhookSecret": service.RoleAdmin, "TestWebhook": service.RoleAdmin, "PauseWebhook": service.RoleAdmin, "ResumeWebhook": service.RoleAdmin,
	"ReplayWebhook": service.RoleAdmin, "ListDeliveries": service.RoleAdmin,
	"ListNamespaces": service.RoleUnset, "GetInfo": service.RoleUnset, "ListAuthenticationMethods": service.RoleUnset,
	"GetAuthenticationSelf": service.RoleUnset, "ExpireAuthenticationSelf": service.RoleUnset, "RevokeAuthenticationSelf": service.RoleUnset,
	"ListSessions": service.RoleUnset, "CreateSession": service.RoleUnset, "DeleteSession": service.RoleUnset,
	"CreateGrant": service.RoleUnset, "ExchangeGrant": service.RoleUnset,
	"AuthorizeURL": service.RoleUnset, "Callback": service.RoleUnset, "Revoke": service.RoleUnset, "VerifyServiceAccount": service.RoleUnset,
}

// grant returns a token with the role in the namespaces.
func (s *server) grant(role service.Role, namespaces ...string) string {
	s.t.Helper()
	token, _, err := s.service.CreateToken(s.t.Context(), service.Write{}, service.TokenInput{Name: "t", Role: role, Namespaces: namespaces})
	if err != nil {
		s.t.Fatal(err)
	}
	return token
}

// TestRoles calls every operation with every role, in a namespace where the role holds and
// in one where it does not. Operations are refused before anything else is found out about
// the request, and always with the same words.
func TestRoles(t *testing.T) {
	s := newInside(t, "calls operations without a request", required)
	for _, role := range roles {
		for _, o := range s.handler.Operations() {
			token := s.grant(role, "shop", "pay-*") // of its own: one operation ends it
			need, known := needs[o.Method()]
			if !known {
				need = service.RoleAdmin
			}
			for _, test := range []struct {
				namespace string
				within    bool
			}{{"shop", true}, {"pay-eu", true}, {"pay", false}, {"default", false}} {
				m := o.NewRequest()
				setNamespace(m.ProtoReflect(), test.namespace)
				_, err := s.handler.Invoke(t.Context(), o, call.Request{
					Transport: "grpc", Message: m, Credentials: call.Credentials{Authorization: []string{"Bearer " + token}},
				})
				want := ""
				switch {
				case o.Method() == "CreateSession" && role < service.RoleViewer:
					want = "permission denied: needs viewer on any namespace" // no page would work
				case !known:
					want = `permission denied: needs admin on namespace "*"`
				case slices.Contains([]string{"ListNamespaces", "Search", "ListFlagNamespaces", "ListAllChanges"}, o.Method()) && role < service.RoleViewer:
					want = `permission denied: needs viewer on namespace "*"`
				case need != service.RoleUnset && (role < need || !test.within):
					want = fmt.Sprintf("permission denied: needs %s on namespace %q", need, test.namespace)
				case o.Method() == "Import" && role < service.RoleAdmin:
					continue // TestRoleOfImport
				}
				got := ""
				if guidon.CodeOf(err) == guidon.PermissionDenied && err != nil {
					got = guidon.PublicMessage(err)
				}
				if got != want {
					t.Errorf("%s with %s in %s: got %q, want %q (%v)", o.Method(), role, test.namespace, got, want, err)
				}
			}
		}
	}
}

// TestRoleOfBatch: one item of a namespace where the role does not hold refuses all.
func TestRoleOfBatch(t *testing.T) {
	s := newServer(t, required)
	token := "Bearer " + s.grant(service.RoleEvaluator, "shop")
	body := func(namespaces ...string) string {
		var items []string
		for _, n := range namespaces {
			items = append(items, `{"namespaceKey":"`+n+`","flagKey":"f","entityId":"e"}`)
		}
		return `{"requests":[` + strings.Join(items, ",") + `]}`
	}
	s.do("POST", "/evaluate/v1/batch", body("shop", "other", "shop"), "Authorization", token).
		fails(t, 403, 7, `permission denied: needs evaluator on namespace "other"`)
	s.must("", "POST", "/evaluate/v1/batch", body("shop", "shop"), "Authorization", token)
	s.do("POST", "/evaluate/v1/batch", body("shop", ""), "Authorization", token).
		fails(t, 403, 7, `permission denied: needs evaluator on namespace "default"`)
}

// TestRoleOverHTTP: a refusal comes after 401 and before validation, in the form of the
// path, and does not tell what exists.
func TestRoleOverHTTP(t *testing.T) {
	s := newServer(t, required)
	viewer := "Bearer " + s.grant(service.RoleViewer, "default")
	evaluator := "Bearer " + s.grant(service.RoleEvaluator, "default")
	for _, test := range []struct {
		name, token, method, path, body string
		status                          int
		want                            string
	}{
		{"an invalid request", viewer, "POST", "/api/v1/namespaces/default/flags", `{}`, 403, `needs editor on namespace \"default\"`},
		{"another namespace, which exists not", viewer, "GET", "/api/v1/namespaces/nope/flags", ``, 403, `needs viewer on namespace \"nope\"`},
		{"a read", viewer, "GET", "/api/v1/namespaces/default/flags", ``, 200, `"flags":[]`},
		{"an unknown token", "Bearer x", "POST", "/api/v1/namespaces/default/flags", `{}`, 401, "request was not authenticated"},
		{"the snapshot", evaluator, "GET", "/internal/v1/evaluation/snapshot/namespace/default", ``, 403, `needs client on namespace \"default\"`},
		{"the snapshot, for a viewer", viewer, "GET", "/internal/v1/evaluation/snapshot/namespace/default", ``, 200, `"namespace"`},
		{"OFREP", evaluator, "POST", "/ofrep/v1/evaluate/flags", `{"context":{"targetingKey":"u"}}`, 200, `"flags":[]`},
		{"OFREP elsewhere", evaluator, "POST", "/ofrep/v1/evaluate/flags?namespace=shop", `{"context":{"targetingKey":"u"}}`, 403, `{"errorCode":"GENERAL","errorDetails":"permission denied: needs evaluator on namespace \"shop\""}`},
		{"the records of tokens", viewer, "GET", "/api/v1/namespaces/default/changes?kind=authentication", ``, 403, `needs admin on namespace \"*\"`},
		{"the configuration", viewer, "GET", "/meta/config", ``, 403, `needs admin on namespace \"*\"`},
		{"information about the build", evaluator, "GET", "/meta/info", ``, 200, `"goVersion"`},
		{"analytics", evaluator, "GET", "/internal/v1/analytics/namespaces/default/flags/f", ``, 403, `needs viewer on namespace \"default\"`},
		{"analytics, for a viewer", viewer, "GET", "/internal/v1/analytics/namespaces/default/flags/f", ``, 404, `flag \"default/f\" not found`},
		{"another token", viewer, "POST", "/auth/v1/method/token", `{"name":"mine"}`, 403, `needs admin on namespace \"*\"`},
		{"itself", viewer, "GET", "/auth/v1/self", ``, 200, `"access":[{"role":"viewer","namespaceKeys":["default"],"source":"token","subject":""}]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := *s
			s.t = t
			r := s.do(test.method, test.path, test.body, "Authorization", test.token)
			if r.status != test.status || !strings.Contains(r.body, test.want) {
				t.Errorf("got %d %s, want %d %s", r.status, r.body, test.status, test.want)
			}
		})
	}
}

// TestRoleOfImport: an editor imports into a namespace that exists. Only an admin imports
// into a new one, or changes the name of one.
func TestRoleOfImport(t *testing.T) {
	s := newServer(t, required)
	for _, test := range []struct {
		role            service.Role
		namespace, name string
		status          int
	}{
		{service.RoleEditor, "default", "", 200},
		{service.RoleEditor, "new", "", 403},
		{service.RoleAdmin, "new", "", 200},
		{service.RoleEditor, "new", "new", 200}, // its name already
		{service.RoleEditor, "new", "Renamed", 403},
		{service.RoleAdmin, "new", "Renamed", 200},
	} {
		body := `{"mode":2,"document":{"namespace":{"name":"` + test.name + `"},"flags":[{"key":"f","name":"F"}]}}`
		token := "Bearer " + s.grant(test.role, "default", "new")
		r := s.do("POST", "/api/v1/namespaces/"+test.namespace+"/import", body, "Authorization", token)
		if r.status != test.status {
			t.Errorf("%s into %s: got %d %s, want %d", test.role, test.namespace, r.status, r.body, test.status)
		}
		if test.status == 403 && !strings.Contains(r.body, `needs admin on namespace \"new\"`) {
			t.Errorf("got %s", r.body)
		}
	}
}

// TestNamespacesOfRole: the list has the namespaces that the caller may read, and counts
// no others.
func TestNamespacesOfRole(t *testing.T) {
	s := newServer(t, required)
	for _, key := range []string{"shop", "pay-eu", "pay-us", "secret"} {
		if _, _, err := s.service.CreateNamespace(t.Context(), service.Write{}, service.NamespaceInput{Key: key, Name: key}); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		namespaces []string
		want       []string
	}{
		{[]string{"pay-*", "shop"}, []string{"shop", "pay-eu", "pay-us"}},
		{[]string{"nope"}, nil},
		{[]string{"*"}, []string{"default", "shop", "pay-eu", "pay-us", "secret"}},
		{nil, []string{"default", "shop", "pay-eu", "pay-us", "secret"}},
	} {
		r := s.must("", "GET", "/api/v1/namespaces", "", "Authorization", "Bearer "+s.grant(service.RoleViewer, test.namespaces...))
		got := slices.DeleteFunc([]string{"default", "shop", "pay-eu", "pay-us", "secret"}, func(key string) bool {
			return !strings.Contains(r.body, `"key":"`+key+`"`)
		})
		if !slices.Equal(got, test.want) || !strings.Contains(r.body, fmt.Sprintf(`"totalCount":%d`, len(test.want))) {
			t.Errorf("%v: got %v, want %v: %s", test.namespaces, got, test.want, r.body)
		}
	}
}

// TestRoleOfStreams: a stream is refused at its start to who may not see its namespace.
func TestRoleOfStreams(t *testing.T) {
	s := newStreaming(t, stream.Config{MaxOFREP: 2, MaxChanges: 2}, required)
	evaluator := "Bearer " + s.grant(service.RoleEvaluator, "default")
	s.do("GET", "/api/v1/namespaces/default/changes/stream", "", "Authorization", evaluator).
		fails(t, 403, 7, `permission denied: needs viewer on namespace "default"`)
	r := s.do("GET", "/ofrep/v1/events?namespace=shop", "", "Authorization", evaluator)
	if r.status != http.StatusForbidden {
		t.Errorf("got %d %s", r.status, r.body)
	}
}

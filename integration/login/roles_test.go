package login

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"

	"github.com/guidonhq/guidon/handler/login/logintest"
)

// robots is an issuer of JWTs, by which tests make identities without a provider.
type robots struct {
	*logintest.Provider
	key *logintest.Key
}

func newRobots(t *testing.T) *robots {
	key := logintest.New("P-256 robots", "robots")
	return &robots{logintest.NewProvider(t, key), key}
}

func (r *robots) settings() []string {
	const prefix = "AUTHENTICATION_METHODS_JWT_"
	return []string{prefix + "ENABLED=true", prefix + "DISCOVERY_URL=" + r.URL, prefix + "VALIDATE_CLAIMS_AUDIENCES=guidon", "AUTHORIZATION_DEFAULT_ROLES_JWT=none"}
}

// as returns the header of the robot.
func (r *robots) as(sub string) string {
	now := time.Now().Unix()
	return "Authorization: JWT " + r.key.Token("ES256", map[string]any{"iss": r.URL, "aud": "guidon", "sub": sub, "exp": now + 3600, "iat": now})
}

var roleNames = []string{"none", "evaluator", "client", "viewer", "editor", "admin"}

// operation is one that needs a role in a namespace, which NS stands for, or everywhere.
type operation struct {
	role               string
	method, path, body string // over HTTP, or "" for none
	rpc, message       string // over gRPC, or "" for none
	everywhere         bool
	ofrep              bool
}

var operations = []operation{
	{role: "evaluator", method: "POST", path: "/evaluate/v1/boolean", body: `{"namespaceKey":"NS","flagKey":"f","entityId":"e"}`, rpc: "flipt.evaluation.EvaluationService/Boolean", message: `{"namespaceKey":"NS","flagKey":"f","entityId":"e"}`},
	{role: "evaluator", method: "POST", path: "/evaluate/v1/variant", body: `{"namespaceKey":"NS","flagKey":"v","entityId":"e"}`, rpc: "flipt.evaluation.EvaluationService/Variant", message: `{"namespaceKey":"NS","flagKey":"v","entityId":"e"}`},
	{role: "evaluator", method: "POST", path: "/evaluate/v1/batch", body: `{"requests":[{"namespaceKey":"NS","flagKey":"f","entityId":"e"}]}`, rpc: "flipt.evaluation.EvaluationService/Batch", message: `{"requests":[{"namespaceKey":"NS","flagKey":"f","entityId":"e"}]}`},
	{role: "evaluator", method: "POST", path: "/api/v1/namespaces/NS/evaluate", body: `{"flagKey":"v","entityId":"e"}`, rpc: "flipt.Flipt/Evaluate", message: `{"namespaceKey":"NS","flagKey":"v","entityId":"e"}`},
	{role: "evaluator", method: "POST", path: "/api/v1/namespaces/NS/batch-evaluate", body: `{"requests":[{"flagKey":"v","entityId":"e"}]}`, rpc: "flipt.Flipt/BatchEvaluate", message: `{"namespaceKey":"NS","requests":[{"namespaceKey":"NS","flagKey":"v","entityId":"e"}]}`},
	{role: "evaluator", method: "POST", path: "/ofrep/v1/evaluate/flags/f", body: `{"context":{"targetingKey":"e"}}`, ofrep: true},
	{role: "evaluator", method: "POST", path: "/ofrep/v1/evaluate/flags", body: `{"context":{"targetingKey":"e"}}`, ofrep: true},
	{role: "client", method: "GET", path: "/internal/v1/evaluation/snapshot/namespace/NS", rpc: "flipt.evaluation.DataService/EvaluationSnapshotNamespace", message: `{"key":"NS"}`},
	{role: "viewer", method: "GET", path: "/api/v1/namespaces/NS", rpc: "flipt.Flipt/GetNamespace", message: `{"key":"NS"}`},
	{role: "viewer", method: "GET", path: "/api/v1/namespaces/NS/flags", rpc: "flipt.Flipt/ListFlags", message: `{"namespaceKey":"NS"}`},
	{role: "viewer", method: "GET", path: "/api/v1/namespaces/NS/flags/f", rpc: "flipt.Flipt/GetFlag", message: `{"namespaceKey":"NS","key":"f"}`},
	{role: "viewer", method: "GET", path: "/api/v1/namespaces/NS/flags/v/rules", rpc: "flipt.Flipt/ListRules", message: `{"namespaceKey":"NS","flagKey":"v"}`},
	{role: "viewer", method: "GET", path: "/api/v1/namespaces/NS/flags/v/rules/x", rpc: "flipt.Flipt/GetRule", message: `{"namespaceKey":"NS","flagKey":"v","id":"x"}`},
	{role: "viewer", method: "GET", path: "/api/v1/namespaces/NS/flags/f/rollouts", rpc: "flipt.Flipt/ListRollouts", message: `{"namespaceKey":"NS","flagKey":"f"}`},
	{role: "viewer", method: "GET", path: "/api/v1/namespaces/NS/flags/f/rollouts/x", rpc: "flipt.Flipt/GetRollout", message: `{"namespaceKey":"NS","flagKey":"f","id":"x"}`},
	{role: "viewer", method: "GET", path: "/api/v1/namespaces/NS/segments", rpc: "flipt.Flipt/ListSegments", message: `{"namespaceKey":"NS"}`},
	{role: "viewer", method: "GET", path: "/api/v1/namespaces/NS/segments/x", rpc: "flipt.Flipt/GetSegment", message: `{"namespaceKey":"NS","key":"x"}`},
	{role: "viewer", method: "GET", path: "/api/v1/namespaces/NS/changes", rpc: "guidon.v1.ChangeService/ListChanges", message: `{"namespaceKey":"NS"}`},
	{role: "viewer", method: "GET", path: "/api/v1/namespaces/NS/export", rpc: "guidon.v1.DocumentService/Export", message: `{"namespaceKey":"NS"}`},
	{role: "editor", method: "POST", path: "/api/v1/namespaces/NS/flags", body: `{}`, rpc: "flipt.Flipt/CreateFlag", message: `{"namespaceKey":"NS"}`},
	{role: "editor", method: "PUT", path: "/api/v1/namespaces/NS/flags/x", body: `{}`, rpc: "flipt.Flipt/UpdateFlag", message: `{"namespaceKey":"NS","key":"x"}`},
	{role: "editor", method: "DELETE", path: "/api/v1/namespaces/NS/flags/x", rpc: "flipt.Flipt/DeleteFlag", message: `{"namespaceKey":"NS","key":"x"}`},
	{role: "editor", method: "POST", path: "/api/v1/namespaces/NS/flags/x/variants", body: `{}`, rpc: "flipt.Flipt/CreateVariant", message: `{"namespaceKey":"NS","flagKey":"x"}`},
	{role: "editor", method: "PUT", path: "/api/v1/namespaces/NS/flags/x/variants/y", body: `{}`, rpc: "flipt.Flipt/UpdateVariant", message: `{"namespaceKey":"NS","flagKey":"x","id":"y"}`},
	{role: "editor", method: "DELETE", path: "/api/v1/namespaces/NS/flags/x/variants/y", rpc: "flipt.Flipt/DeleteVariant", message: `{"namespaceKey":"NS","flagKey":"x","id":"y"}`},
	{role: "editor", method: "POST", path: "/api/v1/namespaces/NS/flags/x/rules", body: `{}`, rpc: "flipt.Flipt/CreateRule", message: `{"namespaceKey":"NS","flagKey":"x"}`},
	{role: "editor", method: "PUT", path: "/api/v1/namespaces/NS/flags/x/rules/order", body: `{}`, rpc: "flipt.Flipt/OrderRules", message: `{"namespaceKey":"NS","flagKey":"x"}`},
	{role: "editor", method: "PUT", path: "/api/v1/namespaces/NS/flags/x/rules/y", body: `{}`, rpc: "flipt.Flipt/UpdateRule", message: `{"namespaceKey":"NS","flagKey":"x","id":"y"}`},
	{role: "editor", method: "DELETE", path: "/api/v1/namespaces/NS/flags/x/rules/y", rpc: "flipt.Flipt/DeleteRule", message: `{"namespaceKey":"NS","flagKey":"x","id":"y"}`},
	{role: "editor", method: "POST", path: "/api/v1/namespaces/NS/flags/x/rules/y/distributions", body: `{}`, rpc: "flipt.Flipt/CreateDistribution", message: `{"namespaceKey":"NS","flagKey":"x","ruleId":"y"}`},
	{role: "editor", method: "PUT", path: "/api/v1/namespaces/NS/flags/x/rules/y/distributions/z", body: `{}`, rpc: "flipt.Flipt/UpdateDistribution", message: `{"namespaceKey":"NS","flagKey":"x","ruleId":"y","id":"z"}`},
	{role: "editor", method: "DELETE", path: "/api/v1/namespaces/NS/flags/x/rules/y/distributions/z", rpc: "flipt.Flipt/DeleteDistribution", message: `{"namespaceKey":"NS","flagKey":"x","ruleId":"y","id":"z"}`},
	{role: "editor", method: "POST", path: "/api/v1/namespaces/NS/flags/x/rollouts", body: `{}`, rpc: "flipt.Flipt/CreateRollout", message: `{"namespaceKey":"NS","flagKey":"x"}`},
	{role: "editor", method: "PUT", path: "/api/v1/namespaces/NS/flags/x/rollouts/order", body: `{}`, rpc: "flipt.Flipt/OrderRollouts", message: `{"namespaceKey":"NS","flagKey":"x"}`},
	{role: "editor", method: "PUT", path: "/api/v1/namespaces/NS/flags/x/rollouts/y", body: `{}`, rpc: "flipt.Flipt/UpdateRollout", message: `{"namespaceKey":"NS","flagKey":"x","id":"y"}`},
	{role: "editor", method: "DELETE", path: "/api/v1/namespaces/NS/flags/x/rollouts/y", rpc: "flipt.Flipt/DeleteRollout", message: `{"namespaceKey":"NS","flagKey":"x","id":"y"}`},
	{role: "editor", method: "POST", path: "/api/v1/namespaces/NS/segments", body: `{}`, rpc: "flipt.Flipt/CreateSegment", message: `{"namespaceKey":"NS"}`},
	{role: "editor", method: "PUT", path: "/api/v1/namespaces/NS/segments/x", body: `{}`, rpc: "flipt.Flipt/UpdateSegment", message: `{"namespaceKey":"NS","key":"x"}`},
	{role: "editor", method: "DELETE", path: "/api/v1/namespaces/NS/segments/x", rpc: "flipt.Flipt/DeleteSegment", message: `{"namespaceKey":"NS","key":"x"}`},
	{role: "editor", method: "POST", path: "/api/v1/namespaces/NS/segments/x/constraints", body: `{}`, rpc: "flipt.Flipt/CreateConstraint", message: `{"namespaceKey":"NS","segmentKey":"x"}`},
	{role: "editor", method: "PUT", path: "/api/v1/namespaces/NS/segments/x/constraints/y", body: `{}`, rpc: "flipt.Flipt/UpdateConstraint", message: `{"namespaceKey":"NS","segmentKey":"x","id":"y"}`},
	{role: "editor", method: "DELETE", path: "/api/v1/namespaces/NS/segments/x/constraints/y", rpc: "flipt.Flipt/DeleteConstraint", message: `{"namespaceKey":"NS","segmentKey":"x","id":"y"}`},
	{role: "editor", method: "POST", path: "/api/v1/namespaces/NS/import", body: `{"dryRun":true,"document":{}}`, rpc: "guidon.v1.DocumentService/Import", message: `{"namespaceKey":"NS","dryRun":true,"document":{}}`},
	{role: "admin", method: "POST", path: "/api/v1/namespaces", body: `{"key":"NS"}`, rpc: "flipt.Flipt/CreateNamespace", message: `{"key":"NS"}`},
	{role: "admin", method: "PUT", path: "/api/v1/namespaces/NS", body: `{}`, rpc: "flipt.Flipt/UpdateNamespace", message: `{"key":"NS"}`},
	{role: "admin", method: "DELETE", path: "/api/v1/namespaces/protected", rpc: "flipt.Flipt/DeleteNamespace", message: `{"key":"protected"}`, everywhere: true},
	{role: "admin", method: "GET", path: "/auth/v1/tokens", rpc: "flipt.auth.AuthenticationService/ListAuthentications", message: `{}`, everywhere: true},
	{role: "admin", method: "GET", path: "/auth/v1/tokens/x", rpc: "flipt.auth.AuthenticationService/GetAuthentication", message: `{"id":"x"}`, everywhere: true},
	{role: "admin", method: "DELETE", path: "/auth/v1/tokens/x", rpc: "flipt.auth.AuthenticationService/DeleteAuthentication", message: `{"id":"x"}`, everywhere: true},
	{role: "admin", method: "DELETE", path: "/auth/v1/tokens?subject=", rpc: "guidon.v1.AccessService/DeleteAuthentications", message: `{}`, everywhere: true},
	{role: "admin", method: "POST", path: "/auth/v1/method/token", body: `{"namespaceKey":"shop"}`, rpc: "flipt.auth.AuthenticationMethodTokenService/CreateToken", message: `{"role":"emperor"}`, everywhere: true},
	{role: "admin", method: "GET", path: "/auth/v1/bindings", rpc: "guidon.v1.AccessService/ListBindings", message: `{}`, everywhere: true},
	{role: "admin", method: "POST", path: "/auth/v1/bindings", body: `{}`, rpc: "guidon.v1.AccessService/CreateBinding", message: `{}`, everywhere: true},
	{role: "admin", method: "DELETE", path: "/auth/v1/bindings/x", rpc: "guidon.v1.AccessService/DeleteBinding", message: `{"id":"x"}`, everywhere: true},
	{role: "admin", method: "GET", path: "/meta/config", rpc: "flipt.meta.MetadataService/GetConfiguration", message: `{}`, everywhere: true},
	{role: "viewer", method: "GET", path: "/metrics", everywhere: true},
	{role: "none", method: "GET", path: "/auth/v1/self", rpc: "flipt.auth.AuthenticationService/GetAuthenticationSelf", message: `{}`, everywhere: true},
	{role: "none", method: "GET", path: "/auth/v1/self/sessions", rpc: "guidon.v1.SessionService/ListSessions", message: `{}`, everywhere: true},
	{role: "none", method: "GET", path: "/meta/info", rpc: "flipt.meta.MetadataService/GetInfo", message: `{}`, everywhere: true},
}

// bind creates a binding.
func (s *service) bind(t testing.TB, role, subject string, namespaces ...string) (id string) {
	t.Helper()
	if namespaces == nil {
		namespaces = []string{}
	}
	return decode[struct{ ID string }](t, s.status(t, 200, "POST", "/auth/v1/bindings", asJSON(map[string]any{"role": role, "subject": subject, "namespaceKeys": namespaces}), asAdmin)).ID
}

// TestRoles calls every operation with every role, everywhere and in one namespace, on every
// transport.
func TestRoles(t *testing.T) {
	t.Parallel()
	r := newRobots(t)
	s := start(t, append(r.settings(), "METRICS_PUBLIC=false")...)
	for _, ns := range []string{"shop", "other", "protected"} {
		s.status(t, 200, "POST", "/api/v1/namespaces", fmt.Sprintf(`{"key":%q,"name":"N","protected":%t}`, ns, ns == "protected"), asAdmin)
		s.status(t, 200, "POST", "/api/v1/namespaces/"+ns+"/flags", `{"key":"f","name":"F","type":"BOOLEAN_FLAG_TYPE"}`, asAdmin)
		s.status(t, 200, "POST", "/api/v1/namespaces/"+ns+"/flags", `{"key":"v","name":"V","enabled":true}`, asAdmin)
	}
	for _, role := range roleNames[1:] {
		s.bind(t, role, "jwt:sub:"+role+"-everywhere")
		s.bind(t, role, "jwt:sub:"+role+"-shop", "shop", "absent-*")
	}
	conn := s.rpc(t)
	for held, role := range roleNames {
		for _, reach := range []string{"everywhere", "shop"} {
			who := r.as(role + "-" + reach)
			for _, o := range operations {
				for _, ns := range []string{"shop", "other", "absent-1", "missing"} {
					needed := slices.Index(roleNames, o.role)
					covers := reach == "everywhere" || !o.everywhere && (ns == "shop" || ns == "absent-1")
					allowed := needed == 0 || held >= needed && covers
					if allowed && o.path == "/api/v1/namespaces" && (ns == "missing" || ns == "absent-1") {
						continue // it would exist from then on
					}
					if strings.HasSuffix(o.path, "/import") && role == "editor" && (ns == "missing" || ns == "absent-1") {
						continue // creating a namespace needs more
					}
					s.judge(t, conn, o, ns, role+"-"+reach, who, allowed)
					if o.everywhere {
						break
					}
				}
			}
		}
	}
}

// judge checks that the call is refused exactly if the caller may not do it.
func (s *service) judge(t *testing.T, conn *rpc, o operation, ns, name, who string, allowed bool) {
	t.Helper()
	about := ns
	if o.everywhere {
		about = "*"
	}
	if strings.Contains(o.path, "/namespaces/protected") {
		about = "protected"
	}
	text := fmt.Sprintf("permission denied: needs %s on namespace %q", o.role, about)
	path, body := strings.ReplaceAll(o.path, "NS", ns), strings.ReplaceAll(o.body, "NS", ns)
	got := s.send(t, o.method, path, body, who, "X-Guidon-Namespace: "+ns)
	if allowed && (got.StatusCode == 401 || got.StatusCode == 403 || got.StatusCode >= 500 && got.StatusCode != 501) || !allowed && got.StatusCode != 403 {
		t.Errorf("%s: %s %s: got %d %s, want allowed %t", name, o.method, path, got.StatusCode, got.body, allowed)
	}
	if !allowed && got.StatusCode == 403 && o.path != "/metrics" && !strings.Contains(got.body, strings.ReplaceAll(text, `"`, `\"`)) {
		t.Errorf("%s: %s %s: got %s, want %s", name, o.method, path, got.body, text)
	}
	if !allowed && o.ofrep && !strings.Contains(got.body, `"errorCode":"GENERAL"`) {
		t.Errorf("%s: %s %s: got %s, want the errorCode GENERAL", name, o.method, path, got.body)
	}
	if o.rpc == "" {
		return
	}
	answer := conn.call(t, o.rpc, strings.ReplaceAll(o.message, "NS", ns), who)
	denied := answer.code == codes.PermissionDenied
	if denied == allowed || answer.code == codes.Unauthenticated || answer.code == codes.Internal || denied && answer.message != text {
		t.Errorf("%s: %s on %s: got %v %s, want allowed %t", name, o.rpc, ns, answer.code, answer.message, allowed)
	}
}

// TestListNamespaces: callers see the namespaces that they may read.
func TestListNamespaces(t *testing.T) {
	t.Parallel()
	r := newRobots(t)
	s := start(t, r.settings()...)
	for _, ns := range []string{"shop", "pay-eu", "pay-us", "pay"} {
		s.status(t, 200, "POST", "/api/v1/namespaces", fmt.Sprintf(`{"key":%q,"name":"N"}`, ns), asAdmin)
	}
	s.bind(t, "viewer", "jwt:sub:shop", "shop")
	s.bind(t, "editor", "jwt:sub:pay", "pay-*")
	s.bind(t, "viewer", "jwt:sub:both", "pay-eu")
	s.bind(t, "viewer", "jwt:sub:both", "shop")
	s.bind(t, "viewer", "jwt:sub:all")
	s.bind(t, "client", "jwt:sub:client")
	s.bind(t, "viewer", "jwt:sub:nothing", "later")
	s.bind(t, "evaluator", "jwt:sub:mixed")
	s.bind(t, "viewer", "jwt:sub:mixed", "shop")
	for who, want := range map[string][]string{
		"shop": {"shop"}, "pay": {"pay-eu", "pay-us"}, "both": {"pay-eu", "shop"}, "all": {"default", "pay", "pay-eu", "pay-us", "shop"}, "nothing": nil, "mixed": {"shop"},
	} {
		list := decode[struct {
			Namespaces []struct{ Key string }
			TotalCount int
		}](t, s.status(t, 200, "GET", "/api/v1/namespaces", "", r.as(who)))
		var keys []string
		for _, n := range list.Namespaces {
			keys = append(keys, n.Key)
		}
		slices.Sort(keys)
		if diff := cmp.Diff(want, keys); diff != "" || list.TotalCount != len(want) {
			t.Errorf("%s: totalCount %d (-want +got):\n%s", who, list.TotalCount, diff)
		}
	}
	s.status(t, 403, "GET", "/api/v1/namespaces", "", r.as("client"))
	s.status(t, 403, "GET", "/api/v1/namespaces", "", r.as("unbound"))
}

// TestBindings: bindings are checked, made once, and seen by admins only; the last way to
// admin stays.
func TestBindings(t *testing.T) {
	t.Parallel()
	r := newRobots(t)
	s := start(t, append(r.settings(), "AUTHORIZATION_BINDINGS=viewer@shop=jwt:sub:configured admin=jwt:claim:team=a%20b")...)
	id := s.bind(t, "editor", "jwt:sub:ada", "shop", "pay-*")
	if again := s.bind(t, "editor", "jwt:sub:ada", "shop", "pay-*"); again != id {
		t.Errorf("the same binding again has id %s, want %s", again, id)
	}
	for _, body := range []string{
		`{"role":"emperor","subject":"jwt:sub:x"}`, `{"role":"","subject":"jwt:sub:x"}`, `{"role":"viewer","subject":""}`, `{"role":"viewer","subject":"jwt"}`, `{"role":"viewer","subject":"jwt:sub:"}`,
		`{"role":"viewer","subject":"saml:sub:x"}`, `{"role":"viewer","subject":"oidc:google"}`, `{"role":"viewer","subject":"oidc::sub:x"}`, `{"role":"viewer","subject":"codehost:login:x"}`,
		`{"role":"viewer","subject":"kubernetes:serviceaccount:x"}`, `{"role":"viewer","subject":"jwt:sub:x","namespaceKeys":["a*b"]}`, `{"role":"viewer","subject":"jwt:sub:x","namespaceKeys":[""]}`,
		`{"role":"viewer","subject":"jwt:sub:x","namespaceKeys":["**"]}`, `{"role":"Viewer","subject":"jwt:sub:x"}`, `{"role":"none","subject":"jwt:sub:x"}`, `{"role":"viewer","subject":"*"}`,
		`{"role":"viewer","subject":"token:x"}`,
	} {
		s.status(t, 400, "POST", "/auth/v1/bindings", body, asAdmin)
	}
	type binding struct {
		ID, Role, Subject, Source, CreatedAt, CreatedBy string
		NamespaceKeys                                   []string
	}
	list := decode[struct{ Bindings []binding }](t, s.status(t, 200, "GET", "/auth/v1/bindings", "", asAdmin)).Bindings
	if len(list) != 3 {
		t.Fatalf("%d bindings, want 3: %v", len(list), list)
	}
	for _, b := range list {
		if b.ID != id {
			s.status(t, 400, "DELETE", "/auth/v1/bindings/"+b.ID, "", asAdmin)
		} else if b.CreatedAt == "" || b.CreatedBy == "" || b.Source == list[0].Source && list[0].ID != id {
			t.Errorf("binding %+v", b)
		}
	}
	s.status(t, 200, "POST", "/api/v1/namespaces", `{"key":"shop","name":"Shop"}`, asAdmin)
	s.status(t, 200, "GET", "/api/v1/namespaces/shop/flags", "", r.as("ada"))
	s.status(t, 200, "DELETE", "/auth/v1/bindings/"+id, "", asAdmin)
	s.status(t, 403, "GET", "/api/v1/namespaces/shop/flags", "", r.as("ada"))
	s.status(t, 200, "DELETE", "/auth/v1/bindings/"+id, "", asAdmin) // as for tokens
	s.status(t, 200, "GET", "/api/v1/namespaces/shop/flags", "", r.as("configured"))

	// change records
	changes := s.status(t, 200, "GET", "/api/v1/namespaces/default/changes?kind=binding", "", asAdmin)
	for _, want := range []string{`"create"`, `"delete"`, "jwt:sub:ada", `"editor"`} {
		if !strings.Contains(changes.body, want) {
			t.Errorf("the change records have no %s: %s", want, changes.body)
		}
	}
	s.bind(t, "viewer", "jwt:sub:viewer")
	for _, kind := range []string{"binding", "authentication"} {
		got := s.send(t, "GET", "/api/v1/namespaces/default/changes?kind="+kind, "", r.as("viewer"))
		if got.StatusCode == 200 && strings.Contains(got.body, `"after"`) {
			t.Errorf("a viewer sees records of kind %s: %s", kind, got.body)
		}
	}
	all := s.send(t, "GET", "/api/v1/namespaces/default/changes", "", r.as("viewer"))
	if strings.Contains(all.body, `"binding"`) || strings.Contains(all.body, `"authentication"`) {
		t.Errorf("a viewer sees %s", all.body)
	}
}

// TestLastAdmin: an admin who is the only one cannot remove their own way to admin.
func TestLastAdmin(t *testing.T) {
	t.Parallel()
	s := start(t)
	self := decode[authentication](t, s.send(t, "GET", "/auth/v1/self", "", asAdmin))
	s.status(t, 400, "DELETE", "/auth/v1/tokens/"+self.ID, "", asAdmin)
	s.status(t, 200, "GET", "/auth/v1/self", "", asAdmin)

	r := newRobots(t)
	s = start(t, r.settings()...)
	id := s.bind(t, "admin", "jwt:sub:ada")
	s.status(t, 200, "GET", "/auth/v1/bindings", "", r.as("ada"))
	self = decode[authentication](t, s.send(t, "GET", "/auth/v1/self", "", asAdmin))
	s.status(t, 200, "DELETE", "/auth/v1/tokens/"+self.ID, "", r.as("ada")) // ada remains
	s.status(t, 400, "DELETE", "/auth/v1/bindings/"+id, "", r.as("ada"))
	s.status(t, 200, "GET", "/auth/v1/bindings", "", r.as("ada"))
}

// TestStaticTokens: tokens have a role and namespaces of their own, and no bindings.
func TestStaticTokens(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.status(t, 200, "POST", "/api/v1/namespaces", `{"key":"shop","name":"Shop"}`, asAdmin)
	for role, want := range map[string][4]int{ // read and write in shop, read elsewhere, list tokens
		"evaluator": {403, 403, 403, 403}, "viewer": {200, 403, 403, 403}, "editor": {200, 400, 403, 403}, "admin": {200, 400, 403, 403},
	} {
		bearer := "Authorization: Bearer " + s.token(t, fmt.Sprintf(`{"name":"n","role":%q,"namespaceKeys":["shop"]}`, role))
		got := [4]int{
			s.send(t, "GET", "/api/v1/namespaces/shop/flags", "", bearer).StatusCode, s.send(t, "POST", "/api/v1/namespaces/shop/flags", "{}", bearer).StatusCode,
			s.send(t, "GET", "/api/v1/flags", "", bearer).StatusCode, s.send(t, "GET", "/auth/v1/tokens", "", bearer).StatusCode,
		}
		if got != want {
			t.Errorf("%s: got %v, want %v", role, got, want)
		}
	}
	limited := "Authorization: Bearer " + s.token(t, `{"name":"n","namespaceKey":"shop"}`)
	s.status(t, 200, "GET", "/api/v1/namespaces/shop/flags", "", limited)
	s.status(t, 401, "GET", "/api/v1/flags", "", limited)
	both := "Authorization: Bearer " + s.token(t, `{"name":"n","namespaceKey":"shop","role":"viewer"}`)
	s.status(t, 401, "GET", "/api/v1/flags", "", both)
	s.status(t, 403, "POST", "/api/v1/namespaces/shop/flags", "{}", both)
	s.status(t, 200, "GET", "/auth/v1/tokens", "", "Authorization: Bearer "+s.token(t, `{"name":"n"}`))
	for _, body := range []string{
		`{"name":"n","role":"emperor"}`, `{"name":"n","namespaceKeys":["a*b"]}`, `{"name":"n","metadata":{"io.service.auth.email":"evil@corp.example"}}`,
		`{"name":"n","metadata":{"io.service.auth.oidc.sub":"ada"}}`, `{"name":"n","role":"ADMIN"}`,
	} {
		s.status(t, 400, "POST", "/auth/v1/method/token", body, asAdmin)
	}
	evaluator := "Authorization: Bearer " + s.token(t, `{"name":"n","role":"evaluator"}`)
	batch := `{"requests":[{"namespaceKey":"shop","flagKey":"f","entityId":"e"},{"namespaceKey":"default","flagKey":"f","entityId":"e"}]}`
	s.status(t, 403, "POST", "/evaluate/v1/batch", batch, "Authorization: Bearer "+s.token(t, `{"name":"n","role":"evaluator","namespaceKeys":["shop"]}`))
	if got := s.send(t, "POST", "/evaluate/v1/batch", batch, evaluator); got.StatusCode == 403 || got.StatusCode == 401 {
		t.Errorf("batch: got %d %s", got.StatusCode, got.body)
	}
}

package config_test

import (
	"os"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/service"
)

// clusterToken exists in every pod that has a service account.
const clusterToken = "/var/run/secrets/kubernetes.io/serviceaccount/token"

// TestWarnings: each case has the one warning, and no other.
func TestWarnings(t *testing.T) {
	const (
		google   = "ISSUER_URL=https://accounts.google.com"
		enforced = "GUIDON_AUTHORIZATION_REQUIRED=true"
		open     = "GUIDON_AUTHORIZATION_REQUIRED=false"
		viewers  = "GUIDON_AUTHORIZATION_DEFAULT_ROLES_TOKEN=viewer"
		admin    = "GUIDON_AUTHORIZATION_BINDINGS=admin=oidc:p:email:ada@example.com"
	)
	token := method("TOKEN", "ENABLED=true")
	keys := kubernetes("VERIFY=keys")
	bindings := func(list string) string { return "GUIDON_AUTHORIZATION_BINDINGS=" + list }
	for _, test := range []struct {
		name      string
		variables []string
		want      string // "" means no warning
	}{
		{"nothing", nil, ""},
		{"tokens", append(token, required), ""},
		{"oidc", append(oidc(), required, admin), ""},
		{"jwt that is not required", jwt(), ""},

		{"CockroachDB", []string{"GUIDON_DB_URL=cockroachdb://root@db:26257/guidon"}, "db.url (GUIDON_DB_URL): CockroachDB is expected to work, but Guidon is not tested on it"},
		{"oidc that is not required", oidc(), "authentication.methods.oidc.enabled (GUIDON_AUTHENTICATION_METHODS_OIDC_ENABLED): has no effect, because authentication.required is false"},
		{"a code host that is not required", codehost(), "authentication.methods.codehost.enabled (GUIDON_AUTHENTICATION_METHODS_CODEHOST_ENABLED): has no effect"},
		{"insecure cookies", append(oidc(), required, admin, "GUIDON_AUTHENTICATION_SESSION_SECURE=false"), "authentication.session.secure (GUIDON_AUTHENTICATION_SESSION_SECURE): false lets browsers send"},
		{"any audience", append(jwt("VALIDATE_CLAIMS_AUDIENCES=", "VALIDATE_CLAIMS_ANY_AUDIENCE=true"), append(token, required)...), "authentication.methods.jwt.validate_claims.any_audience (GUIDON_AUTHENTICATION_METHODS_JWT_VALIDATE_CLAIMS_ANY_AUDIENCE): accepts tokens that were issued for other services"},
		{"no token for reviews", append(kubernetes(), append(token, required)...), "authentication.methods.kubernetes.service_account_token_path (GUIDON_AUTHENTICATION_METHODS_KUBERNETES_SERVICE_ACCOUNT_TOKEN_PATH): there is no token for the API server"},
		{"a token for reviews", append(kubernetes("SERVICE_ACCOUNT_TOKEN_PATH="+write(t, "token", "x")), append(token, required)...), ""},
		{"keys need no token", append(keys, append(token, required)...), ""},

		{"a public provider without roles", append(oidc(google), required, open), "authorization.required (GUIDON_AUTHORIZATION_REQUIRED): false lets everyone who can sign in with authentication.methods.oidc.providers.p do everything"},
		{"GitHub without roles", append(codehost(), required, open), "everyone who can sign in with authentication.methods.codehost do everything"},
		{"a private provider without roles", append(oidc(), required, open), ""},
		{"a private code host without roles", append(codehost("SERVER_URL=https://git.corp.example"), required, open), ""},
		{"a public provider with roles", append(oidc(google), required, enforced, admin), ""},

		{"nobody is an admin", append(oidc(), required), "authorization.bindings (GUIDON_AUTHORIZATION_BINDINGS): no identity is an admin by this configuration"},
		{"an admin of one namespace", append(oidc(), required, bindings("admin@shop=oidc:p:*")), "no identity is an admin"},
		{"an editor", append(oidc(), required, bindings("editor=oidc:p:*")), "no identity is an admin"},
		{"the bootstrap token", append(oidc(), append(token, required)...), ""},
		{"a roles claim", oidcWithRoles(), ""},
		{"admin by default", append(keys, required, "GUIDON_AUTHORIZATION_DEFAULT_ROLES_KUBERNETES=admin"), ""},
		{"admin by default of another method", append(keys, required, "GUIDON_AUTHORIZATION_DEFAULT_ROLES_OIDC=admin"), "no identity is an admin"},

		{"tokens that are no admins", append(token, required, enforced, viewers), "no identity is an admin"},
		{"a role of tokens without roles", append(token, required, viewers), "authorization.default_roles.token (GUIDON_AUTHORIZATION_DEFAULT_ROLES_TOKEN): has no effect, because roles are not enforced"},
		{"bindings without roles", append(oidc(), required, open, admin), "authorization.bindings (GUIDON_AUTHORIZATION_BINDINGS): has no effect, because roles are not enforced"},
		{"bindings of nobody", []string{admin}, "has no effect, because roles are not enforced"},
		{"a binding of another provider", append(oidc(), required, bindings("admin=oidc:p:* viewer=oidc:other:*")), `"viewer=oidc:other:*" has no effect without authentication.methods.oidc.providers.other`},
		{"a binding of another method", append(oidc(), required, bindings("admin=oidc:p:* client=kubernetes:*")), `"client=kubernetes:*" has no effect without authentication.methods.kubernetes.enabled`},
		{"a binding without oidc", append(append(token, keys...), required, bindings("viewer=oidc:p:*")), `"viewer=oidc:p:*" has no effect without authentication.methods.oidc.enabled`},

		{"variables of Flipt", []string{"FLIPT_AUTHENTICATION_REQUIRED=true", "FLIPT_AUTHENTICATION_METHODS_GITHUB_CLIENT_SECRET=hunter2", "FLIPT_AUTHORIZATION_REQUIRED=true", "FLIPT_DB_URL=hunter2"}, "variables of Flipt are ignored, here they begin with GUIDON_: FLIPT_AUTHENTICATION_METHODS_GITHUB_CLIENT_SECRET, FLIPT_AUTHENTICATION_REQUIRED, FLIPT_AUTHORIZATION_REQUIRED, FLIPT_DB_URL; \"guidon config import --from-flipt-environment\" translates them"},
		{"of what does not exist here", []string{"FLIPT_TRACING_ENABLED=true", "FLIPT_AUDIT_SINKS_WEBHOOK_SIGNING_SECRET=hunter2"}, "begin with GUIDON_: FLIPT_AUDIT_SINKS_WEBHOOK_SIGNING_SECRET, FLIPT_TRACING_ENABLED; "},
		{"of what nothing needs", []string{"FLIPT_META_TELEMETRY_ENABLED=false", "FLIPT_CACHE_TTL=1m", "FLIPT_SERVICE_HOST=10.0.0.1", "FLIPT_PORT=tcp://10.0.0.1:80", "FLIPT_NONSENSE=1"}, ""},
		{"of a provider", []string{"FLIPT_AUTHENTICATION_METHODS_OIDC_PROVIDERS_GOOGLE_CLIENT_SECRET=hunter2"}, "FLIPT_AUTHENTICATION_METHODS_OIDC_PROVIDERS_GOOGLE_CLIENT_SECRET; "},
		{"with the values that apply anyway", []string{"FLIPT_UI_ENABLED=1", "FLIPT_LOG_LEVEL=INFO", "FLIPT_SERVER_HTTP_PORT=8080"}, ""},
		{"of a database that is configured", []string{"FLIPT_DB_URL=x", "FLIPT_DB_PASSWORD=hunter2", "GUIDON_DB_URL=file:/data/other.db"}, ""},
		{"many of them", []string{"FLIPT_SERVER_HOST=a", "FLIPT_SERVER_CERT_FILE=x", "FLIPT_SERVER_CERT_KEY=y", "FLIPT_SERVER_HTTP_PORT=1", "FLIPT_SERVER_HTTPS_PORT=2", "FLIPT_SERVER_GRPC_PORT=3", "FLIPT_UI_ENABLED=0", "FLIPT_LOG_FILE=x", "FLIPT_LOG_LEVEL=warn", "FLIPT_LOG_ENCODING=json", "FLIPT_DB_URL=x", "FLIPT_DB_MAX_OPEN_CONN=1", "FLIPT_CORS_ENABLED=1"}, "FLIPT_SERVER_HOST and 3 more; "},
		{"a read-only Flipt", []string{"FLIPT_STORAGE_READ_ONLY=true"}, "variables of Flipt are ignored, here they begin with GUIDON_: FLIPT_STORAGE_READ_ONLY"},
		{"a read-only Flipt and Guidon", []string{"FLIPT_STORAGE_READ_ONLY=true", "GUIDON_SERVER_READ_ONLY=true"}, ""},
		{"variables of both", append(append(codehost(), token...), required, "FLIPT_AUTHENTICATION_REQUIRED=true", "FLIPT_AUTHENTICATION_METHODS_GITHUB_CLIENT_SECRET=hunter2", "FLIPT_AUTHENTICATION_METHODS_TOKEN_ENABLED="), ""},
		{"a variable and a file", []string{"FLIPT_AUTHENTICATION_METHODS_TOKEN_BOOTSTRAP_TOKEN=hunter2", "GUIDON_AUTHENTICATION_METHODS_TOKEN_BOOTSTRAP_TOKEN_FILE=" + write(t, "token", "x")}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := os.Stat(clusterToken); err == nil && test.name == "no token for reviews" {
				t.Skip("this is a pod")
			}
			c, err := load(t, "", test.variables...)
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(c.Warnings, "\n")
			if strings.Contains(got, "hunter2") {
				t.Errorf("got the warnings\n%s\nwant none with a value", got)
			}
			if len(c.Warnings) > 1 || (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
				t.Errorf("got the warnings\n%s\nwant %q", got, test.want)
			}
			if strings.Contains(got, "hunter2") {
				t.Errorf("%q shows a secret", got)
			}
		})
	}
}

// TestAdminConfigured: a binding of a provider that is not there makes nobody an admin.
func TestAdminConfigured(t *testing.T) {
	for binding, want := range map[string]bool{
		"admin=oidc:p:*": true, "admin@shop,*=oidc:p:*": true, "admin=oidc:other:*": false, "admin=codehost:*": false, "admin@pay-*=oidc:p:*": false,
	} {
		c, err := load(t, "", append(oidc(), required, "GUIDON_AUTHORIZATION_BINDINGS="+binding)...)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.AdminConfigured(); got != want {
			t.Errorf("%s: got %t, want %t", binding, got, want)
		}
	}
}

func oidcWithRoles() []string { return append(oidc("ROLES_CLAIM=roles"), required) }

// TestRolesEnforced: roles are enforced as soon as others than tokens can get them.
func TestRolesEnforced(t *testing.T) {
	token := method("TOKEN", "ENABLED=true")
	for _, test := range []struct {
		name      string
		variables []string
		want      bool
	}{
		{"nothing", nil, false},
		{"tokens", append(token, required), false},
		{"tokens and a binding", append(token, required, "GUIDON_AUTHORIZATION_BINDINGS=admin=jwt:*"), true},
		{"oidc", append(oidc(), required), true},
		{"codehost", append(codehost(), required), true},
		{"kubernetes", append(kubernetes(), required), true},
		{"jwt", append(jwt(), required), true},
		{"jwt and tokens", append(append(jwt(), token...), required), true},
		{"nothing is required", append(append(jwt(), token...), "GUIDON_AUTHORIZATION_BINDINGS=admin=jwt:*"), false},
		{"switched off", append(jwt(), required, "GUIDON_AUTHORIZATION_REQUIRED=FALSE"), false},
		{"switched on", append(token, required, "GUIDON_AUTHORIZATION_REQUIRED=true"), true},
	} {
		c, err := load(t, "", test.variables...)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if got := c.RolesEnforced(); got != test.want {
			t.Errorf("%s: got %t, want %t", test.name, got, test.want)
		}
		if want := map[bool]string{true: `"required":true`, false: `"required":false`}[test.want]; !strings.Contains(afterKey(string(c.JSON()), `"authorization":`), want) {
			t.Errorf("%s: /meta/config does not have %s", test.name, want)
		}
	}
}

// afterKey returns what follows the key in the text, up to the next group.
func afterKey(text, key string) string {
	_, after, _ := strings.Cut(text, key)
	part, _, _ := strings.Cut(after, `"cache":`)
	return part
}

func TestDefaultRoles(t *testing.T) {
	c, err := load(t, "", "GUIDON_AUTHORIZATION_DEFAULT_ROLES_CODEHOST=none", "GUIDON_AUTHORIZATION_DEFAULT_ROLES_JWT=evaluator")
	if err != nil {
		t.Fatal(err)
	}
	for method, want := range map[service.Method]service.Role{
		service.MethodOIDC: service.RoleViewer, service.MethodCodehost: service.RoleNone, service.MethodKubernetes: service.RoleClient,
		service.MethodJWT: service.RoleEvaluator, service.MethodToken: service.RoleAdmin, service.MethodNone: service.RoleNone, service.MethodCloud: service.RoleNone,
	} {
		if got := c.Authorization.DefaultRoles.Role(method); got != want {
			t.Errorf("%v: got %v, want %v", method, got, want)
		}
	}
}

func TestParsedBindings(t *testing.T) {
	c, err := load(t, "", "GUIDON_AUTHORIZATION_BINDINGS=editor@shop=oidc:p:email:Ada@example.com viewer=oidc:p:group:A%20B")
	if err != nil {
		t.Fatal(err)
	}
	got := c.Authorization.ParsedBindings()
	if len(got) != 2 || got[0].Subject != "oidc:p:email:ada@example.com" || got[0].Role != service.RoleEditor || got[1].Subject != "oidc:p:group:A B" || got[1].Source != service.SourceConfiguration {
		t.Errorf("got %+v", got)
	}
}

// TestTranslatedVariables: variables of Flipt that the file has are not reported as ignored.
func TestTranslatedVariables(t *testing.T) {
	c, err := load(t, "{server: {read_only: true}, db: {protocol: postgres, host: db, name: guidon}, authentication: {session: {token_lifetime: 2h}}}",
		"FLIPT_STORAGE_READ_ONLY=true", "FLIPT_DB_HOST=db", "FLIPT_DB_NAME=flipt", "FLIPT_AUTHENTICATION_SESSION_TOKEN_LIFETIME=2h", "FLIPT_AUTHENTICATION_REQUIRED=true")
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(c.Warnings, "\n")
	if want := "here they begin with GUIDON_: FLIPT_AUTHENTICATION_REQUIRED; "; !strings.Contains(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

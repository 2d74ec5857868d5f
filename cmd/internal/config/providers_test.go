package config_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/cmd/internal/config"
)

// TestProviders: providers come from the file and from variables, which override single
// keys of it.
func TestProviders(t *testing.T) {
	c, err := load(t, `
server: {public_url: https://flags.example}
authentication:
  methods:
    oidc:
      enabled: true
      providers:
        google:
          issuer_url: https://accounts.google.com
          client_id: from-file
          allowed_domains: [example.com]
          authorize_params: {prompt: login, tenantId: "${TENANT}"}
        my-idp: {issuer_url: https://id.example/realms/x/, client_id: c, scopes: [openid], allow_everyone: true}
`,
		"TENANT=t1",
		"GUIDON_AUTHENTICATION_METHODS_OIDC_PROVIDERS_GOOGLE_CLIENT_ID=from-variable",
		"GUIDON_AUTHENTICATION_METHODS_OIDC_PROVIDERS_GOOGLE_CLIENT_SECRET_FILE="+write(t, "secret", "hunter2\n"),
		"GUIDON_AUTHENTICATION_METHODS_OIDC_PROVIDERS_GOOGLE_ALLOWED_EMAILS=ada@example.org bob@example.org",
		"GUIDON_AUTHENTICATION_METHODS_OIDC_PROVIDERS_GOOGLE_AUTHORIZE_PARAMS_HD=example.com",
		"GUIDON_AUTHENTICATION_METHODS_OIDC_PROVIDERS_OTHER_ONE_ISSUER_URL=https://other.example",
		"GUIDON_AUTHENTICATION_METHODS_OIDC_PROVIDERS_OTHER_ONE_CLIENT_ID=o",
		"GUIDON_AUTHENTICATION_METHODS_OIDC_PROVIDERS_OTHER_ONE_ALLOW_EVERYONE=true",
		"GUIDON_AUTHENTICATION_METHODS_OIDC_PROVIDERS_OTHER_ONE_CLIENT_SECRET=vault://token",
	)
	if err != nil {
		t.Fatal(err)
	}
	algorithms := []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
	scopes := []string{"openid", "profile", "email"}
	want := map[string]*config.Provider{
		"google": {
			IssuerURL: "https://accounts.google.com", ClientID: "from-variable", ClientSecret: "hunter2", Scopes: scopes, UsePKCE: true,
			AuthorizeParams: map[string]string{"prompt": "login", "tenantId": "t1", "hd": "example.com"}, GroupsClaim: "groups", SigningAlgs: algorithms,
			AllowedDomains: []string{"example.com"}, AllowedEmails: []string{"ada@example.org", "bob@example.org"}, Logout: "local",
		},
		"my-idp": {
			IssuerURL: "https://id.example/realms/x/", ClientID: "c", Scopes: []string{"openid"}, UsePKCE: true, GroupsClaim: "groups",
			SigningAlgs: algorithms, AllowEveryone: true, Logout: "local",
		},
		"other_one": {
			IssuerURL: "https://other.example", ClientID: "o", ClientSecret: "first", Scopes: scopes, UsePKCE: true, GroupsClaim: "groups",
			SigningAlgs: algorithms, AllowEveryone: true, Logout: "local",
		},
	}
	if diff := cmp.Diff(want, c.Authentication.Methods.OIDC.Providers); diff != "" {
		t.Errorf("providers (-want +got):\n%s", diff)
	}

	text := string(c.JSON())
	for _, secret := range []string{"hunter2", "first", "clientSecret"} {
		if strings.Contains(text, secret) {
			t.Errorf("%q is in %s", secret, text)
		}
	}
	var shown struct {
		Authentication struct {
			Methods struct {
				OIDC struct {
					Providers map[string]struct{ IssuerURL, ClientID string }
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &shown); err != nil {
		t.Fatal(err)
	}
	providers := shown.Authentication.Methods.OIDC.Providers
	if providers["other_one"].IssuerURL != "https://other.example" || providers["my-idp"].ClientID != "c" || len(providers) != 3 {
		t.Errorf("got the providers %v", providers)
	}
}

// TestProviderProblems: what cannot be read names the provider.
func TestProviderProblems(t *testing.T) {
	const group, prefix = "authentication.methods.oidc.providers", "GUIDON_AUTHENTICATION_METHODS_OIDC_PROVIDERS_"
	for _, test := range []struct{ name, providers, variable, want string }{
		{"an unknown key", "google: {client_idd: x}", "", "unknown key " + group + ".google.client_idd; did you mean client_id?"},
		{"a name in upper case", "Google: {}", "", group + `.Google: the name "Google" must be 1 to 32 lower-case letters`},
		{"a name with a dot", "goo.gle: {}", "", `the name "goo.gle" must be`},
		{"an empty name", "'': {}", "", `the name "" must be`},
		{"a long name", strings.Repeat("x", 33) + ": {}", "", `must be 1 to 32`},
		{"a name with the key of a map", "my_authorize_params: {}", "", `the name "my_authorize_params" must not contain authorize_params`},
		{"two of a name", "google: {}\n        google: {}", "", "duplicate key " + group + ".google"},
		{"no mapping", "google: x", "", group + ".google must be a mapping"},
		{"a list", "[google]", "", group + " must be a mapping"},
		{"a parameter twice", "google: {authorize_params: {a: 1, a: 2}}", "", "duplicate key a"},
		{"a value", "google: {use_pkce: perhaps}", "", group + ".google.use_pkce (" + prefix + `GOOGLE_USE_PKCE): must be true or false, not "perhaps"`},
		{"an unset variable", "google: {client_secret: '${NOT_SET}'}", "", group + ".google.client_secret (" + prefix + "GOOGLE_CLIENT_SECRET): the environment variable NOT_SET is not set"},
		{"a misspelt variable", "{}", prefix + "MY_IDP_CLIENT_IDD=x", "unknown variable " + prefix + "MY_IDP_CLIENT_IDD; did you mean " + prefix + "MY_IDP_CLIENT_ID?"},
		{"a variable without a name", "{}", prefix + "CLIENT_ID=x", "unknown variable " + prefix + "CLIENT_ID"},
		{"a bad name in a variable", "{}", prefix + "_X_CLIENT_ID=x", prefix + `_X_CLIENT_ID: the name "_x" must be`},
		{"a secret that cannot be fetched", "google: {client_secret: 'vault://nope'}", "", group + ".google.client_secret (" + prefix + "GOOGLE_CLIENT_SECRET): vault://nope: not found"},
		{"a value and a file", "google: {}", prefix + "GOOGLE_CLIENT_SECRET=hunter2\n" + prefix + "GOOGLE_CLIENT_SECRET_FILE=/x", "must not be set together with " + prefix + "GOOGLE_CLIENT_SECRET_FILE"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := load(t, "authentication:\n  methods:\n    oidc:\n      providers:\n        "+test.providers+"\n", strings.Split(test.variable, "\n")...)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want one with %q", err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error shows a secret: %v", err)
			}
		})
	}
}

// TestProviderWithoutValue: a provider of which only the name is there is not forgotten.
func TestProviderWithoutValue(t *testing.T) {
	_, err := load(t, "server: {public_url: 'https://flags.example'}\nauthentication: {methods: {oidc: {enabled: true, providers: {google: }}}}")
	if want := "providers.google.issuer_url (GUIDON_AUTHENTICATION_METHODS_OIDC_PROVIDERS_GOOGLE_ISSUER_URL): is required"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got error %v, want one with %q", err, want)
	}
}

// TestReplacedKeys: keys of Flipt that do not exist here say what to use instead.
func TestReplacedKeys(t *testing.T) {
	const policies = "there are no policies; give roles with authorization.bindings"
	for _, test := range []struct{ key, file, variable, want string }{
		{"authentication.session.csrf.key", "authentication: {session: {csrf: {key: x}}}", "AUTHENTICATION_SESSION_CSRF_KEY", "remove it, writes from pages of other origins are always checked"},
		{"authentication.session.csrf.secure", "authentication: {session: {csrf: {secure: true}}}", "AUTHENTICATION_SESSION_CSRF_SECURE", "authentication.session.secure is for all cookies"},
		{"authentication.exclude.metadata", "authentication: {exclude: {metadata: true}}", "AUTHENTICATION_EXCLUDE_METADATA", "remove it"},
		{"authentication.methods.github", "authentication: {methods: {github: {enabled: true, client_secret: hunter2}}}", "AUTHENTICATION_METHODS_GITHUB_CLIENT_SECRET_FILE", "use authentication.methods.codehost"},
		{"authentication.methods.oidc.providers.google.nonce", "authentication: {methods: {oidc: {providers: {google: {nonce: static}}}}}", "AUTHENTICATION_METHODS_OIDC_PROVIDERS_GOOGLE_NONCE", "remove it, each sign-in has a random nonce"},
		{"storage", "storage: {read_only: true}", "STORAGE_READ_ONLY", "server.read_only replaces storage.read_only"},
		{"cache.ttl", "cache: {ttl: 1m}", "CACHE_TTL", "cache.mode and cache.max_age"},
		{"cache.memory", "cache: {memory: {eviction_interval: 1m}}", "CACHE_MEMORY_EVICTION_INTERVAL", "remove it"},
		{"cache.redis.host", "cache: {redis: {host: h}}", "CACHE_REDIS_HOST", "it is a part of cache.redis.url"},
		{"cache.redis.password", "cache: {redis: {password: hunter2}}", "CACHE_REDIS_PASSWORD_FILE", "it is a part of cache.redis.url"},
		{"db.prepared_statements_enabled", "db: {prepared_statements_enabled: false}", "DB_PREPARED_STATEMENTS_ENABLED", "remove it, nothing is prepared"},
		{"tracing.jaeger", "tracing: {jaeger: {host: h}}", "TRACING_JAEGER_HOST", "Jaeger accepts too"},
		{"tracing.zipkin", "tracing: {zipkin: {endpoint: h}}", "TRACING_ZIPKIN_ENDPOINT", "use tracing.otlp.endpoint"},
		{"audit.sinks.kafka.encoding", "audit: {sinks: {kafka: {encoding: avro}}}", "AUDIT_SINKS_KAFKA_ENCODING", "CloudEvents in JSON"},
		{"audit.sinks.webhook.templates", "audit: {sinks: {webhook: {templates: []}}}", "AUDIT_SINKS_WEBHOOK_TEMPLATES", "guidon webhook create"},
		{"audit.buffer", "audit: {buffer: {capacity: 2}}", "AUDIT_BUFFER_CAPACITY", "there is no buffer"},
		{"analytics.storage", "analytics: {storage: {clickhouse: {enabled: true}}}", "ANALYTICS_STORAGE_CLICKHOUSE_URL", "in the database of db.url"},
		{"meta", "meta: {telemetry_enabled: true}", "META_TELEMETRY_ENABLED", "nothing is sent to anybody"},
		{"authorization.backend", "authorization: {backend: local}", "AUTHORIZATION_BACKEND", policies},
		{"authorization.local", "authorization: {local: {policy: {path: x}}}", "AUTHORIZATION_LOCAL_POLICY_PATH", policies},
		{"authorization.object", "authorization: {object: {type: s3}}", "AUTHORIZATION_OBJECT_TYPE", policies},
		{"authorization.bundle", "authorization: {bundle: {configuration: x}}", "AUTHORIZATION_BUNDLE_CONFIGURATION", policies},
	} {
		_, err := load(t, test.file)
		if want := "unknown key " + test.key + "; " + test.want; err == nil || !strings.Contains(err.Error(), "unknown key "+test.key+"; ") || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("got error %v, want one with %q", err, want)
		}
		_, err = load(t, "", "GUIDON_"+test.variable+"=hunter2")
		if want := "unknown variable GUIDON_" + test.variable + "; "; err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("got error %v, want one with %q and %q", err, want, test.want)
		}
	}
	for _, variable := range []string{"AUTHENTICATION_METHODS_GITHUBX=x", "AUTHORIZATION_LOCALE=x"} {
		if _, err := load(t, "", "GUIDON_"+variable); err == nil || strings.Contains(err.Error(), "policies") || strings.Contains(err.Error(), "acme") {
			t.Errorf("%s: got error %v", variable, err)
		}
	}
}

// TestTeamsOfFlipt: Flipt has a map of teams.
func TestTeamsOfFlipt(t *testing.T) {
	for _, test := range []struct{ file, variable, want string }{
		{"authentication: {methods: {codehost: {allowed_teams: {acme: [backend]}}}}", "", "authentication.methods.codehost.allowed_teams (GUIDON_AUTHENTICATION_METHODS_CODEHOST_ALLOWED_TEAMS): must be a list, not a mapping: write each team with its organization, such as acme/backend"},
		{"", "GUIDON_AUTHENTICATION_METHODS_CODEHOST_ALLOWED_TEAMS_ACME=backend", "write each team with its organization, such as acme/backend"},
	} {
		if _, err := load(t, test.file, test.variable); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got error %v, want one with %q", err, test.want)
		}
	}
}

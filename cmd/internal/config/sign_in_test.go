package config_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/cmd/internal/config"
)

const (
	public   = "GUIDON_SERVER_PUBLIC_URL=https://flags.example"
	required = "GUIDON_AUTHENTICATION_REQUIRED=true"
)

// method returns variables of a method. A pair with an empty value unsets a variable.
func method(prefix string, pairs ...string) []string {
	var variables []string
	for _, pair := range pairs {
		variables = append(variables, "GUIDON_AUTHENTICATION_METHODS_"+prefix+"_"+pair)
	}
	return variables
}

// The smallest valid configuration of each method. Later variables override earlier ones.
func oidc(pairs ...string) []string {
	on := append(method("OIDC", "ENABLED=true"), public)
	return append(on, method("OIDC_PROVIDERS_P", append([]string{"ISSUER_URL=https://id.example", "CLIENT_ID=guidon", "ALLOWED_DOMAINS=example.com"}, pairs...)...)...)
}

func codehost(pairs ...string) []string {
	return append(method("CODEHOST", append([]string{"ENABLED=true", "CLIENT_ID=guidon", "CLIENT_SECRET=hunter2", "ALLOWED_ORGANIZATIONS=acme"}, pairs...)...), public)
}

func kubernetes(pairs ...string) []string {
	return method("KUBERNETES", append([]string{"ENABLED=true"}, pairs...)...)
}

func jwt(pairs ...string) []string {
	return method("JWT", append([]string{"ENABLED=true", "JWKS_URL=https://id.example/keys", "VALIDATE_CLAIMS_AUDIENCES=guidon"}, pairs...)...)
}

func and(lists ...[]string) []string {
	var all []string
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}

// TestSignInAccepted: what the refusals of TestSignInRefused are measured against.
func TestSignInAccepted(t *testing.T) {
	certificate := write(t, "ca.pem", authority(t))
	for name, variables := range map[string][]string{
		"oidc":                              oidc(),
		"oidc, required":                    append(oidc(), required),
		"a public client":                   oidc("CLIENT_SECRET="),
		"an issuer with a slash":            oidc("ISSUER_URL=https://id.example/realms/x/"),
		"an issuer on this machine":         oidc("ISSUER_URL=http://127.0.0.1:5556/dex"),
		"a tenant":                          oidc("ISSUER_URL=https://login.microsoftonline.com/11111111-2222-3333-4444-555555555555/v2.0"),
		"an issuer of somebody else":        oidc("ISSUER_URL=https://id.example/common"),
		"everyone":                          oidc("ALLOWED_DOMAINS=", "ALLOW_EVERYONE=true"),
		"e-mail patterns as the allow list": append(oidc("ALLOWED_DOMAINS="), method("OIDC", `EMAIL_MATCHES=.*@corp\.example$ ^(ada@x\.example|bob@y\.example)$`)...),
		"patterns and everyone":             append(oidc("ALLOWED_DOMAINS=", "ALLOW_EVERYONE=true"), method("OIDC", `EMAIL_MATCHES=@corp\.example$`)...),
		"e-mail addresses":                  oidc("ALLOWED_DOMAINS=", "ALLOWED_EMAILS=Ada@example.com"),
		"groups":                            oidc("ALLOWED_DOMAINS=", "ALLOWED_GROUPS=ops"),
		"claims":                            oidc("GROUPS_CLAIM=/realm_access/a~1b~0c", "ROLES_CLAIM=https://example.com/roles"),
		"authorities":                       oidc("CA_PATH=" + certificate),
		"another redirect address":          oidc("REDIRECT_ADDRESS=https://flags.example/"),
		"a disabled provider is unfinished": method("OIDC_PROVIDERS_P", "ISSUER_URL=x"),
		"codehost":                          codehost(),
		"teams":                             codehost("ALLOWED_ORGANIZATIONS=", "ALLOWED_TEAMS=acme/backend other/ops"),
		"teams with the scope":              codehost("ALLOWED_TEAMS=acme/backend", "SCOPES=read:user read:org"),
		"e-mail without the scope":          codehost("ALLOWED_ORGANIZATIONS=", "ALLOWED_EMAILS=a@b.example", "SCOPES=read:user user:email"),
		"gitlab":                            codehost("TYPE=GitLab", "ALLOWED_ORGANIZATIONS=acme/platform"),
		"gitea":                             codehost("TYPE=gitea", "SERVER_URL=https://git.example"),
		"a code host on this machine":       codehost("TYPE=gitea", "SERVER_URL=http://localhost:3000", "API_URL=http://localhost:3000/api/v1"),
		"kubernetes":                        kubernetes(),
		"kubernetes with keys":              kubernetes("VERIFY=keys", "JWKS_URL=https://cluster.example/keys", "MAX_LIFETIME=720h", "AUDIENCES=guidon https://x"),
		"service accounts":                  kubernetes("ALLOWED_SERVICE_ACCOUNTS=shop/checkout shop/* */checkout */*"),
		"jwt":                               jwt(),
		"jwt by discovery":                  jwt("JWKS_URL=", "DISCOVERY_URL=https://id.example"),
		"jwt by file":                       jwt("JWKS_URL=", "PUBLIC_KEY_FILE="+write(t, "key.pem", publicKey(t))),
		"jwt of any audience":               jwt("VALIDATE_CLAIMS_AUDIENCES=", "VALIDATE_CLAIMS_ANY_AUDIENCE=true"),
		"http on this machine":              oidcAt("http://localhost:8080"),
		"http on an address here":           oidcAt("http://[::1]:8080/base"),
		"http by choice":                    append(oidcAt("http://flags.internal"), "GUIDON_AUTHENTICATION_SESSION_SECURE=false"),
		"host prefix":                       append(oidc(), "GUIDON_AUTHENTICATION_SESSION_HOST_PREFIX=true"),
		"a domain above":                    append(oidc(), "GUIDON_AUTHENTICATION_SESSION_DOMAIN=example"),
		"the domain itself":                 append(oidc(), "GUIDON_AUTHENTICATION_SESSION_DOMAIN=Flags.example"),
		"trusted origins":                   {"GUIDON_AUTHENTICATION_SESSION_CSRF_TRUSTED_ORIGINS=https://a.example http://localhost:3000 https://[::1]:8443"},
		"roles":                             append(jwt(), required, "GUIDON_AUTHORIZATION_REQUIRED=true"),
		"excluded management without roles": append(jwt(), required, "GUIDON_AUTHORIZATION_REQUIRED=false", "GUIDON_AUTHENTICATION_EXCLUDE_MANAGEMENT=true"),
		"excluded evaluation with roles":    append(jwt(), required, "GUIDON_AUTHENTICATION_EXCLUDE_EVALUATION=true"),
		"excluded management with tokens":   append(method("TOKEN", "ENABLED=true"), required, "GUIDON_AUTHENTICATION_EXCLUDE_MANAGEMENT=true"),
		"bindings":                          {"GUIDON_AUTHORIZATION_BINDINGS=admin=oidc:p:email:ada@example.com editor@checkout,pay-*=oidc:p:group:Payment%20Team"},
	} {
		if _, err := load(t, "", variables...); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// oidcAt is oidc with another public URL.
func oidcAt(publicURL string) []string {
	return append(oidc(), "GUIDON_SERVER_PUBLIC_URL="+publicURL)
}

// TestSignInRefused has one problem in each case, which names the key and the variable.
func TestSignInRefused(t *testing.T) {
	const (
		loopback = "must be https; http is only for localhost and loopback addresses"
		issuer   = "authentication.methods.oidc.providers.p.issuer_url"
	)
	p := func(name string) string { return "authentication.methods.oidc.providers.p." + name }
	for _, test := range []struct {
		name      string
		variables []string
		key, want string
	}{
		{"oidc without a provider", append(method("OIDC", "ENABLED=true"), public), "authentication.methods.oidc.providers", "must have at least one provider"},
		{"oidc without a public URL", append(oidc(), "GUIDON_SERVER_PUBLIC_URL="), "authentication.methods.oidc.enabled", "requires server.public_url (GUIDON_SERVER_PUBLIC_URL)"},
		{"codehost without a public URL", append(codehost(), "GUIDON_SERVER_PUBLIC_URL="), "authentication.methods.codehost.enabled", "requires server.public_url (GUIDON_SERVER_PUBLIC_URL)"},
		{"no issuer", oidc("ISSUER_URL="), issuer, "is required"},
		{"no client id", oidc("CLIENT_ID="), p("client_id"), "is required"},
		{"a client id with a line", oidc("CLIENT_ID=a\nb"), p("client_id"), "must not contain control characters"},
		{"a secret with a line", oidc("CLIENT_SECRET=hunter2\n"), p("client_secret"), "must not contain control characters"},
		{"no allow list", oidc("ALLOWED_DOMAINS="), p("allow_everyone"), "must be true if everyone with an account there may sign in; otherwise, set one of allowed_emails, allowed_domains, allowed_groups"},
		{"a list and everyone", oidc("ALLOW_EVERYONE=true"), p("allow_everyone"), "must not be set together with allowed_domains"},
		{"groups without a claim", append(oidc("ALLOWED_GROUPS=ops"), file(t, "OIDC_PROVIDERS_P_GROUPS_CLAIM", "")), p("allowed_groups"), "requires groups_claim"},
		{"an issuer with a query", oidc("ISSUER_URL=https://id.example?tenant=x"), issuer, "without query and fragment"},
		{"an issuer with an empty query", oidc("ISSUER_URL=https://id.example?"), issuer, "without query and fragment"},
		{"an issuer with a fragment", oidc("ISSUER_URL=https://id.example#x"), issuer, "without query and fragment"},
		{"an issuer with a password", oidc("ISSUER_URL=https://u:hunter2@id.example"), issuer, "without a user"},
		{"an issuer without a scheme", oidc("ISSUER_URL=id.example"), issuer, "must be a URL"},
		{"an issuer over http", oidc("ISSUER_URL=http://id.example"), issuer, loopback},
		{"an issuer that only looks local", oidc("ISSUER_URL=http://localhost.example"), issuer, loopback},
		{"all tenants", oidc("ISSUER_URL=https://login.microsoftonline.com/common/v2.0"), issuer, "must contain the id of one tenant instead of common, which is no issuer"},
		{"all organizations", oidc("ISSUER_URL=https://login.microsoftonline.com/Organizations/v2.0"), issuer, "instead of organizations"},
		{"all consumers", oidc("ISSUER_URL=https://LOGIN.microsoftonline.com./%63onsumers/v2.0/"), issuer, "instead of consumers"},
		{"a placeholder", oidc("ISSUER_URL=https://login.microsoftonline.com/{tenantid}/v2.0"), issuer, "must not contain a placeholder"},
		{"a redirect address over http", oidc("REDIRECT_ADDRESS=http://flags.example"), p("redirect_address"), "must be https"},
		{"a redirect address with a query", oidc("REDIRECT_ADDRESS=https://flags.example?x"), p("redirect_address"), "must be a URL such as"},
		{"a redirect address of a slash", oidc("REDIRECT_ADDRESS=/"), p("redirect_address"), "must be a URL such as"},
		{"a scope with a quote", oidc(`SCOPES=openid "email"`), p("scopes"), "must be scopes"},
		{"our parameter", oidc("AUTHORIZE_PARAMS_STATE=x"), p("authorize_params"), "must not contain state"},
		{"our parameter in upper case", oidc(), p("authorize_params"), "must not contain STATE"},
		{"a request object", oidc("AUTHORIZE_PARAMS_REQUEST=x"), p("authorize_params"), "must not contain request"},
		{"a request URI", oidc("AUTHORIZE_PARAMS_REQUEST_URI=x"), p("authorize_params"), "must not contain request_uri"},
		{"a response mode", oidc("AUTHORIZE_PARAMS_RESPONSE_MODE=form_post"), p("authorize_params"), "must not contain response_mode"},
		{"a redirect parameter", oidc("AUTHORIZE_PARAMS_REDIRECT_URI=https://evil.example"), p("authorize_params"), "must not contain redirect_uri"},
		{"a parameter with a space", oidc("AUTHORIZE_PARAMS_A B=x"), p("authorize_params"), "must have names"},
		{"a long parameter", oidc("AUTHORIZE_PARAMS_A=" + strings.Repeat("x", 1025)), p("authorize_params"), "must not be longer than 1024 bytes"},
		{"a bad pointer", oidc("GROUPS_CLAIM=/a~2b"), p("groups_claim"), "JSON pointer"},
		{"a bad pointer of roles", oidc("ROLES_CLAIM=/a~"), p("roles_claim"), "JSON pointer"},
		{"HMAC", oidc("SIGNING_ALGS=RS256 HS256"), p("signing_algs"), `unknown algorithm "HS256"`},
		{"no signature", oidc("SIGNING_ALGS=none"), p("signing_algs"), `unknown algorithm "none"`},
		{"authorities that are not there", oidc("CA_PATH=/no/ca.pem"), p("ca_path"), "stat /no/ca.pem"},
		{"authorities without a certificate", oidc("CA_PATH=" + write(t, "x", "nothing")), p("ca_path"), "no certificate in"},
		{"authorities that are a directory", oidc("CA_PATH=" + t.TempDir()), p("ca_path"), "is a directory"},
		{"an address without @", oidc("ALLOWED_EMAILS=example.com"), p("allowed_emails"), `not "example.com"`},
		{"a pattern of addresses", oidc("ALLOWED_EMAILS=*@example.com"), p("allowed_emails"), `not "*@example.com"`},
		{"a domain with @", oidc("ALLOWED_DOMAINS=@example.com"), p("allowed_domains"), "without @ and pattern"},
		{"a pattern of domains", oidc("ALLOWED_DOMAINS=*.example.com"), p("allowed_domains"), "without @ and pattern"},
		{"a pattern of groups", oidc("ALLOWED_GROUPS=*"), p("allowed_groups"), "without patterns"},
		{"an unknown logout", oidc("LOGOUT=never"), p("logout"), "must be one of local, provider"},
		{"a display name with a line", oidc("DISPLAY_NAME=a\nb"), p("display_name"), "control characters"},

		{"a pattern without an end", append(oidc(), method("OIDC", `EMAIL_MATCHES=@corp\.example`)...), "authentication.methods.oidc.email_matches", `must be regular expressions that end in $`},
		{"an alternative without an end", append(oidc(), method("OIDC", `EMAIL_MATCHES=@a\.example|@b\.example$`)...), "authentication.methods.oidc.email_matches", "also in each alternative"},
		{"a dollar that is text", append(oidc(), method("OIDC", `EMAIL_MATCHES=@corp\.example\$`)...), "authentication.methods.oidc.email_matches", "that end in $"},
		{"an end of each line", append(oidc(), method("OIDC", `EMAIL_MATCHES=(?m)@corp\.example$`)...), "authentication.methods.oidc.email_matches", "that end in $"},
		{"an end that is optional", append(oidc(), method("OIDC", `EMAIL_MATCHES=@corp\.example($)?`)...), "authentication.methods.oidc.email_matches", "that end in $"},
		{"an empty pattern", oidc(), "authentication.methods.oidc.email_matches", "that end in $"},
		{"not a regular expression", append(oidc(), method("OIDC", `EMAIL_MATCHES=(@corp\.example$`)...), "authentication.methods.oidc.email_matches", "must be regular expressions: "},

		{"a code host without a secret", codehost("CLIENT_SECRET="), "authentication.methods.codehost.client_secret", "is required"},
		{"a code host without an id", codehost("CLIENT_ID="), "authentication.methods.codehost.client_id", "is required"},
		{"a code host for everybody", codehost("ALLOWED_ORGANIZATIONS="), "authentication.methods.codehost.allow_everyone", "otherwise, set one of allowed_organizations, allowed_teams, allowed_emails, allowed_domains"},
		{"an organization and everyone", codehost("ALLOW_EVERYONE=true"), "authentication.methods.codehost.allow_everyone", "must not be set together with allowed_organizations"},
		{"an unknown code host", codehost("TYPE=bitbucket"), "authentication.methods.codehost.type", "must be one of github, gitlab, gitea"},
		{"gitea without a server", codehost("TYPE=gitea"), "authentication.methods.codehost.server_url", "is required if type is gitea"},
		{"a code host over http", codehost("SERVER_URL=http://git.example"), "authentication.methods.codehost.server_url", loopback},
		{"an API over http", codehost("API_URL=http://git.example/api/v3"), "authentication.methods.codehost.api_url", loopback},
		{"an API with a query", codehost("API_URL=https://git.example/api?x"), "authentication.methods.codehost.api_url", "without query"},
		{"a team without its organization", codehost("ALLOWED_TEAMS=backend"), "authentication.methods.codehost.allowed_teams", `such as acme/backend, not "backend"`},
		{"all teams", codehost("ALLOWED_TEAMS=acme/*"), "authentication.methods.codehost.allowed_teams", `such as acme/backend, not "acme/*"`},
		{"a team below a team", codehost("ALLOWED_TEAMS=acme/a/b"), "authentication.methods.codehost.allowed_teams", `not "acme/a/b"`},
		{"teams without the scope", codehost("ALLOWED_ORGANIZATIONS=", "ALLOWED_TEAMS=acme/backend", "SCOPES=read:user user:email"), "authentication.methods.codehost.scopes", "must contain read:org or write:org or admin:org, to read the teams"},
		{"addresses without the scope", codehost("ALLOWED_EMAILS=a@b.example", "SCOPES=read:org"), "authentication.methods.codehost.scopes", "must contain user:email or user, to read the e-mail addresses"},
		{"organizations without the scope", codehost("SCOPES=read:user"), "authentication.methods.codehost.scopes", "must contain read:org"},
		{"organizations of Gitea without the scope", codehost("TYPE=gitea", "SERVER_URL=https://git.example", "SCOPES=read:user"), "authentication.methods.codehost.scopes", "must contain read:organization"},
		{"teams of GitLab", codehost("TYPE=gitlab", "ALLOWED_TEAMS=acme/backend"), "authentication.methods.codehost.allowed_teams", "which has no teams"},
		{"authorities of a code host", codehost("CA_PATH=/no/ca.pem"), "authentication.methods.codehost.ca_path", "stat /no/ca.pem"},

		{"an API server over http", kubernetes("DISCOVERY_URL=http://10.0.0.1"), "authentication.methods.kubernetes.discovery_url", loopback},
		{"keys for reviews", kubernetes("JWKS_URL=https://cluster.example/keys"), "authentication.methods.kubernetes.jwks_url", "requires verify to be keys"},
		{"a named token that is empty", kubernetes("SERVICE_ACCOUNT_TOKEN_PATH=" + write(t, "token", "")), "authentication.methods.kubernetes.service_account_token_path", "does not have a token"},
		{"an unknown way", kubernetes("VERIFY=trust"), "authentication.methods.kubernetes.verify", "must be one of review, keys"},
		{"a named token that is not there", kubernetes("SERVICE_ACCOUNT_TOKEN_PATH=/no/token"), "authentication.methods.kubernetes.service_account_token_path", "stat /no/token"},
		{"named authorities that are not there", kubernetes("CA_PATH=/no/ca.crt"), "authentication.methods.kubernetes.ca_path", "stat /no/ca.crt"},
		{"an account without a namespace", kubernetes("ALLOWED_SERVICE_ACCOUNTS=checkout"), "authentication.methods.kubernetes.allowed_service_accounts", `not "checkout"`},
		{"an account of a part", kubernetes("ALLOWED_SERVICE_ACCOUNTS=shop/check*"), "authentication.methods.kubernetes.allowed_service_accounts", `not "shop/check*"`},
		{"a short lifetime", kubernetes("MAX_LIFETIME=59s"), "authentication.methods.kubernetes.max_lifetime", "must be 0s, or from 1m to 720h"},
		{"a long lifetime", kubernetes("MAX_LIFETIME=721h"), "authentication.methods.kubernetes.max_lifetime", "must be 0s, or from 1m to 720h"},

		{"jwt without keys", jwt("JWKS_URL="), "authentication.methods.jwt.enabled", "requires one of discovery_url, jwks_url and public_key_file"},
		{"jwt with two keys", jwt("DISCOVERY_URL=https://id.example"), "authentication.methods.jwt.jwks_url", "must not be set together with discovery_url"},
		{"jwt with a URL and a file", jwt("PUBLIC_KEY_FILE=" + write(t, "k", publicKey(t))), "authentication.methods.jwt.public_key_file", "must not be set together with jwks_url"},
		{"jwt without audiences", jwt("VALIDATE_CLAIMS_AUDIENCES="), "authentication.methods.jwt.validate_claims.audiences", "is required"},
		{"jwt with some and any", jwt("VALIDATE_CLAIMS_ANY_AUDIENCE=true"), "authentication.methods.jwt.validate_claims.any_audience", "must not be set together with audiences"},
		{"jwt keys over http", jwt("JWKS_URL=http://id.example/keys"), "authentication.methods.jwt.jwks_url", loopback},
		{"jwt discovery over http", jwt("JWKS_URL=", "DISCOVERY_URL=http://id.example"), "authentication.methods.jwt.discovery_url", loopback},
		{"a private key", jwt("JWKS_URL=", "PUBLIC_KEY_FILE="+write(t, "k", privateKey(t))), "authentication.methods.jwt.public_key_file", "has a private key"},
		{"a file without a key", jwt("JWKS_URL=", "PUBLIC_KEY_FILE="+write(t, "k", "hunter2")), "authentication.methods.jwt.public_key_file", "no public key"},
		{"a key file that is not there", jwt("JWKS_URL=", "PUBLIC_KEY_FILE=/no/key"), "authentication.methods.jwt.public_key_file", "stat /no/key"},
		{"a key that fits no algorithm", jwt("JWKS_URL=", "SIGNING_ALGS=RS256", "PUBLIC_KEY_FILE="+write(t, "k", publicKey(t))), "authentication.methods.jwt.public_key_file", "fits none of the algorithms"},
		{"HMAC for jwt", jwt("SIGNING_ALGS=HS256"), "authentication.methods.jwt.signing_algs", `unknown algorithm "HS256"`},
		{"a bad pointer of jwt", jwt("GROUPS_CLAIM=/~"), "authentication.methods.jwt.groups_claim", "JSON pointer"},
		{"authorities for a file", jwt("JWKS_URL=", "PUBLIC_KEY_FILE="+write(t, "k", publicKey(t)), "CA_PATH="+write(t, "ca.pem", authority(t))), "authentication.methods.jwt.ca_path", "must not be set together with public_key_file"},

		{"a public URL over http", oidcAt("http://flags.example"), "server.public_url", "must be https"},
		{"a public URL over http without a method", []string{"GUIDON_SERVER_PUBLIC_URL=http://flags.example"}, "server.public_url", "must be https"},
		{"a domain and a prefix", append(oidc(), "GUIDON_AUTHENTICATION_SESSION_HOST_PREFIX=true", "GUIDON_AUTHENTICATION_SESSION_DOMAIN=flags.example"), "authentication.session.host_prefix", "must not be set together with authentication.session.domain"},
		{"a prefix without https", append(oidcAt("http://localhost:8080"), "GUIDON_AUTHENTICATION_SESSION_HOST_PREFIX=true"), "authentication.session.host_prefix", "requires https"},
		{"a prefix without https, with secure cookies", append(oidcAt("http://localhost:8080"), "GUIDON_AUTHENTICATION_SESSION_HOST_PREFIX=true", "GUIDON_AUTHENTICATION_SESSION_SECURE=true"), "authentication.session.host_prefix", "requires https"},
		{"a prefix with insecure cookies", append(oidc(), "GUIDON_AUTHENTICATION_SESSION_HOST_PREFIX=true", "GUIDON_AUTHENTICATION_SESSION_SECURE=false"), "authentication.session.host_prefix", "requires https"},
		{"a prefix without a public URL", []string{"GUIDON_AUTHENTICATION_SESSION_HOST_PREFIX=true"}, "authentication.session.host_prefix", "requires https"},
		{"a domain with a scheme", append(oidc(), "GUIDON_AUTHENTICATION_SESSION_DOMAIN=https://flags.example"), "authentication.session.domain", "without scheme and port"},
		{"another domain", append(oidc(), "GUIDON_AUTHENTICATION_SESSION_DOMAIN=lags.example"), "authentication.session.domain", "must be the host of server.public_url"},
		{"an origin with a path", []string{"GUIDON_AUTHENTICATION_SESSION_CSRF_TRUSTED_ORIGINS=https://a.example/"}, "authentication.session.csrf.trusted_origins", `not "https://a.example/"`},
		{"an origin with the default port", []string{"GUIDON_AUTHENTICATION_SESSION_CSRF_TRUSTED_ORIGINS=https://a.example:443"}, "authentication.session.csrf.trusted_origins", "default port"},
		{"an origin in upper case", []string{"GUIDON_AUTHENTICATION_SESSION_CSRF_TRUSTED_ORIGINS=https://A.example"}, "authentication.session.csrf.trusted_origins", "lower case"},
		{"all origins", []string{"GUIDON_AUTHENTICATION_SESSION_CSRF_TRUSTED_ORIGINS=*"}, "authentication.session.csrf.trusted_origins", `not "*"`},
		{"the null origin", []string{"GUIDON_AUTHENTICATION_SESSION_CSRF_TRUSTED_ORIGINS=null"}, "authentication.session.csrf.trusted_origins", `not "null"`},
		{"a short session", []string{"GUIDON_AUTHENTICATION_SESSION_TOKEN_LIFETIME=59s"}, "authentication.session.token_lifetime", "must be from 1m to 720h"},
		{"a long session", []string{"GUIDON_AUTHENTICATION_SESSION_TOKEN_LIFETIME=721h"}, "authentication.session.token_lifetime", "must be from 1m to 720h"},
		{"a long session of the command line", []string{"GUIDON_AUTHENTICATION_SESSION_CLI_LIFETIME=721h"}, "authentication.session.cli_lifetime", "must be from 1m to 720h"},
		{"a long attempt", []string{"GUIDON_AUTHENTICATION_SESSION_STATE_LIFETIME=61m"}, "authentication.session.state_lifetime", "must be from 1m to 1h"},
		{"no sessions", []string{"GUIDON_AUTHENTICATION_SESSION_MAX_PER_IDENTITY=0"}, "authentication.session.max_per_identity", "must be from 1 to 1000"},
		{"many sessions", []string{"GUIDON_AUTHENTICATION_SESSION_MAX_PER_IDENTITY=1001"}, "authentication.session.max_per_identity", "must be from 1 to 1000"},

		{"required without a method", []string{required}, "authentication.required", "no authentication method is enabled"},
		{"roles without credentials", append(jwt(), "GUIDON_AUTHORIZATION_REQUIRED=true"), "authorization.required", "requires authentication.required"},
		{"excluded management with roles", append(jwt(), required, "GUIDON_AUTHENTICATION_EXCLUDE_MANAGEMENT=true"), "authentication.exclude.management", "must be false if roles are enforced"},
		{"excluded management with a binding", append(method("TOKEN", "ENABLED=true"), required, "GUIDON_AUTHENTICATION_EXCLUDE_MANAGEMENT=true", "GUIDON_AUTHORIZATION_BINDINGS=admin=jwt:*"), "authentication.exclude.management", "must be false if roles are enforced"},
		{"an unknown default role", []string{"GUIDON_AUTHORIZATION_DEFAULT_ROLES_OIDC=owner"}, "authorization.default_roles.oidc", "must be one of none, evaluator, client, viewer, editor, admin"},
		{"an unknown role", []string{"GUIDON_AUTHORIZATION_BINDINGS=owner=jwt:*"}, "authorization.bindings", `"owner=jwt:*": invalid field role: must be evaluator`},
		{"an unknown subject", []string{"GUIDON_AUTHORIZATION_BINDINGS=admin=google:email:a@b.example"}, "authorization.bindings", "invalid field subject: must have one of the forms"},
		{"a bad pattern", []string{"GUIDON_AUTHORIZATION_BINDINGS=admin@*-pay=jwt:*"}, "authorization.bindings", "invalid field namespaceKeys[0]"},
		{"a binding that is none", []string{"GUIDON_AUTHORIZATION_BINDINGS=admin"}, "authorization.bindings", "must have the form role=subject"},
		{"many bindings", []string{"GUIDON_AUTHORIZATION_BINDINGS=" + strings.Repeat("viewer=jwt:* ", 1001)}, "authorization.bindings", "must not have more than 1000 elements, not 1001"},
	} {
		t.Run(test.name, func(t *testing.T) {
			content := ""
			switch test.name { // what variables cannot have
			case "an empty pattern":
				content = "authentication: {methods: {oidc: {email_matches: ['']}}}"
			case "our parameter in upper case":
				content = "authentication: {methods: {oidc: {providers: {p: {authorize_params: {STATE: x}}}}}}"
			}
			_, err := load(t, content, test.variables...)
			problems, ok := errors.AsType[*config.Error](err)
			if !ok || len(problems.Problems) != 1 {
				t.Fatalf("got error %v, want one problem", err)
			}
			got := problems.Problems[0].String()
			if start := fmt.Sprintf("%s (%s", test.key, variable(test.key)); !strings.HasPrefix(got, start) || !strings.Contains(got, test.want) {
				t.Errorf("got %q, want %s…: …%s", got, start, test.want)
			}
			if strings.Contains(got, "hunter2") {
				t.Errorf("%q shows a secret", got)
			}
		})
	}
}

func variable(key string) string {
	return "GUIDON_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

// file returns a variable that names a file with the content, which may be empty.
func file(t *testing.T, name, content string) string {
	return "GUIDON_AUTHENTICATION_METHODS_" + name + "_FILE=" + write(t, "value", content)
}

// TestSignInProblemsTogether: problems of several methods are reported together.
func TestSignInProblemsTogether(t *testing.T) {
	_, err := load(t, `
server: {public_url: http://flags.example}
authentication:
  session: {host_prefix: true, domain: flags.example}
  methods:
    oidc:
      enabled: true
      providers:
        google: {issuer_url: http://id.example, client_secret: hunter2}
        entra: {issuer_url: https://login.microsoftonline.com/common/v2.0, client_id: x, allow_everyone: true}
    codehost: {enabled: true, allowed_teams: [backend]}
    jwt: {enabled: true}
authorization:
  required: true
  bindings: ["owner=jwt:*", "admin=x"]
`)
	problems, ok := errors.AsType[*config.Error](err)
	if !ok {
		t.Fatalf("got error %v", err)
	}
	want := []string{
		"authentication.methods.oidc.providers.entra.issuer_url", "authentication.methods.oidc.providers.google.issuer_url",
		"authentication.methods.oidc.providers.google.client_id", "authentication.methods.oidc.providers.google.allow_everyone",
		"authentication.methods.codehost.client_id", "authentication.methods.codehost.client_secret", "authentication.methods.codehost.allowed_teams",
		"authentication.methods.jwt.enabled", "authentication.methods.jwt.validate_claims.audiences", "server.public_url",
		"authentication.session.host_prefix", "authentication.session.host_prefix", "authorization.required", "authorization.bindings", "authorization.bindings",
	}
	var got []string
	for _, problem := range problems.Problems {
		got = append(got, problem.Key)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}

// TestSecretsOfMethods: no secret is shown, nor is a problem reported twice if it cannot
// be fetched.
func TestSecretsOfMethods(t *testing.T) {
	c, err := load(t, "", and(oidc("CLIENT_SECRET=hunter2"), codehost())...)
	if err != nil {
		t.Fatal(err)
	}
	if text := string(c.JSON()); strings.Contains(text, "hunter2") || strings.Contains(text, "clientSecret") {
		t.Errorf("a secret is in %s", text)
	}
	_, err = load(t, "", codehost("CLIENT_SECRET=vault://nope")...)
	problems, _ := errors.AsType[*config.Error](err)
	if problems == nil || len(problems.Problems) != 1 || !strings.Contains(problems.Problems[0].String(), "vault://nope: not found") {
		t.Errorf("got error %v", err)
	}
	c, err = load(t, "", codehost("CLIENT_SECRET=vault://token")...)
	if err != nil || c.Authentication.Methods.Codehost.ClientSecret != "first" {
		t.Errorf("got %v", err)
	}
}

func authority(t *testing.T) string {
	t.Helper()
	key := newKey(t)
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: big.NewInt(1)}, &x509.Certificate{SerialNumber: big.NewInt(1)}, &key.PublicKey, key)
	return block(t, "CERTIFICATE", der, err)
}

func publicKey(t *testing.T) string {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(&newKey(t).PublicKey)
	return block(t, "PUBLIC KEY", der, err)
}

func privateKey(t *testing.T) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(newKey(t))
	return block(t, "PRIVATE KEY", der, err)
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func block(t *testing.T, kind string, der []byte, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

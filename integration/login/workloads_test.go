package login

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/handler/login/logintest"
)

// cluster starts a Kubernetes cluster and returns the settings to use it.
func cluster(t *testing.T, more ...string) (*logintest.Cluster, []string) {
	t.Helper()
	c := logintest.NewCluster(t, logintest.NewClockAt(time.Now()))
	own := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(own, []byte(c.Own), 0o600); err != nil {
		t.Fatal(err)
	}
	settings := []string{"AUTHENTICATION_METHODS_KUBERNETES_ENABLED=true"}
	for _, s := range append([]string{"DISCOVERY_URL=" + c.URL, "SERVICE_ACCOUNT_TOKEN_PATH=" + own}, more...) {
		settings = append(settings, "AUTHENTICATION_METHODS_KUBERNETES_"+s)
	}
	return c, settings
}

const accountPath = "/auth/v1/method/kubernetes/serviceaccount"

func accountBody(token string) string { return fmt.Sprintf(`{"serviceAccountToken":%q}`, token) }

// TestKubernetes: a pod gets a client token for the token of its account, in both modes.
func TestKubernetes(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"review", "keys"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			c, settings := cluster(t, "VERIFY="+mode, "ALLOWED_SERVICE_ACCOUNTS=shop/* ops/deployer")
			s := start(t, settings...)
			s.secrets.plant(c.Own)
			sign := func(claims map[string]any) string {
				token := c.Key.Token("ES256", claims)
				s.secrets.plant(token)
				return token
			}
			exp := time.Now().Add(20 * time.Minute).Unix()
			token := sign(c.Claims("shop", "cart", map[string]any{"exp": exp}))
			first := exchangeAccount(t, s, token)
			if first.Authentication.ExpiresAt != time.Unix(exp, 0).UTC().Format("2006-01-02T15:04:05Z") {
				t.Errorf("expires at %s, want exactly %v", first.Authentication.ExpiresAt, time.Unix(exp, 0).UTC())
			}
			want := map[string]string{
				"io.service.auth.k8s.namespace": "shop", "io.service.auth.k8s.pod.name": "cart-7d4b9", "io.service.auth.k8s.pod.uid": "uid-of-pod",
				"io.service.auth.k8s.serviceaccount.name": "cart", "io.service.auth.k8s.serviceaccount.uid": "uid-of-cart",
			}
			if diff := cmp.Diff(want, first.Authentication.Metadata); diff != "" {
				t.Errorf("metadata (-want +got):\n%s", diff)
			}
			if again := exchangeAccount(t, s, token); again.ClientToken != first.ClientToken || again.Authentication.ID != first.Authentication.ID {
				t.Error("the same account token gave another client token")
			}
			if other := exchangeAccount(t, s, sign(c.Claims("shop", "cart", map[string]any{"jti": "2"}))); other.ClientToken == first.ClientToken {
				t.Error("another account token gave the same client token")
			}
			self := decode[authentication](t, s.status(t, 200, "GET", "/auth/v1/self", "", "Authorization: Bearer "+first.ClientToken))
			if diff := cmp.Diff([]grant{{"client", []string{"*"}}}, self.Access); diff != "" || self.Method != "METHOD_KUBERNETES" {
				t.Errorf("method %s, access (-want +got):\n%s", self.Method, diff)
			}
			badAccounts(t, s, c, mode, sign)
		})
	}
}

func exchangeAccount(t *testing.T, s *service, token string) (answer struct {
	ClientToken    string
	Authentication authentication
}) {
	t.Helper()
	got := s.status(t, 200, "POST", accountPath, accountBody(token))
	if got.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("headers %v, want no-store", got.Header)
	}
	answer = decode[struct {
		ClientToken    string
		Authentication authentication
	}](t, got)
	s.secrets.plant(answer.ClientToken)
	return answer
}

func badAccounts(t *testing.T, s *service, c *logintest.Cluster, mode string, sign func(map[string]any) string) {
	now := time.Now().Unix()
	with := func(pairs ...any) string {
		claims := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			claims[pairs[i].(string)] = pairs[i+1]
		}
		return sign(c.Claims("shop", "cart", claims))
	}
	attacker := logintest.New("P-256 attacker", c.Key.ID)
	for name, test := range map[string]struct {
		token string
		want  int
	}{
		"listed account":      {sign(c.Claims("ops", "deployer", nil)), 200},
		"account not listed":  {sign(c.Claims("ops", "other", nil)), 403},
		"namespace prefix":    {sign(c.Claims("shop2", "cart", nil)), 403},
		"another audience":    {with("aud", []string{"vault"}), 401},
		"expired":             {with("exp", now-120), 401},
		"no exp":              {with("exp", nil), 401},
		"another issuer":      {with("iss", "https://evil.example"), 401},
		"a person":            {with("sub", "system:admin"), 401},
		"a node":              {with("sub", "system:node:n"), 401},
		"no kubernetes.io":    {with("kubernetes.io", nil), 401},
		"another key":         {attacker.Token("ES256", c.Claims("shop", "cart", nil)), 401},
		"alg none":            {unsigned("none", c.Claims("shop", "cart", nil)), 401},
		"changed":             {changed(with()), 401},
		"two parts":           {"a.b", 401},
		"four parts":          {with() + ".x", 401},
		"rubbish":             {"evil", 401},
		"large":               {with("padding", strings.Repeat("p", 17<<10)), 401},
		"the client's":        {c.Own, 401},
		"claims disagree":     {with("kubernetes.io", map[string]any{"namespace": "ops", "serviceaccount": map[string]any{"name": "deployer", "uid": "u"}}), 401},
		"audience of the API": {with("aud", []string{logintest.ClusterAudience}), 200},
	} {
		s.secrets.plant(test.token)
		reviews := len(c.Reviews())
		got := s.send(t, "POST", accountPath, accountBody(test.token))
		if got.StatusCode == 200 {
			s.secrets.plant(decode[struct{ ClientToken string }](t, got).ClientToken)
		}
		if got.StatusCode != test.want {
			t.Errorf("%s: got %d %s, want %d", name, got.StatusCode, got.body, test.want)
		}
		if rubbish := []string{"two parts", "four parts", "rubbish", "large", "expired", "no exp"}; slices.Contains(rubbish, name) && len(c.Reviews()) != reviews {
			t.Errorf("%s reached the API server", name)
		}
	}
	if mode == "review" {
		c.Delete("shop", "cart")
		s.status(t, 401, "POST", accountPath, accountBody(with("jti", "deleted")))
		for name, f := range map[string]struct {
			handler http.HandlerFunc
			want    int
		}{
			"401": {logintest.Refuse(401), 500}, "403": {logintest.Refuse(403), 500}, "500": {logintest.Refuse(500), 503}, "429": {logintest.Refuse(429), 503},
		} {
			old := c.Serve(logintest.ReviewPath, f.handler)
			got := s.status(t, f.want, "POST", accountPath, accountBody(sign(c.Claims("ops", "deployer", map[string]any{"jti": name}))))
			if f.want == 503 && got.Header.Get("Retry-After") != "5" {
				t.Errorf("%s: headers %v, want Retry-After 5", name, got.Header)
			}
			c.Serve(logintest.ReviewPath, old)
		}
	}
}

// TestKubernetesMaxLifetime bounds the client token.
func TestKubernetesMaxLifetime(t *testing.T) {
	t.Parallel()
	c, settings := cluster(t, "MAX_LIFETIME=5m")
	s := start(t, settings...)
	answer := exchangeAccount(t, s, c.Key.Token("ES256", c.Claims("shop", "cart", nil)))
	expires, err := time.Parse(time.RFC3339Nano, answer.Authentication.ExpiresAt)
	if left := time.Until(expires); err != nil || left > 5*time.Minute || left < 4*time.Minute {
		t.Errorf("expires at %s, want in 5m", answer.Authentication.ExpiresAt)
	}
}

// TestJWT: a token of the issuer is who it says, under two schemes.
func TestJWT(t *testing.T) {
	t.Parallel()
	key := logintest.New("P-256 jwt", "jwt")
	issuer := logintest.NewProvider(t, key)
	file := filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(file, key.PEM(), 0o600); err != nil {
		t.Fatal(err)
	}
	const prefix = "AUTHENTICATION_METHODS_JWT_"
	common := []string{prefix + "ENABLED=true", prefix + "VALIDATE_CLAIMS_AUDIENCES=guidon other", prefix + "ROLES_CLAIM=roles"}
	for name, settings := range map[string][]string{
		"discovery": {prefix + "DISCOVERY_URL=" + issuer.URL},
		"keys":      {prefix + "JWKS_URL=" + issuer.URL + logintest.KeysPath, prefix + "VALIDATE_CLAIMS_ISSUER=" + issuer.URL},
		"file":      {prefix + "PUBLIC_KEY_FILE=" + file, prefix + "VALIDATE_CLAIMS_ISSUER=" + issuer.URL},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, append(settings, common...)...)
			tokensOf(t, s, issuer, key, name == "file")
		})
	}
}

func tokensOf(t *testing.T, s *service, issuer *logintest.Provider, key *logintest.Key, file bool) {
	now := time.Now().Unix()
	claims := func(pairs ...any) map[string]any {
		c := map[string]any{"iss": issuer.URL, "aud": "guidon", "sub": "robot", "exp": now + 600, "iat": now}
		for i := 0; i < len(pairs); i += 2 {
			if c[pairs[i].(string)] = pairs[i+1]; pairs[i+1] == nil {
				delete(c, pairs[i].(string))
			}
		}
		return c
	}
	token := func(pairs ...any) string { return key.Token("ES256", claims(pairs...)) }
	header := func(h map[string]any) string {
		all := map[string]any{"alg": "ES256", "kid": key.ID}
		maps.Copy(all, h)
		return key.Sign("ES256", asJSON(all), asJSON(claims()))
	}
	kid := map[bool]int{true: 200, false: 401}[file]
	other := logintest.New("P-256 attacker", key.ID)
	for name, c := range map[string]struct {
		token string
		want  int
	}{
		"as it must be":     {token(), 200},
		"list of audiences": {token("aud", []string{"x", "other"}), 200},
		"another audience":  {token("aud", "evil"), 401},
		"no audience":       {token("aud", nil), 401},
		"another issuer":    {token("iss", "https://evil.example"), 401},
		"no issuer":         {token("iss", nil), 401},
		"expired":           {token("exp", now-90), 401},
		"within the skew":   {token("exp", now-30), 200},
		"no exp":            {token("exp", nil), 200},
		"no exp, old iat":   {token("exp", nil, "iat", now-300), 401},
		"only nbf":          {token("exp", nil, "iat", nil, "nbf", now-10), 200},
		"no times":          {token("exp", nil, "iat", nil), 401},
		"from the future":   {token("nbf", now+90), 401},
		"exp as text":       {token("exp", "tomorrow"), 401},
		"typ JWT":           {header(map[string]any{"typ": "JWT"}), 200},
		"typ at+jwt":        {header(map[string]any{"typ": "at+jwt"}), 200},
		"no typ":            {header(nil), 200},
		"typ logout+jwt":    {header(map[string]any{"typ": "logout+jwt"}), 401},
		"crit":              {header(map[string]any{"crit": []string{"x"}}), 401},
		"another kid":       {header(map[string]any{"kid": "x"}), kid},
		"another key":       {other.Token("ES256", claims()), 401},
		"alg none":          {unsigned("none", claims()), 401},
		"alg HS256":         {symmetricJWT(key, claims()), 401},
		"changed":           {changed(token()), 401},
		"large":             {token("padding", strings.Repeat("p", 17<<10)), 401},
		"two parts":         {"a.b", 401},
	} {
		s.secrets.plant(c.token)
		bodies := map[string]bool{}
		for _, scheme := range []string{"JWT ", "Bearer "} {
			for range 2 { // the second time it is remembered
				got := s.send(t, "GET", "/auth/v1/self", "", "Authorization: "+scheme+c.token)
				if got.StatusCode != c.want {
					t.Errorf("%s as %s: got %d %s, want %d", name, scheme, got.StatusCode, got.body, c.want)
				}
				bodies[got.body] = true
			}
		}
		if c.want == 401 && len(bodies) != 1 {
			t.Errorf("%s: failures differ: %v", name, bodies)
		}
	}
	self := decode[authentication](t, s.send(t, "GET", "/auth/v1/self", "", "Authorization: JWT "+token("roles", []string{"editor@shop", "nonsense", "emperor"})))
	if diff := cmp.Diff([]grant{{"editor", []string{"shop"}}}, self.Access); diff != "" || self.ID != "" || self.Method != "METHOD_JWT" {
		t.Errorf("self %+v, access (-want +got):\n%s", self, diff)
	}
	s.status(t, 401, "POST", "/auth/v1/self/sessions", "{}", "Authorization: JWT "+token("aud", "x"))
}

// symmetricJWT returns a token whose signature is an HMAC with the public key.
func symmetricJWT(key *logintest.Key, claims map[string]any) string {
	return symmetric(&provider{Flow: &logintest.Flow{Key: key}}, claims, key.PEM())
}

// TestCodeHosts: every type of code host signs people in, by what it says of them.
func TestCodeHosts(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"github", "gitlab", "gitea"} {
		for name, c := range map[string]struct {
			settings []string
			want     int
		}{
			"everyone":             {[]string{"ALLOW_EVERYONE=true"}, 302},
			"organization":         {[]string{"ALLOWED_ORGANIZATIONS=acme"}, 302},
			"another organization": {[]string{"ALLOWED_ORGANIZATIONS=evil acm acme2"}, 403},
			"domain":               {[]string{"ALLOWED_DOMAINS=corp.example"}, 302},
			"public address":       {[]string{"ALLOWED_DOMAINS=elsewhere.example"}, 403},
			"old address":          {[]string{"ALLOWED_EMAILS=ada@old.example"}, 403},
			"e-mail":               {[]string{"ALLOWED_EMAILS=ada@corp.example"}, 302},
			"team":                 {[]string{"ALLOWED_ORGANIZATIONS=acme", "ALLOWED_TEAMS=acme/backend"}, 302},
			"another team":         {[]string{"ALLOWED_ORGANIZATIONS=acme", "ALLOWED_TEAMS=acme/frontend"}, 403},
		} {
			if kind == "gitlab" && strings.Contains(name, "team") {
				continue // its subgroups are organizations
			}
			t.Run(kind+"/"+name, func(t *testing.T) {
				t.Parallel()
				h := logintest.NewCodeHost(t, kind)
				h.RedirectURI = "https://flags.example/base/auth/v1/method/codehost/callback"
				s := start(t, codehostSettings(h, c.settings...)...)
				s.secrets.plant(h.AccessToken, "9a2a26bd8ba87c4b2a5f", "refresh-token-of-ada")
				s.secrets.personal("Ada@Corp.example", "ada@corp.example")
				b := s.browser(t)
				q := b.agree(h, b.begin("codehost", "?return_to=/flags"))
				q.Set("iss", "https://github.com/login/oauth") // not judged here
				got := b.callback("codehost", q)
				checkStep(t, got, c.want)
				if (b.session() != "") != (c.want == 302) {
					t.Errorf("cookies %v", b.cookies)
				}
				if c.want == 302 {
					checkCodeHostPerson(t, b, kind)
				} else if e := s.event(t, got); e["reason"] != "not_admitted" {
					t.Errorf("event %v, want not_admitted", e)
				}
			})
		}
	}
}

func checkCodeHostPerson(t *testing.T, b *browser, kind string) {
	t.Helper()
	self := decode[authentication](t, b.get("/auth/v1/self"))
	if self.Method != "METHOD_CODEHOST" || self.Metadata["io.service.auth.email"] == "" || self.Metadata["io.service.auth.name"] != "Ada Lovelace" {
		t.Errorf("%s: %+v", kind, self)
	}
	t.Logf("%s: %v", kind, self.Metadata)
}

// TestCodeHostFaults: a code host that misbehaves costs a 503, and one that refuses our
// secret a 500.
func TestCodeHostFaults(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"github", "gitlab", "gitea"} {
		h := logintest.NewCodeHost(t, kind)
		h.RedirectURI = "https://flags.example/base/auth/v1/method/codehost/callback"
		s := start(t, codehostSettings(h, "ALLOW_EVERYONE=true")...)
		s.secrets.plant(h.AccessToken, "9a2a26bd8ba87c4b2a5f", h.ClientSecret)
		user := map[string]string{"github": "/api/v3/user", "gitlab": "/api/v4/user", "gitea": "/api/v1/user"}[kind]
		for _, path := range []string{h.TokenPath, user} {
			for _, f := range logintest.Faults() {
				old := h.Serve(path, f.Handler)
				b := s.browser(t)
				got := b.callback("codehost", b.agree(h, b.begin("codehost", "")))
				if got.StatusCode != 503 || got.Header.Get("Retry-After") != "5" || len(b.named(loginCookies)) != 1 {
					t.Errorf("%s, %s at %s: got %d %s, want 503", kind, f.Name, path, got.StatusCode, got.body)
				}
				h.Serve(path, old)
			}
		}
		h.ClientSecret = "changed-at-the-host"
		b := s.browser(t)
		got := b.callback("codehost", b.agree(h, b.begin("codehost", "")))
		if e := s.event(t, got); got.StatusCode != 500 && kind != "gitea" || e["reason"] != "misconfigured" && kind != "gitea" {
			t.Errorf("%s, another secret: got %d %s, want 500", kind, got.StatusCode, got.body)
		}
	}
}

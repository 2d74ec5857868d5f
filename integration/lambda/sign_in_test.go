package lambda

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon/handler/login/logintest"
	"github.com/guidonhq/guidon/integration/harness"
	"github.com/guidonhq/guidon/runtimes/lambda/lambdatest"
)

// TestSignIn: a browser signs in, uses its session and signs out, behind every front. The
// redirects, the cookies of a request and several new cookies of a response pass each.
func TestSignIn(t *testing.T) {
	harness.Postgres.Need(t)
	database := harness.Postgres.Migrated(t)
	provider := newProvider(t)
	for _, front := range lambdatest.Fronts() {
		t.Run(front.Name, func(t *testing.T) {
			const group = "GUIDON_AUTHENTICATION_METHODS_OIDC_"
			f := harness.Function(t, database, "GUIDON_SERVER_PUBLIC_URL=http://localhost", "GUIDON_AUTHENTICATION_REQUIRED=true",
				group+"ENABLED=true", group+"PROVIDERS_P_ISSUER_URL="+provider.Provider.URL, group+"PROVIDERS_P_CLIENT_ID="+provider.ClientID,
				group+"PROVIDERS_P_CLIENT_SECRET="+provider.ClientSecret, group+"PROVIDERS_P_ALLOW_EVERYONE=true")
			b := newBrowser(t, harness.Behind(t, f, front).URL)

			const method = "/auth/v1/method/oidc/p/"
			authorize := b.get(method+"authorize?redirect=true&return_to=/health%3Fa=b", http.StatusFound, "")
			code, err := provider.Authorize(authorize.Get("Location"))
			if err != nil {
				t.Fatal(err)
			}
			answer := url.Values{"code": {code}, "state": {query(t, authorize, "state")}}
			callback := b.get(method+"callback?"+answer.Encode(), http.StatusFound, "")
			if got := callback.Get("Location"); got != "/health?a=b" {
				t.Errorf("got redirected to %q", got)
			}
			if got := callback.Values("Set-Cookie"); len(got) != 2 {
				t.Errorf("got cookies %q, want that of the session, and the other deleted", got)
			}
			b.get("/auth/v1/self", http.StatusOK, `"METHOD_OIDC"`)
			b.send(http.MethodDelete, "/auth/v1/self/revoke", http.StatusOK, "nextUri")
			b.get("/auth/v1/self", http.StatusUnauthorized, "")
			b.get(method+"callback?"+answer.Encode(), http.StatusUnauthorized, "begin again")
		})
	}
}

// newProvider starts a provider with which a person can sign in.
func newProvider(t *testing.T) *logintest.Flow {
	key := logintest.New("P-256", "k")
	f := logintest.NewFlow(logintest.NewProvider(t, key), key, time.Now)
	f.ClientSecret = "a-secret"
	return f
}

// query returns the parameter of the URL to which the response redirects.
func query(t *testing.T, header http.Header, name string) string {
	t.Helper()
	u, err := url.Parse(header.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	return u.Query().Get(name)
}

// browser keeps cookies, and does not follow redirects.
type browser struct {
	t       *testing.T
	address string
	client  *http.Client
}

func newBrowser(t *testing.T, address string) *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{t, address, &http.Client{
		Jar:           jar,
		Timeout:       harness.Patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

func (b *browser) get(path string, status int, text string) http.Header {
	b.t.Helper()
	return b.send(http.MethodGet, path, status, text)
}

// send sends a request, and returns the headers of the response, which must have the status,
// and the text in its body.
func (b *browser) send(method, path string, status int, text string) http.Header {
	b.t.Helper()
	request, err := http.NewRequestWithContext(b.t.Context(), method, b.address+path, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	response, err := b.client.Do(request)
	if err != nil {
		b.t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil || response.StatusCode != status || !strings.Contains(string(body), text) {
		b.t.Fatalf("%s %s: got %d %s, error %v; want %d with %q", method, path, response.StatusCode, body, err, status, text)
	}
	return response.Header
}

package login

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/guidonhq/guidon/integration/harness"
)

// certified is a certified OpenID provider: oidc-provider for Node.
type certified struct {
	issuer string
	in     io.Writer
	out    *bufio.Scanner
}

// startCertified starts the provider, which ends with the test. It answers after admit.
func startCertified(t *testing.T) *certified {
	t.Helper()
	const dir = "certified"
	harness.InstallNode(t, dir)
	run := exec.Command("node", "--no-warnings", "provider.js")
	run.Dir = dir
	var log harness.Buffer
	run.Stderr = &log
	in, err := run.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := run.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close() // makes it end
		_ = run.Wait()
		if t.Failed() {
			t.Logf("the provider's log:\n%s", log.String())
		}
	})
	p := &certified{in: in, out: bufio.NewScanner(out)}
	p.issuer = p.line(t)
	return p
}

func (p *certified) line(t *testing.T) string {
	t.Helper()
	if !p.out.Scan() {
		t.Fatal("the provider has ended")
	}
	return p.out.Text()
}

// admit makes the service the client of the provider.
func (p *certified) admit(t *testing.T, s *service) {
	t.Helper()
	client, err := json.Marshal(map[string]any{
		"client_id": "guidon", "client_secret": clientSecret,
		"redirect_uris":             []string{s.public.String() + loginPath("certified", "callback")},
		"post_logout_redirect_uris": []string{s.public.String() + "/sign-in"},
		"backchannel_logout_uri":    s.URL + loginPath("certified", "revoke"),
		"scope":                     "openid email profile groups",
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(p.in, "%s\n", client); err != nil {
		t.Fatal(err)
	}
	if got := p.line(t); got != "ready" {
		t.Fatalf("got %q from the provider, want ready", got)
	}
}

// person is a person's browser at the provider.
type person struct{ *http.Client }

func newPerson(t *testing.T) person {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return person{&http.Client{Jar: jar, Timeout: harness.Patience, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if r.URL.Hostname() != "127.0.0.1" {
			return http.ErrUseLastResponse // back at the service
		}
		return nil
	}}}
}

// open opens the address, fills in the provider's forms, and returns where it leads in the
// end.
func (p person) open(t *testing.T, address, login string) *url.URL {
	t.Helper()
	response, err := p.Get(address)
	for range 4 {
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if response.StatusCode/100 == 3 {
			to, err := response.Location()
			if err != nil {
				t.Fatal(err)
			}
			return to
		}
		response, err = p.submit(t, response.Request.URL, string(body), login)
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("the provider shows one form after another")
	return nil
}

// submit submits the form on a page of the provider.
func (p person) submit(t *testing.T, page *url.URL, body, login string) (*http.Response, error) {
	t.Helper()
	action, fields := formIn(t, body)
	for name, value := range map[string]string{"login": login, "password": "any"} {
		if fields.Has(name) {
			fields.Set(name, value)
		}
	}
	to, err := page.Parse(action)
	if err != nil {
		t.Fatal(err)
	}
	return p.PostForm(to.String(), fields)
}

// formIn returns the first form of the page, as if its first button were pressed.
func formIn(t *testing.T, page string) (action string, fields url.Values) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	fields = url.Values{}
	pressed := false
	for n := range root.Descendants() {
		attributes := map[string]string{}
		for _, a := range n.Attr {
			attributes[a.Key] = a.Val
		}
		switch {
		case n.Data == "form" && action == "":
			action = attributes["action"]
		case n.Data == "button" && pressed || attributes["name"] == "":
		case n.Data == "button", n.Data == "input":
			pressed = pressed || n.Data == "button"
			fields.Set(attributes["name"], attributes["value"])
		}
	}
	if action == "" {
		t.Fatalf("no form in %s", page)
	}
	return action, fields
}

// TestCertifiedProvider signs in and out at a provider that OpenID has certified, which
// leaves e-mail and groups out of the ID token.
func TestCertifiedProvider(t *testing.T) {
	p := startCertified(t)
	const prefix = "AUTHENTICATION_METHODS_OIDC_PROVIDERS_CERTIFIED_"
	s := start(t, "AUTHENTICATION_METHODS_OIDC_ENABLED=true",
		prefix+"ISSUER_URL="+p.issuer, prefix+"CLIENT_ID=guidon", prefix+"CLIENT_SECRET="+clientSecret,
		prefix+"SCOPES=email profile groups", prefix+"ALLOWED_GROUPS=flags-editors", prefix+"LOGOUT=provider",
		"AUTHORIZATION_BINDINGS=editor@default=oidc:certified:group:flags-editors", "AUTHORIZATION_DEFAULT_ROLES_OIDC=none")
	s.secrets.personal("ada@corp.example")
	p.admit(t, s)

	ada := newPerson(t)
	signIn := func() *browser {
		t.Helper()
		b := s.browser(t)
		back := ada.open(t, b.begin("certified", ""), "ada")
		s.secrets.plant(back.Query().Get("code"))
		if got := b.callback("certified", back.Query()); got.StatusCode != http.StatusFound || b.session() == "" {
			t.Fatalf("callback: %d %s", got.StatusCode, got.body)
		}
		return b
	}
	b, other := signIn(), signIn()
	self := b.get("/auth/v1/self")
	for _, want := range []string{`"io.service.auth.oidc.email":"ada@corp.example"`, `"ada of certified"`} {
		if !strings.Contains(strings.ReplaceAll(self.body, `": "`, `":"`), want) {
			t.Errorf("self lacks %s: %s", want, self.body)
		}
	}
	if got := b.send("POST", "/api/v1/namespaces/default/flags", `{"key":"f","name":"F"}`, "Origin: https://flags.example"); got.StatusCode != http.StatusOK {
		t.Errorf("an editor by group: %d %s", got.StatusCode, got.body)
	}

	// Signing out leads to the provider, which confirms it and tells the service.
	out := b.send("DELETE", "/auth/v1/self/revoke", "", "Origin: https://flags.example")
	next := decode[struct{ NextURI string }](t, out).NextURI
	if next == "" {
		t.Fatalf("no address at the provider: %d %s", out.StatusCode, out.body)
	}
	if got, want := ada.open(t, next, "").String(), s.public.String()+"/sign-in"; got != want {
		t.Errorf("after signing out at the provider: %s, want %s", got, want)
	}
	b.is(http.StatusUnauthorized)
	other.is(http.StatusUnauthorized) // by back-channel logout
}

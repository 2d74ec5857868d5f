package login

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/handler/login/logintest"
	"github.com/guidonhq/guidon/integration/harness"
)

// adminToken is the bootstrap token of all servers.
const adminToken = "bootstrap-token-secret" // #nosec G101 -- for tests

// asAdmin is the header of the admin.
const asAdmin = "Authorization: Bearer " + adminToken

// service is a server under test, and what its clients know of it.
type service struct {
	*harness.Server
	public  *url.URL // where people reach it
	secrets *secrets
	stopped bool
}

// stop kills the server.
func (s *service) stop(t *testing.T) {
	t.Helper()
	s.secrets.searchAnswers(t, s)
	s.Kill()
	s.Wait(t)
	s.stopped = true
}

// start starts a server on a new SQLite file. Settings have the form KEY=value, without
// GUIDON_.
func start(t *testing.T, settings ...string) *service {
	t.Helper()
	return startOn(t, "file:"+filepath.Join(t.TempDir(), "guidon.db"), settings...)
}

// startOn is start for a database. The public URL is that of the last setting of it.
func startOn(t *testing.T, database string, settings ...string) *service {
	t.Helper()
	all := append([]string{
		"SERVER_PUBLIC_URL=https://flags.example/base", "AUTHENTICATION_REQUIRED=true", "AUTHENTICATION_METHODS_TOKEN_ENABLED=true",
		"AUTHENTICATION_METHODS_TOKEN_BOOTSTRAP_TOKEN=" + adminToken,
	}, settings...)
	s := &service{secrets: &secrets{}}
	for i, setting := range all {
		if public, ok := strings.CutPrefix(setting, "SERVER_PUBLIC_URL="); ok {
			var err error
			if s.public, err = url.Parse(public); err != nil {
				t.Fatal(err)
			}
		}
		if name, value, _ := strings.Cut(setting, "="); strings.HasSuffix(name, "_CLIENT_SECRET") {
			s.secrets.plant(value, url.QueryEscape(value))
		}
		all[i] = "GUIDON_" + setting
	}
	s.secrets.plant(adminToken, "code-secret-", logintest.AccessToken) // the second begins all codes
	s.Server = harness.Start(t, database, all...)
	t.Cleanup(func() { s.secrets.check(t, s) })
	return s
}

// response is what a client got.
type response struct {
	*http.Response
	body string
}

// send sends a request whose path is not changed in any way.
func (s *service) send(t testing.TB, method, path, body string, headers ...string) response {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), harness.Patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, s.URL, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	target, query, found := strings.Cut(path, "?")
	if request.URL.Path, err = url.PathUnescape(target); err != nil {
		t.Fatal(err)
	}
	request.URL.RawPath, request.URL.RawQuery, request.URL.ForceQuery = target, query, found && query == ""
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			request.Host = value
		}
		request.Header.Add(name, value)
	}
	got, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	if got.StatusCode >= http.StatusBadRequest {
		s.secrets.refused(method+" "+target, string(text))
	}
	return response{got, string(text)}
}

// client does not follow redirects.
var client = &http.Client{
	Transport:     &http.Transport{MaxIdleConnsPerHost: 32},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// status sends a request and checks the status of the response.
func (s *service) status(t testing.TB, want int, method, path, body string, headers ...string) response {
	t.Helper()
	got := s.send(t, method, path, body, headers...)
	if got.StatusCode != want {
		t.Errorf("%s %s: got %d %s, want %d", method, path, got.StatusCode, got.body, want)
	}
	return got
}

// decode decodes the body.
func decode[T any](t testing.TB, r response) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.body), &v); err != nil {
		t.Fatalf("%v in %q", err, r.body)
	}
	return v
}

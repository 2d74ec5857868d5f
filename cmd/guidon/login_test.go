package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
)

const adminToken = "an-admin-token"

// signInPage is a server below the path /base of a proxy. The proxy is also the browser of
// a person, Ada: whoever visits the sign-in page for command lines through it sees what Ada
// gets who has signed in, and has decided on the form.
type signInPage struct {
	*httptest.Server
	t       *testing.T
	address string // with the path
	real    *testServer
	session string // cookie of Ada's browser

	mu       sync.Mutex
	visits   []url.Values
	issued   string                           // the last token of a command line
	exchange func(w http.ResponseWriter) bool // answers an exchange instead of the server
	forge    func(callback string) string     // changes the address that the browser is led to
	denies   bool                             // what Ada decides
}

func newSignInPage(t *testing.T) (*signInPage, *shell) {
	t.Helper()
	s := newShell(t, withTokens...)
	p := &signInPage{t: t}
	mux := http.NewServeMux()
	p.Server = httptest.NewUnstartedServer(mux)
	p.address = "http://" + p.Listener.Addr().String() + "/base"
	p.real = s.with("GUIDON_AUTHENTICATION_METHODS_TOKEN_BOOTSTRAP_TOKEN="+adminToken, "GUIDON_SERVER_PUBLIC_URL="+p.address).serve()
	target, err := url.Parse(p.real.web)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ModifyResponse: p.note,
	}
	mux.HandleFunc("GET /base/sign-in/cli", p.page)
	mux.HandleFunc("/base/", func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, exchangePath) || p.exchange == nil || !p.exchange(w) {
			http.StripPrefix("/base", proxy).ServeHTTP(w, r)
		}
	})
	p.Start()
	t.Cleanup(p.Close)
	ada := strings.TrimSpace(s.with("GUIDON_TOKEN="+adminToken).ok("token", "create", "Ada", "--role", "viewer", "-a", p.real.web))
	response, _ := p.send(http.MethodPost, "/auth/v1/self/sessions", http.Header{"Authorization": {"Bearer " + ada}}, "{}")
	p.session = strings.Split(response.Header.Get("Set-Cookie"), ";")[0]
	return p, s.with("BROWSER="+os.Args[0], asBrowser)
}

const exchangePath = "/auth/v1/method/cli/exchange"

// send sends a request to the server and returns the response with its body. It does not
// follow redirects. It may be called by a browser that outlives the command, until the page
// is closed, which is after the context of the test has ended.
func (p *signInPage) send(method, path string, header http.Header, body string) (*http.Response, string) {
	request, err := http.NewRequestWithContext(context.WithoutCancel(p.t.Context()), method, p.real.web+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	request.Header = header
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		p.t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode >= http.StatusBadRequest {
		p.t.Errorf("%s %s: got %s %s, error %v", method, path, response.Status, content, err)
	}
	return response, string(content)
}

// The fields of the form, and the code for pasting.
var (
	hiddenField = regexp.MustCompile(`<input type="hidden" name="([a-z]+)" value="([^"]*)">`)
	shownCode   = regexp.MustCompile(`<code class="code">([^<]+)</code>`)
)

// page is what Ada sees after her decision.
func (p *signInPage) page(w http.ResponseWriter, r *http.Request) {
	response, body := p.decide(r.URL.RawQuery)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.visits = append(p.visits, r.URL.Query())
	if callback := response.Header.Get("Location"); callback != "" {
		if p.forge != nil {
			callback = p.forge(callback)
		}
		http.Redirect(w, r, callback, http.StatusSeeOther)
		return
	}
	if code := shownCode.FindStringSubmatch(body); code != nil {
		fmt.Fprintln(w, code[1])
		return
	}
	p.t.Errorf("no code: got %s %s", response.Status, body)
}

// decide sends the form of the page, and returns the response.
func (p *signInPage) decide(query string) (*http.Response, string) {
	_, page := p.send(http.MethodGet, "/sign-in/cli?"+query, http.Header{"Cookie": {p.session}}, "")
	form := url.Values{"decision": {"allow"}}
	for _, field := range hiddenField.FindAllStringSubmatch(page, -1) {
		form.Set(field[1], html.UnescapeString(field[2]))
	}
	if p.denies {
		form.Set("decision", "deny")
	}
	header := http.Header{"Cookie": {p.session}, "Content-Type": {"application/x-www-form-urlencoded"}}
	return p.send(http.MethodPost, "/sign-in/cli", header, form.Encode())
}

// codeFor returns the code of a grant with the challenge.
func (p *signInPage) codeFor(challenge string) string {
	_, page := p.decide("challenge=" + challenge)
	code := shownCode.FindStringSubmatch(page)
	if code == nil {
		p.t.Fatalf("no code: got %s", page)
	}
	return code[1]
}

// note records the token that the real server issues to a command line.
func (p *signInPage) note(r *http.Response) error {
	if !strings.HasSuffix(r.Request.URL.Path, exchangePath) {
		return nil
	}
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	var issued struct{ ClientToken string }
	if json.Unmarshal(body, &issued) == nil && issued.ClientToken != "" {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.issued = issued.ClientToken
	}
	return err
}

// token returns the token that the server issued last.
func (p *signInPage) token() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.issued
}

// lastVisit returns the query of the last visit of the page.
func (p *signInPage) lastVisit() url.Values {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.visits) == 0 {
		p.t.Fatal("the page was not visited")
	}
	return p.visits[len(p.visits)-1]
}

// home returns the configuration directory of the shell.
func (s *shell) home() string { return strings.TrimPrefix(s.environ[0], "HOME=") }

// credentials returns the content of the file of credentials, or "".
func (s *shell) credentials() string {
	text, err := os.ReadFile(filepath.Join(s.home(), "guidon", "credentials.json"))
	if err != nil && !os.IsNotExist(err) {
		s.t.Fatal(err)
	}
	return string(text)
}

// TestLogin: a person signs in with a browser, uses the token with every spelling of the
// address, and signs out.
func TestLogin(t *testing.T) {
	page, s := newSignInPage(t)
	s.fails(cli.ExitFailure, []string{"whoami", "--address", page.address}, "not authenticated", `"guidon login --address `+page.address+`"`, "GUIDON_TOKEN")

	r := s.run("login", "--address", page.address+"/", "--name", "Ada's laptop")
	if want := `^signed in to ` + page.address + ` as Ada, until 20[0-9T:-]+Z\ncontext 127.0.0.1-[0-9]+ is in use\n$`; r.code != cli.ExitOK || !regexp.MustCompile(want).MatchString(r.out) {
		t.Fatalf("got exit code %d, %q and %q; want %s", r.code, r.out, r.err, want)
	}
	query, token := page.lastVisit(), page.token()
	for key, form := range map[string]string{"port": `^[1-9][0-9]+$`, "challenge": `^[A-Za-z0-9_-]{43}$`, "state": `^[A-Z2-7]{26}$`, "name": `^Ada's laptop$`} {
		if values := query[key]; len(values) != 1 || !regexp.MustCompile(form).MatchString(values[0]) {
			t.Errorf("the page got %s = %q, want one value that matches %s", key, values, form)
		}
	}
	if len(query) != 4 {
		t.Errorf("the page got %v", query)
	}
	if !strings.Contains(r.err, page.address+"/sign-in/cli?") || strings.Contains(r.err+r.out, token) || strings.Contains(r.err, "code=") {
		t.Errorf("got %q, want the address of the page, and no secret", r.err)
	}
	info, err := os.Stat(filepath.Join(s.home(), "guidon", "credentials.json"))
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 || !strings.Contains(s.credentials(), token) {
		t.Errorf("got %v and error %v, want a file with the token for its owner", info, err)
	}

	who := s.ok("whoami", "-a", strings.ToUpper(page.URL[:4])+page.URL[4:]+"/base/")
	for _, want := range []string{`NAME +Ada\n`, `METHOD +token\n`, `ID +[0-9a-f-]{36}\n`, `EXPIRES +20[0-9T:-]+Z\n`, `ROLE +viewer on all \(of the token\)\n`} {
		if !regexp.MustCompile(want).MatchString(who) {
			t.Errorf("whoami: got %q, want it to match %s", who, want)
		}
	}
	if got := s.ok("whoami", "-a", page.address, "--output=json"); !strings.Contains(got, `"access": [`) || strings.Contains(got, token) {
		t.Errorf("whoami -o json: got %s", got)
	}
	sessions := s.ok("session", "list", "-a", page.address)
	for _, want := range []string{`^ID +NAME +METHOD +CREATED +EXPIRES +CURRENT\n`, `[0-9a-f-]{36} +- +token +\S+ +\S+ +-\n`, `[0-9a-f-]{36} +Ada's laptop +token +\S+ +\S+ +yes\n`} {
		if !regexp.MustCompile(want).MatchString(sessions) {
			t.Errorf("session list: got %q, want it to match %s", sessions, want)
		}
	}
	s.ok("export", "-a", page.address)
	s.fails(cli.ExitFailure, []string{"token", "list", "-a", page.address}, "permission denied")
	s.fails(cli.ExitFailure, []string{"export", "-a", page.real.web}, "not authenticated") // another address
	if got := s.with("GUIDON_TOKEN="+adminToken).ok("whoami", "-a", page.address); !strings.Contains(got, "admin on all") {
		t.Errorf("GUIDON_TOKEN: got %q, want that it wins", got)
	}
	if got := s.ok("whoami", "-a", page.address, "--token-file", s.file("token", adminToken)); !strings.Contains(got, "admin on all") {
		t.Errorf("--token-file: got %q, want that it wins", got)
	}
	// What was to have a token must have one: the session is somebody else's.
	empty := s.file("empty", "\n")
	s.fails(cli.ExitFailure, []string{"whoami", "-a", page.address, "--token-file", empty}, "the token file "+empty+" is empty")
	s.with("GUIDON_TOKEN_FILE="+empty).fails(cli.ExitFailure, []string{"whoami", "-a", page.address}, "is empty")
	if got := s.with("GUIDON_TOKEN="+adminToken+"\n").ok("whoami", "-a", page.address); !strings.Contains(got, "admin on all") {
		t.Errorf("GUIDON_TOKEN with a line break: got %q", got)
	}
	s.fails(cli.ExitUsage, []string{"whoami", "-a", page.address, "--token", "a\nb"}, "the token contains a line break")
	s.fails(cli.ExitUsage, []string{"whoami", "-a", page.real.grpc, "--token", "a\nb"}, "the token contains a line break")

	if got, want := s.ok("logout", "--address", page.address), "signed out of "+page.address+"\n"; got != want {
		t.Errorf("logout: got %q, want %q", got, want)
	}
	if code, body := page.real.get("/auth/v1/self", token); code != http.StatusUnauthorized {
		t.Errorf("the token after logging out: got %d %s", code, body)
	}
	if strings.Contains(s.credentials(), token) {
		t.Error("the token was not forgotten")
	}
	s.fails(cli.ExitFailure, []string{"logout", "--address", page.address}, "not signed in")
}

// TestRevokedElsewhere: the error of a token that has ended says how to sign in again, and
// signing out forgets it.
func TestRevokedElsewhere(t *testing.T) {
	page, s := newSignInPage(t)
	s.ok("login", "--address", page.address)
	first := page.token()
	admin := s.with("GUIDON_TOKEN=" + adminToken)
	revoke := func() {
		t.Helper()
		id := regexp.MustCompile(`[0-9a-f-]{36}`).FindString(s.ok("whoami", "-a", page.address))
		admin.ok("token", "delete", id, "-a", page.address)
	}
	revoke()
	s.fails(cli.ExitFailure, []string{"export", "-a", page.address + "/"}, "has expired or was revoked", `run "guidon login --address `+page.address+`"`)
	s.ok("login", "--address", page.address)
	if page.token() == first || strings.Contains(s.credentials(), first) {
		t.Error("the old token was kept")
	}
	revoke()
	if got := s.ok("logout", "--address", page.address); !strings.HasPrefix(got, "signed out") {
		t.Errorf("got %q", got)
	}
	s.ok("login", "--address", page.address)
	revoke()
	s.fails(cli.ExitFailure, []string{"logout", "--everywhere", "--address", page.address}, "signed out", "other sessions may still be valid")
	if strings.Contains(s.credentials(), page.token()) {
		t.Error("the token was not forgotten")
	}

	// While the server cannot say that the token is revoked, it is kept.
	s.ok("login", "--address", page.address)
	page.Close()
	s.fails(cli.ExitFailure, []string{"logout", "--address", page.address, "--timeout", "1s"}, "still signed in", "unavailable")
	if !strings.Contains(s.credentials(), page.token()) {
		t.Error("the token was forgotten but not revoked")
	}
}

// TestLoginWithoutBrowser: the user visits the page on another machine and pastes the code.
func TestLoginWithoutBrowser(t *testing.T) {
	page, s := newSignInPage(t)
	screen, keyboard := newTerminal(s)
	done := make(chan result)
	go func() { done <- screen.run(t.Context(), "login", "--address", page.address, "--no-browser") }()
	address := screen.await(t, regexp.MustCompile(`http://\S+`))
	screen.await(t, regexp.MustCompile(`Code: `))
	response, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if _, err := io.Copy(keyboard, response.Body); err != nil {
		t.Fatal(err)
	}
	if r := <-done; r.code != cli.ExitOK || !strings.HasPrefix(r.out, "signed in to") || strings.Contains(r.out+r.err, page.token()) {
		t.Errorf("got %+v", r)
	}
	query := page.lastVisit()
	if query.Has("port") || query.Has("state") || query.Get("name") == "" {
		t.Errorf("the page got %v, want the name of the machine, and neither port nor state", query)
	}
	s.ok("whoami", "-a", page.address)
}

// TestLoginRefused: what is not the code of this attempt does not sign in, and an error
// shows neither code nor verifier.
func TestLoginRefused(t *testing.T) {
	page, s := newSignInPage(t)
	another := page.codeFor("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM") // of RFC 7636, appendix B
	tests := []struct {
		name, input string
		exchange    string // the answer to the exchange, if not that of the page
		status      int
		want        string
	}{
		{"rubbish", "code-of-another\n", "", 0, "did not accept the code"},
		{"the code of another attempt", another + "\n", "", 0, "did not accept the code"},
		{"nothing", "\n", "", 0, "no code was entered"},
		{"the end of the input", "", "", 0, "no code was entered"},
		{"too much", strings.Repeat("x", 5000), "", 0, "too long"},
		{"no token", "code\n", `{}`, 200, "contains no token"},
		{"an unavailable provider", "code\n", `{"code":14,"message":"the provider is unavailable","details":[]}`, 503, "cannot exchange the code for a token: the provider is unavailable"},
		{"no longer admitted", "code\n", `{"code":7,"message":"permission denied: you are known, but not admitted","details":[]}`, 403, "not admitted"},
		{"no JSON", "code\n", `<html>`, 200, "cannot parse the response"},
		{"too many attempts", "code\n", `{"code":8,"message":"too many","details":[]}`, 429, "too many"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			page.exchange = func(w http.ResponseWriter) bool {
				if tt.status != 0 {
					w.WriteHeader(tt.status)
					_, _ = io.WriteString(w, tt.exchange)
				}
				return tt.status != 0
			}
			r := s.typing(tt.input).fails(cli.ExitFailure, []string{"login", "--address", page.address, "--no-browser"}, tt.want)
			if strings.Contains(r.err, "--token-file") {
				t.Errorf("got %q, with the hint for other commands", r.err)
			}
			if strings.Contains(s.credentials(), "gdn_") {
				t.Error("something was kept")
			}
		})
	}
}

// TestLoginDenied: the command ends when the person denies the request.
func TestLoginDenied(t *testing.T) {
	page, s := newSignInPage(t)
	page.denies = true
	s.fails(cli.ExitFailure, []string{"login", "--address", page.address}, "not signed in: denied in the browser")
	if strings.Contains(s.credentials(), "token") {
		t.Errorf("something was kept: %s", s.credentials())
	}
}

// TestLoginForged: a request to the command line with another state does not end the
// attempt, and the browser that comes later succeeds.
func TestLoginForged(t *testing.T) {
	page, s := newSignInPage(t)
	page.forge = func(callback string) string {
		response, err := http.Get(strings.NewReplacer("code=", "code=forged", "state=", "state=A").Replace(callback)) // #nosec G107 -- of a test
		if err != nil {
			t.Error(err)
			return callback
		}
		response.Body.Close()
		if response.StatusCode != http.StatusForbidden {
			t.Errorf("forged response: got %s", response.Status)
		}
		return callback
	}
	s.ok("login", "--address", page.address)
}

// TestLoginWait: the command waits for the browser for a limited time, and can be
// interrupted.
func TestLoginWait(t *testing.T) {
	page, s := newSignInPage(t)
	page.forge = func(string) string { return page.URL + "/base/health" } // the user closes the window
	for _, args := range [][]string{{"login", "-a", page.address}, {"login", "-a", page.address, "--no-browser"}} {
		var out, said bytes.Buffer
		silent, keyboard := io.Pipe()
		p := cli.NewProgram(s.environ, silent, &out, &said)
		p.LoginWait = 100 * time.Millisecond
		if code := p.Run(t.Context(), args, root); code != cli.ExitFailure || !strings.Contains(said.String(), "nobody signed in within 100ms") {
			t.Errorf("%v: got exit code %d and %s", args, code, said.String())
		}
		keyboard.Close()

		screen, keyboard := newTerminal(s)
		ctx, interrupt := context.WithCancel(t.Context())
		done := make(chan result)
		go func() { done <- screen.run(ctx, args...) }()
		screen.await(t, regexp.MustCompile(`http://\S+`))
		interrupt()
		if r := <-done; r.code != cli.ExitInterrupted || !strings.HasSuffix(r.err, "guidon: interrupted\n") {
			t.Errorf("%v: got %+v, want that it was interrupted", args, r)
		}
		keyboard.Close()
	}
}

// TestLoginWithToken: a token that the server accepts is kept, and signing out does not
// revoke it unless that is wanted.
func TestLoginWithToken(t *testing.T) {
	page, s := newSignInPage(t)
	admin := s.with("GUIDON_TOKEN=" + adminToken)
	for _, address := range []string{page.address, page.real.grpc} {
		token := strings.TrimSpace(admin.ok("token", "create", "laptop", "--role", "editor", "--on", "shop,pay-*", "-a", address))
		s.typing("wrong\n").fails(cli.ExitFailure, []string{"login", "--token", "--address", address}, "did not accept the token")
		s.typing(" \n").fails(cli.ExitFailure, []string{"login", "--token", "--address", address}, "contains no token")
		s.typing(strings.Repeat("x", 20000)).fails(cli.ExitFailure, []string{"login", "--token", "--address", address}, "too long")
		s.fails(cli.ExitFailure, []string{"logout", "-a", address}, "not signed in")
		if got := s.typing(" "+token+" \r\nmore").ok("login", "--token", "--address", address); !strings.HasPrefix(got, "signed in to "+address+" as laptop\n") {
			t.Errorf("login --token: got %q", got)
		}
		if got := s.ok("whoami", "-a", address); !strings.Contains(got, "editor on shop,pay-*") || !strings.Contains(got, "never") {
			t.Errorf("whoami: got %q", got)
		}
		if got := s.ok("logout", "-a", address); got != "signed out of "+address+"; the token is still valid\n" {
			t.Errorf("logout: got %q", got)
		}
		s.typing(token+"\n").ok("login", "--token", "--address", address)
		if got := s.ok("logout", "-a", address, "--everywhere"); got != "signed out of "+address+" everywhere\n" {
			t.Errorf("logout --everywhere: got %q", got)
		}
		s.typing(token+"\n").fails(cli.ExitFailure, []string{"login", "--token", "--address", address}, "did not accept the token")
	}
	s.fails(cli.ExitUsage, []string{"login", "--address", page.real.grpc}, "a browser needs the http:// or https:// address")
}

// TestCredentialsRefused: a file that others can read is an error, unless a token is given.
func TestCredentialsRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no modes")
	}
	page, s := newSignInPage(t)
	s.ok("login", "--address", page.address)
	if err := os.Chmod(filepath.Join(s.home(), "guidon", "credentials.json"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"export", "-a", page.address}, {"whoami", "-a", page.address}, {"login", "-a", page.address}, {"logout", "-a", page.address}} {
		s.fails(cli.ExitFailure, args, "other users can access it", "chmod 600")
	}
	s.with("GUIDON_TOKEN="+adminToken).ok("export", "-a", page.address)
	if visits := len(page.visits); visits != 1 {
		t.Errorf("got %d visits of the page, want 1: the file is checked before", visits)
	}
}

// TestLoginCannotKeep: a token that cannot be kept is revoked.
func TestLoginCannotKeep(t *testing.T) {
	page, s := newSignInPage(t)
	path := filepath.Join(s.home(), "guidon", "credentials.json")
	page.exchange = func(http.ResponseWriter) bool {
		if err := os.MkdirAll(path, 0o700); err != nil { // since the command has checked it
			t.Error(err)
		}
		return false
	}
	s.fails(cli.ExitFailure, []string{"login", "--address", page.address}, "cannot keep the token", "must be a regular file")
	if code, _ := page.real.get("/auth/v1/self", page.token()); code != http.StatusUnauthorized {
		t.Errorf("the token: got %d, want that it was revoked", code)
	}
}

// terminal is a terminal at which a command runs.
type terminal struct {
	shell    *shell
	keyboard *io.PipeReader

	mu      sync.Mutex
	text    bytes.Buffer
	written chan struct{}
}

func newTerminal(s *shell) (*terminal, *io.PipeWriter) {
	input, keyboard := io.Pipe()
	return &terminal{shell: s, keyboard: input, written: make(chan struct{}, 1000)}, keyboard
}

// Write implements io.Writer.
func (x *terminal) Write(text []byte) (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	select {
	case x.written <- struct{}{}:
	default:
	}
	return x.text.Write(text)
}

func (x *terminal) content() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.text.String()
}

// await waits until the terminal shows what matches, and returns it.
func (x *terminal) await(t *testing.T, what *regexp.Regexp) string {
	t.Helper()
	for {
		if found := what.FindString(x.content()); found != "" {
			return found
		}
		select {
		case <-x.written:
		case <-time.After(30 * time.Second):
			t.Fatalf("the terminal shows %q, want a match of %s", x.content(), what)
		}
	}
}

// run runs a command at the terminal.
func (x *terminal) run(ctx context.Context, args ...string) result {
	var out bytes.Buffer
	p := cli.NewProgram(x.shell.environ, x.keyboard, &out, x)
	p.Terminal = func(any) bool { return true }
	code := p.Run(ctx, args, root)
	return result{code: code, out: out.String(), err: x.content()}
}

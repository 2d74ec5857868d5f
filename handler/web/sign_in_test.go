package web_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/limit"
	"github.com/guidonhq/guidon/service"
)

// codehost is the metadata of a code host.
func codehost(display, kind string) *structpb.Struct {
	return &structpb.Struct{Fields: map[string]*structpb.Value{"display_name": structpb.NewStringValue(display), "type": structpb.NewStringValue(kind)}}
}

// TestWays: there is a link for each provider that is enabled, those of OpenID by display
// name, then the code host, and a form if tokens are enabled.
func TestWays(t *testing.T) {
	const oidc, codehostLink = "/auth/v1/method/oidc/", "/auth/v1/method/codehost/authorize?redirect=true&return_to=%2Fsign-in"
	authorize := func(name string) string { return oidc + name + "/authorize?redirect=true&return_to=%2Fsign-in" }
	for _, test := range []struct {
		name  string
		setup setup
		links []string
		text  string
		form  bool
	}{
		{"nothing", setup{}, nil,
			"Sign in to Guidon Nobody can sign in yet: this server requires it, but no way to sign in is enabled. An administrator can enable one in the configuration of the server: an OpenID provider with authentication.methods.oidc GitHub, GitLab, Gitea or Forgejo with authentication.methods.codehost static tokens with authentication.methods.token", false},
		{"tokens", setup{tokens: true}, nil,
			"Sign in to Guidon Token A cookie that scripts cannot read keeps you signed in. The token itself is not in it. Sign in with token", true},
		{"one provider", setup{providers: map[string]string{"google": "Google"}}, []string{authorize("google")},
			"Sign in to Guidon G Continue with Google", false},
		{"a provider without a display name", setup{providers: map[string]string{"a_b-1": " "}}, []string{authorize("a_b-1")},
			"Sign in to Guidon A Continue with a_b-1", false},
		{"several", setup{
			providers: map[string]string{"z": "alpha", "y": "Beta", "x": "alpha", "w": "Ömer"}, codehost: codehost("A forge", "gitea"), tokens: true,
		}, []string{authorize("x"), authorize("z"), authorize("y"), authorize("w"), codehostLink},
			"Sign in to Guidon A Continue with alpha A Continue with alpha B Continue with Beta Ö Continue with Ömer A Continue with A forge or Token A cookie that scripts cannot read keeps you signed in. The token itself is not in it. Sign in with token", true},
		{"a code host without a display name", setup{codehost: codehost("", "gitlab")}, []string{codehostLink},
			"Sign in to Guidon G Continue with gitlab", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newServer(t, test.setup)
			for range 3 { // the order is stable
				r := s.get("/sign-in", "")
				d := parse(t, r.body)
				d.check(t, "")
				if r.status != http.StatusOK {
					t.Errorf("status %d", r.status)
				}
				if diff := cmp.Diff(test.links, d.links()); diff != "" {
					t.Errorf("links (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(test.text, d.text()); diff != "" {
					t.Errorf("text (-want +got):\n%s", diff)
				}
				if got := len(d.all("form")) == 1; got != test.form {
					t.Errorf("form: got %t, want %t", got, test.form)
				}
			}
		})
	}
}

// TestOpen: if authentication is not required, every page says so, and nothing is done.
func TestOpen(t *testing.T) {
	s := newServer(t, setup{open: true, tokens: true, providers: map[string]string{"google": "Google"}})
	form := url.Values{"token": {s.token(service.TokenInput{})}, "decision": {"allow"}}
	for _, r := range []reply{
		s.get("/sign-in", ""), s.get("/sign-in?return_to=/flags", ""), s.get("/sign-in/cli", ""),
		s.post("/sign-in", "", form), s.post("/sign-in/out", "", nil), s.post("/sign-in/cli", "", form),
	} {
		d := parse(t, r.body)
		d.check(t, "")
		if r.status != http.StatusOK || !strings.HasPrefix(d.text(), "You don’t need to sign in This server does not require authentication.") || len(r.header["Set-Cookie"]) > 0 {
			t.Errorf("got %d %s, cookies %v", r.status, d.text(), r.cookies())
		}
	}
}

// TestReturnTo: links and form keep where the visitor was on the way to, if that is a path
// of ours.
func TestReturnTo(t *testing.T) {
	s := newServer(t, setup{tokens: true, providers: map[string]string{"google": "Google"}})
	token := s.token(service.TokenInput{})
	for _, test := range []struct{ given, want string }{
		{"", "/sign-in"},
		{"/flags", "/flags"},
		{"/namespaces/a/flags?q=b%20c&d=%26", "/namespaces/a/flags?q=b%20c&d=%26"},
		{"/flags?q=a%2Fb", "/flags"},
		{"/flags?q=" + strings.Repeat("a", 600), "/flags"},
		{"/" + strings.Repeat("a", 600), "/sign-in"},
		{"//evil.example", "/sign-in"},
		{`/\evil.example`, "/sign-in"},
		{"https://evil.example/", "/sign-in"},
		{"javascript:alert(1)", "/sign-in"},
		{"/auth/v1/self", "/sign-in"},
		{"/a/../b", "/sign-in"},
		{"/a\r\nSet-Cookie: a=b", "/sign-in"},
	} {
		r := s.get("/sign-in?"+url.Values{"return_to": {test.given}}.Encode(), "")
		d := parse(t, r.body)
		d.check(t, "")
		_, fields := d.form(t)
		if got := fields.Get("return_to"); got != test.want {
			t.Errorf("%q: the form has %q, want %q", test.given, got, test.want)
		}
		link, err := url.Parse(d.links()[0])
		if err != nil {
			t.Fatal(err)
		}
		if got := link.Query().Get("return_to"); got != test.want {
			t.Errorf("%q: the link has %q, want %q", test.given, got, test.want)
		}
		if got, want := strings.Contains(d.text(), "You will return to "), test.want != "/sign-in"; got != want {
			t.Errorf("%q: says where it leads: %t, want %t", test.given, got, want)
		}
		r = s.post("/sign-in", "", url.Values{"token": {token}, "return_to": {test.given}})
		if got := r.header.Get("Location"); r.status != http.StatusSeeOther || got != test.want {
			t.Errorf("%q: got %d %q, want %q", test.given, r.status, got, test.want)
		}
	}
}

// TestToken: a token that may read something begins a session. Any other is told what is
// wrong, and leaves the session of the browser alone.
func TestToken(t *testing.T) {
	s := newServer(t, setup{tokens: true, providers: map[string]string{"google": "Google"}})
	good, old := s.token(service.TokenInput{}), s.session("old")
	for _, test := range []struct {
		name, token, body string
		status            int
		problem           string
	}{
		{name: "of a session", token: old, status: 400, problem: "Only a static token can be used here."},
		{name: "valid", token: good, status: 303},
		{name: "pasted with a line break", token: " " + good + "\r\n", status: 303},
		{name: "missing", token: " ", status: 400, problem: "Enter a token."},
		{name: "no field", body: "a=b", status: 400, problem: "Enter a token."},
		{name: "unknown", token: "gdn_secret<b>x</b>", status: 401, problem: "This token is unknown or has expired. Check that all of it was copied, or ask for another one."},
		{name: "of another scheme", token: "Bearer " + good, status: 401, problem: "This token is unknown or has expired. Check that all of it was copied, or ask for another one."},
		{name: "limited to a namespace", token: s.token(service.TokenInput{Namespace: "default"}), status: 401, problem: "This token is limited to one namespace, so it is for programs only. Use one without that limit, such as one with a role in that namespace."},
		{name: "that may only evaluate", token: s.token(service.TokenInput{Role: service.RoleEvaluator}), status: 403, problem: "This token may not read any namespace, so there is nothing to see with it. Use another one."},
	} {
		t.Run(test.name, func(t *testing.T) {
			form := url.Values{"token": {test.token}, "return_to": {"/flags?a=b"}}
			r := s.post("/sign-in", old, form)
			if test.body != "" {
				r = s.do("POST", "/sign-in", test.body, "Content-Type", "application/x-www-form-urlencoded; charset=utf-8", "Cookie", sessionCookie+"="+old)
			}
			if r.status != test.status {
				t.Fatalf("got %d %s, want %d", r.status, r.body, test.status)
			}
			if test.status == http.StatusSeeOther {
				session := r.cookies()[sessionCookie]
				if r.header.Get("Location") != "/flags?a=b" || session == "" || session == strings.TrimSpace(test.token) {
					t.Errorf("got %v", r.header)
				}
				if d := parse(t, s.get("/sign-in", session).body); d.text() != "You are signed in With the token deploy Sign out" {
					t.Errorf("then: %s", d.text())
				}
				old = s.session("old") // the session before gave way
				return
			}
			d := parse(t, r.body)
			d.check(t, "")
			if len(r.header["Set-Cookie"]) > 0 {
				t.Errorf("sets cookies %v", r.header["Set-Cookie"])
			}
			if !strings.Contains(d.text(), test.problem) || textContent(d.all("title")[0]) != "Error: Sign in · Guidon" {
				t.Errorf("got %s", d.text())
			}
			if token := strings.TrimSpace(test.token); token != "" && (strings.Contains(r.body, token) || strings.Contains(d.text(), token)) {
				t.Errorf("the page repeats the token: %s", r.body)
			}
			if _, fields := d.form(t); fields.Get("token") != "" || (fields.Get("return_to") != "/flags?a=b") == (test.body == "") {
				t.Errorf("the form has %v", fields)
			}
			if d := parse(t, s.get("/sign-in", old).body); !strings.HasPrefix(d.text(), "You are signed in") {
				t.Errorf("then: %s", d.text())
			}
		})
	}
	if log := s.log.String(); strings.Contains(log, good) || strings.Contains(log, "secret<b>") {
		t.Errorf("the log has a token:\n%s", log)
	}
	if log := s.log.String(); !strings.Contains(log, `"route":"/sign-in","status":401`) || !strings.Contains(log, "the token is unknown or has expired") || !strings.Contains(log, `"sign_in_method":"token"`) {
		t.Errorf("the log does not say why a token was refused:\n%s", log)
	}
}

// TestLimited: the form says that there were too many failures, and works again later.
func TestLimited(t *testing.T) {
	now := time.Now()
	s := newServer(t, setup{tokens: true, failures: limit.NewFailures(limit.FailureConfig{PerAddress: 1, Loopback: true, Now: func() time.Time { return now }})})
	good := url.Values{"token": {s.token(service.TokenInput{})}}
	for range 10 {
		if r := s.post("/sign-in", "", url.Values{"token": {"wrong"}}); r.status != http.StatusUnauthorized {
			t.Fatalf("got %d", r.status)
		}
	}
	r := s.post("/sign-in", "", url.Values{"token": {"wrong"}})
	if d := parse(t, r.body); r.status != http.StatusTooManyRequests || r.header.Get("Retry-After") != "1" || !strings.Contains(d.text(), "Too many tokens were wrong. Wait a moment, then try again.") {
		t.Errorf("got %d %v %s", r.status, r.header, d.text())
	}
	if r := s.get("/sign-in", "wrong"); r.status != http.StatusTooManyRequests || r.header.Get("Retry-After") != "1" {
		t.Errorf("a wrong cookie gets %d %v", r.status, r.header)
	}
	if r := s.get("/sign-in", ""); r.status != http.StatusOK {
		t.Errorf("the page without a cookie gets %d", r.status)
	}
	if r := s.post("/sign-in", "", good); r.status != http.StatusSeeOther {
		t.Errorf("a valid token gets %d", r.status)
	}
	now = now.Add(time.Second)
	if r := s.post("/sign-in", "", url.Values{"token": {"wrong"}}); r.status != http.StatusUnauthorized {
		t.Errorf("later a wrong token gets %d", r.status)
	}
}

// TestOutage: while the database is away, the form says so, and other pages do.
func TestOutage(t *testing.T) {
	away := guidon.Errorf(guidon.Unavailable, "the database is away: secret address")
	var fault error
	s := newServer(t, setup{tokens: true, fault: func() error { return fault }})
	session, token := s.session("deploy"), s.token(service.TokenInput{})
	for _, test := range []struct {
		name   string
		fault  error
		status int
		form   string
		page   string
	}{
		{"away", away, 503, "The server cannot check tokens now. Try again in a moment.", "The server cannot answer now"},
		{"broken", errors.New("secret address"), 500, "Something went wrong", "Something went wrong"},
	} {
		fault = test.fault
		for _, page := range []struct {
			reply
			want string
		}{
			{s.post("/sign-in", "", url.Values{"token": {token}}), test.form},
			{s.get("/sign-in", session), test.page},
			{s.get("/sign-in/cli?challenge="+challenge, session), test.page},
			{s.post("/sign-in/out", session, nil), test.page},
			{s.post("/sign-in/cli", session, url.Values{"challenge": {challenge}, "decision": {"allow"}}), test.page},
		} {
			d := parse(t, page.body)
			d.check(t, "")
			if page.status != test.status || !strings.Contains(d.text(), page.want) || strings.Contains(page.body, "secret") || len(page.header["Set-Cookie"]) > 0 {
				t.Errorf("%s: got %d %s", test.name, page.status, d.text())
			}
			if want := test.status == 503; (page.header.Get("Retry-After") == "1") != want {
				t.Errorf("%s: Retry-After %q", test.name, page.header.Get("Retry-After"))
			}
		}
	}
	fault = nil
	if d := parse(t, s.get("/sign-in", session).body); !strings.HasPrefix(d.text(), "You are signed in") {
		t.Errorf("then: %s", d.text())
	}
}

// TestSignedIn: the page says as whom, and where one can go on.
func TestSignedIn(t *testing.T) {
	s := newServer(t, setup{tokens: true})
	session := s.session(" Ada \u202eL.\x00 <b>")
	for _, test := range []struct {
		target, text string
		links        []string
		fields       url.Values
	}{
		{"/sign-in", "You are signed in With the token Ada L. <b> Sign out", nil, url.Values{}},
		{"/sign-in?return_to=//evil.example", "You are signed in With the token Ada L. <b> Sign out", nil, url.Values{}},
		{"/sign-in?return_to=/flags", "You are signed in With the token Ada L. <b> Continue To /flags Sign out", []string{"/flags"}, url.Values{"return_to": {"/flags"}}},
	} {
		r := s.get(test.target, session)
		d := parse(t, r.body)
		d.check(t, "")
		action, fields := d.form(t)
		if r.status != 200 || d.text() != test.text || action != "/sign-in/out" || !cmp.Equal(d.links(), test.links) || !cmp.Equal(fields, test.fields) || len(r.header["Set-Cookie"]) > 0 {
			t.Errorf("%s: got %d %q, links %v, form %s %v", test.target, r.status, d.text(), d.links(), action, fields)
		}
	}
}

// TestAuthorizationHeader: what a proxy requires in the header Authorization, and what
// browsers then send there, is not for pages.
func TestAuthorizationHeader(t *testing.T) {
	s := newServer(t, setup{tokens: true})
	r := s.do("GET", "/sign-in", "", append(cookie(s.session("deploy")), "Authorization", "Basic YTpi")...)
	if d := parse(t, r.body); !strings.HasPrefix(d.text(), "You are signed in With the token deploy") {
		t.Errorf("got %s", d.text())
	}
}

// TestPeople: people see their name, or else their e-mail address.
func TestPeople(t *testing.T) {
	s := newServer(t, setup{policy: service.Policy{Admissions: map[string]service.Admission{"oidc:acme": &service.AllowList{Everyone: true}}}})
	for _, test := range []struct {
		metadata map[string]string
		want     string
	}{
		{map[string]string{"io.service.auth.name": "Ada L.", "io.service.auth.email": "ada@acme.example"}, "You are signed in As Ada L. Sign out"},
		{map[string]string{"io.service.auth.name": "\u202e", "io.service.auth.email": "ada@acme.example"}, "You are signed in As ada@acme.example Sign out"},
		{nil, "You are signed in As an account without a name Sign out"},
	} {
		session, _, err := s.service.SignIn(t.Context(), service.Write{}, service.SignIn{
			Identity: &service.Identity{Method: service.MethodOIDC, Provider: "acme", Subject: "oidc:acme:sub:1", Metadata: test.metadata},
			Client:   service.ClientBrowser, Lifetime: time.Hour,
		})
		if err != nil {
			t.Fatal(err)
		}
		d := parse(t, s.get("/sign-in", session).body)
		d.check(t, "")
		if d.text() != test.want {
			t.Errorf("%v: got %q, want %q", test.metadata, d.text(), test.want)
		}
	}
}

// TestInvalidSession: the browser forgets a session that is not valid, so that several
// cookies cannot keep it out for ever. Other failures make it forget nothing.
func TestInvalidSession(t *testing.T) {
	for _, test := range []struct {
		name   string
		cookie call.SessionCookie
		header string
		want   []string
	}{
		{"no cookie", call.SessionCookie{}, "", nil},
		{"another cookie", call.SessionCookie{}, "a=b", nil},
		{"an unknown token", call.SessionCookie{}, "service_client_token=x", []string{
			"service_client_state=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax", "service_client_token=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax"}},
		{"two cookies", call.SessionCookie{}, "service_client_token=x; service_client_token=y", []string{
			"service_client_state=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax", "service_client_token=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax"}},
		{"a name that is not read", call.SessionCookie{HostPrefix: true}, "service_client_token=x", nil},
	} {
		s := newServer(t, setup{tokens: true, session: test.cookie})
		r := s.do("GET", "/sign-in", "", "Cookie", test.header, "Authorization", "Basic for a proxy")
		if diff := cmp.Diff(test.want, r.header["Set-Cookie"]); r.status != 200 || diff != "" {
			t.Errorf("%s: got %d, cookies (-want +got):\n%s", test.name, r.status, diff)
		}
		if d := parse(t, r.body); !strings.HasPrefix(d.text(), "Sign in to Guidon Token") {
			t.Errorf("%s: got %s", test.name, d.text())
		}
	}
}

// TestSignOut: the session ends, the browser forgets it, and gets to the provider, if its
// session is to be ended too, or back.
func TestSignOut(t *testing.T) {
	for _, test := range []struct {
		name, next, returnTo string
		location, refresh    string
	}{
		{name: "here", location: "/sign-in"},
		{name: "here, on the way to a page", returnTo: "/flags?a=b", location: "/sign-in?return_to=%2Fflags%3Fa%3Db"},
		{name: "here, on the way elsewhere", returnTo: "//evil.example", location: "/sign-in"},
		{name: "at the provider", next: "https://id.example/end?client_id=a&post_logout_redirect_uri=https%3A%2F%2Fflags.example%2Fsign-in",
			refresh: "0; url=https://id.example/end?client_id=a&post_logout_redirect_uri=https%3A%2F%2Fflags.example%2Fsign-in"},
		{name: "a header in the address", next: "https://id.example/\r\nSet-Cookie: a=b", location: "/sign-in"},
		{name: "a script as the address", next: "javascript:alert(1)", location: "/sign-in"},
		{name: "a path as the address", next: "/elsewhere", location: "/sign-in"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newServer(t, setup{tokens: true, nextURI: test.next})
			session := s.session("deploy")
			r := s.post("/sign-in/out", session, url.Values{"return_to": {test.returnTo}})
			if got := r.header.Get("Location"); got != test.location {
				t.Errorf("Location %q, want %q", got, test.location)
			}
			if got := r.header.Get("Refresh"); got != test.refresh {
				t.Errorf("Refresh %q, want %q", got, test.refresh)
			}
			if cleared, ok := r.cookies()[sessionCookie]; !ok || cleared != "" {
				t.Errorf("cookies %v", r.header["Set-Cookie"])
			}
			want := http.StatusSeeOther
			if test.refresh != "" {
				want = http.StatusOK
				d := parse(t, r.body)
				d.check(t, "", test.next)
				if !cmp.Equal(d.links(), []string{test.next, "/sign-in"}) {
					t.Errorf("links %v", d.links())
				}
			}
			if r.status != want {
				t.Errorf("status %d, want %d", r.status, want)
			}
			if d := parse(t, s.get("/sign-in", session).body); !strings.HasPrefix(d.text(), "Sign in to Guidon") {
				t.Errorf("then: %s", d.text())
			}
			if r := s.post("/sign-in/out", session, nil); r.status != http.StatusSeeOther || r.header.Get("Location") != "/sign-in" {
				t.Errorf("again: %d %v", r.status, r.header)
			}
		})
	}
}

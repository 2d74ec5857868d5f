package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/loginstate"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// challenge is that of RFC 7636, appendix B.
const challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

// grant returns the fields of a request of a command line, changed by names and values in
// turn; "-" removes a field.
func grant(changes ...string) url.Values {
	fields := url.Values{"port": {"49152"}, "challenge": {challenge}, "state": {"state-1._~"}, "name": {"ada's laptop"}}
	for i := 0; i < len(changes); i += 2 {
		if changes[i+1] == "-" {
			fields.Del(changes[i])
		} else {
			fields.Set(changes[i], changes[i+1])
		}
	}
	return fields
}

// TestGrantRequest: only a request that a command line can have made is shown, to visitors
// who are signed in. Others sign in first, and come back to the same.
func TestGrantRequest(t *testing.T) {
	s := newServer(t, setup{tokens: true})
	session := s.session("deploy")
	for _, test := range []struct {
		name   string
		fields url.Values
		valid  bool
	}{
		{"usual", grant(), true},
		{"without a name", grant("name", "-"), true},
		{"first port", grant("port", "1"), true},
		{"last port", grant("port", "65535"), true},
		{"for pasting", grant("port", "-", "state", "-"), true},
		{"longest", grant("state", strings.Repeat("~", 128), "name", strings.Repeat("ä", 500)), true},
		{"a name with slashes", grant("name", `a/b\c`), true},
		{"a name that is encoded", grant("name", "a%2Fb%0A?#&="), true},
		{"a field of somebody else", grant("utm_source", "x"), true},
		{"nothing", nil, false},
		{"port 0", grant("port", "0"), false},
		{"port above the last", grant("port", "65536"), false},
		{"a negative port", grant("port", "-1"), false},
		{"a port with a sign", grant("port", "+80"), false},
		{"a port with zeros", grant("port", "080"), false},
		{"a port with a space", grant("port", "80 "), false},
		{"a port with a host", grant("port", "80@evil.example"), false},
		{"a port with a path", grant("port", "80/x"), false},
		{"no port but state", grant("port", "-"), false},
		{"no state", grant("state", "-"), false},
		{"state that is too long", grant("state", strings.Repeat("a", 129)), false},
		{"state with other characters", grant("state", "a&b"), false},
		{"state with a line break", grant("state", "a\nb"), false},
		{"no challenge", grant("challenge", "-"), false},
		{"a short challenge", grant("challenge", challenge[1:]), false},
		{"a long challenge", grant("challenge", challenge+"a"), false},
		{"a challenge with other characters", grant("challenge", challenge[1:]+"+"), false},
		{"a padded challenge", grant("challenge", challenge[1:]+"="), false},
		{"two ports", url.Values{"port": {"1", "2"}, "challenge": {challenge}, "state": {"a"}}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			page := "/sign-in/cli?" + test.fields.Encode()
			shown, away := s.get(page, session), s.get(page, "")
			denied := s.post("/sign-in/cli", session, with(test.fields, "decision", "deny"))
			if !test.valid {
				for _, r := range []reply{shown, away, denied, s.post("/sign-in/cli", session, with(test.fields, "decision", "allow"))} {
					parse(t, r.body).check(t, "")
					if r.status != http.StatusBadRequest || r.header.Get("Location") != "" {
						t.Errorf("got %d %v", r.status, r.header)
					}
				}
				return
			}
			d := parse(t, shown.body)
			d.check(t, "")
			action, fields := d.form(t)
			if shown.status != http.StatusOK || action != "/sign-in/cli" || fields.Get("port") != test.fields.Get("port") ||
				fields.Get("challenge") != challenge || fields.Get("state") != test.fields.Get("state") {
				t.Errorf("got %d, form %s %v", shown.status, action, fields)
			}
			location, err := url.Parse(away.header.Get("Location"))
			if err != nil || away.status != http.StatusSeeOther || location.Path != "/sign-in" || location.Host != "" {
				t.Fatalf("signed out: got %d %v, error %v", away.status, location, err)
			}
			returnTo := location.Query().Get("return_to")
			if err := loginstate.CheckReturnTo(returnTo); err != nil {
				t.Fatalf("%s: %v", returnTo, err)
			}
			if again := s.get(returnTo, session); again.body != shown.body {
				t.Errorf("after signing in, the page is %s, want %s", again.body, shown.body)
			}
			if _, back := parse(t, s.get(location.String(), "").body).form(t); back.Get("return_to") != returnTo {
				t.Errorf("the sign-in page leads back to %q, want %q", back.Get("return_to"), returnTo)
			}
		})
	}
	if len(s.grants) > 0 {
		t.Errorf("grants %v", s.grants)
	}
}

func with(fields url.Values, name, value string) url.Values {
	all := url.Values{name: {value}}
	for name, values := range fields {
		all[name] = values
	}
	return all
}

// TestAsk: the page says who asks, and lets the form lead to where the command line
// listens, and nowhere else.
func TestAsk(t *testing.T) {
	s := newServer(t, setup{tokens: true})
	session := s.session("deploy")
	for _, test := range []struct {
		name   string
		fields url.Values
		text   string
		policy string // of forms
	}{
		{"usual", grant(), "Allow the command line to sign in? A command line that calls its machine ada's laptop wants to sign in as you, deploy . It can then do everything that you can do. Allow it only if you have just run guidon login yourself. Deny Allow sign-in Not you? Sign out first",
			"form-action 'self' http://127.0.0.1:49152;"},
		{"nameless, for pasting", grant("port", "-", "state", "-", "name", "\u202e\x00"), "Allow the command line to sign in? A command line that does not name its machine wants to sign in as you, deploy . It can then do everything that you can do. Allow it only if you have just run guidon login yourself. You then get a code to paste there. Deny Allow sign-in Not you? Sign out first",
			"form-action 'self';"},
	} {
		r := s.get("/sign-in/cli?"+test.fields.Encode(), session)
		d := parse(t, r.body)
		d.check(t, "")
		if diff := cmp.Diff(test.text, d.text()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		if got := r.header.Get("Content-Security-Policy"); !strings.Contains(got, " "+test.policy+" ") || strings.Count(got, "form-action") != 1 {
			t.Errorf("%s: policy %s", test.name, got)
		}
		var decisions []string
		for _, b := range d.all("button") {
			decisions = append(decisions, attribute(b, "name")+"="+attribute(b, "value"))
		}
		if !cmp.Equal(decisions, []string{"decision=deny", "decision=allow"}) {
			t.Errorf("%s: buttons %v", test.name, decisions)
		}
		link, err := url.Parse(d.links()[0])
		if err != nil || link.Path != "/sign-in" || loginstate.CheckReturnTo(link.Query().Get("return_to")) != nil {
			t.Errorf("%s: links %v", test.name, d.links())
		}
	}
}

// TestDecide: only a visitor who presses allow grants something. The code gets to the
// loopback interface or, without a port, onto the page.
func TestDecide(t *testing.T) {
	const code = "a b&c=+/\"<x>"
	pasting := grant("port", "-", "state", "-")
	for _, test := range []struct {
		name     string
		fields   url.Values
		decision string
		out      bool // the session has ended
		err      error
		status   int
		location string // with the query, decoded, after " ? "
		text     string
		granted  *guidonv1.CreateGrantRequest
	}{
		{name: "allowed", fields: grant(), decision: "allow", status: 303,
			location: "http://127.0.0.1:49152/callback ? code=" + code + " state=state-1._~",
			granted:  &guidonv1.CreateGrantRequest{CodeChallenge: challenge, Name: "ada's laptop"}},
		{name: "allowed, for pasting", fields: pasting, decision: "allow", status: 200,
			text:    "Paste this code into the command line " + code + " It works once, and for a minute. Give it to nobody: it signs in as you. Paste it only where you ran guidon login on ada's laptop",
			granted: &guidonv1.CreateGrantRequest{CodeChallenge: challenge, Name: "ada's laptop"}},
		{name: "denied", fields: grant(), decision: "deny", status: 303,
			location: "http://127.0.0.1:49152/callback ? error=access_denied state=state-1._~"},
		{name: "denied, for pasting", fields: pasting, decision: "deny", status: 200,
			text: "The command line may not sign in You have denied it. You can close this page, and stop the command line."},
		{name: "neither", fields: grant(), decision: "", status: 400,
			text: "This request is not complete The address or the form has a part that is missing, too long or changed. Go to the sign-in page Request id REQUEST"},
		{name: "both", fields: with(grant(), "decision", "deny"), decision: "allow,deny", status: 400,
			text: "This request is not complete The address or the form has a part that is missing, too long or changed. Go to the sign-in page Request id REQUEST"},
		{name: "signed out meanwhile", fields: grant(), decision: "allow", out: true, status: 303,
			location: "/sign-in ? return_to=/sign-in/cli?challenge=" + challenge + "&name=ada%27s+laptop&port=49152&state=state-1._~"},
		{name: "refused", fields: grant(), decision: "allow", err: guidon.Errorf(guidon.PermissionDenied, "secret"), status: 403,
			text: "This request was refused It came from a page of another site, needs more rights than you have, or used an address that this server does not answer to. Go to the sign-in page Request id REQUEST"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newServer(t, setup{tokens: true, code: code, grantError: test.err})
			session := s.session("deploy")
			if test.out {
				s.post("/sign-in/out", session, nil)
			}
			form := with(test.fields, "decision", test.decision)
			if test.decision == "allow,deny" {
				form["decision"] = []string{"allow", "deny"}
			}
			r := s.post("/sign-in/cli", session, form)
			if r.status != test.status {
				t.Errorf("status %d, want %d", r.status, test.status)
			}
			if got := decoded(t, r.header.Get("Location")); got != test.location {
				t.Errorf("Location %q, want %q", got, test.location)
			}
			if test.text != "" {
				d := parse(t, r.body)
				d.check(t, "")
				if diff := cmp.Diff(strings.ReplaceAll(test.text, "REQUEST", r.header.Get("X-Request-Id")), d.text()); diff != "" {
					t.Errorf("text (-want +got):\n%s", diff)
				}
			}
			switch {
			case test.granted == nil && len(s.grants) == 0:
			case test.granted == nil || len(s.grants) != 1 || !proto.Equal(test.granted, s.grants[0]):
				t.Errorf("grants %v, want %v", s.grants, test.granted)
			}
			if strings.Contains(s.log.String(), challenge) || strings.Contains(s.log.String(), "a b&c") {
				t.Errorf("the log has the challenge or the code:\n%s", s.log.String())
			}
		})
	}
}

// decoded returns an address with its query in readable form.
func decoded(t *testing.T, location string) string {
	t.Helper()
	before, query, ok := strings.Cut(location, "?")
	if !ok {
		return location
	}
	var pairs []string
	for pair := range strings.SplitSeq(query, "&") {
		pair, err := url.QueryUnescape(pair)
		if err != nil {
			t.Fatal(err)
		}
		pairs = append(pairs, pair)
	}
	return before + " ? " + strings.Join(pairs, " ")
}

// TestNoGrants: a server at which the command line cannot sign in has no such page.
func TestNoGrants(t *testing.T) {
	for _, setup := range []setup{{tokens: true, noGrants: true}, {tokens: true, disabled: true}} {
		s := newServer(t, setup)
		session := s.session("deploy")
		for _, r := range []reply{s.get("/sign-in/cli?"+grant().Encode(), session), s.post("/sign-in/cli", session, with(grant(), "decision", "allow"))} {
			if d := parse(t, r.body); r.status != http.StatusNotFound || !strings.HasPrefix(d.text(), "There is no such page") {
				t.Errorf("got %d %s", r.status, d.text())
			}
		}
	}
}

// FuzzGrantRequest: whatever the address of the page is, the browser is sent to the sign-in
// page only, with a path to return to that is allowed and shows the same request.
func FuzzGrantRequest(f *testing.F) {
	for _, fields := range []url.Values{grant(), grant("name", `a/b\c%2f%0a`+"\u202e\xff"), grant("port", "80@evil"), grant("port", "-", "state", "-")} {
		f.Add(fields.Encode())
	}
	f.Add("port=1&challenge=%zz;name=a")
	s := newServer(f, setup{tokens: true})
	session := s.session("deploy")
	f.Fuzz(func(t *testing.T, query string) {
		s := *s
		s.t = t
		u := &url.URL{Path: "/sign-in/cli", RawQuery: query}
		if _, err := url.ParseRequestURI(u.String()); err != nil {
			t.Skip()
		}
		r := s.get(u.String(), "")
		if r.status == http.StatusBadRequest {
			return
		}
		location, err := url.Parse(r.header.Get("Location"))
		if err != nil || r.status != http.StatusSeeOther || location.Path != "/sign-in" || location.Host != "" || location.Scheme != "" {
			t.Fatalf("got %d %v, error %v", r.status, location, err)
		}
		returnTo := location.Query().Get("return_to")
		if err := loginstate.CheckReturnTo(returnTo); err != nil {
			t.Fatalf("%s: %v", returnTo, err)
		}
		shown := s.get(u.String(), session)
		if again := s.get(returnTo, session); shown.status != http.StatusOK || again.body != shown.body {
			t.Errorf("after signing in, the page is %d %s, want %s", shown.status, again.body, shown.body)
		}
		parse(t, shown.body).check(t, "")
	})
}

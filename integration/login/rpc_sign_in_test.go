package login

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/guidonhq/guidon/handler/login/logintest"
)

// TestRPC signs in over gRPC, where cookies are metadata and the token is in the message.
func TestRPC(t *testing.T) {
	t.Parallel()
	p := newProvider(t, "google")
	s := start(t, p.settings()...)
	conn := s.rpc(t)
	const oidc = "flipt.auth.AuthenticationMethodOIDCService/"
	for _, name := range []string{"cookie", "grpcgateway-cookie"} {
		begun := conn.call(t, oidc+"AuthorizeURL", `{"provider":"google","returnTo":"/flags","redirect":true}`)
		if begun.code != codes.OK || len(begun.header["set-cookie"]) != 1 {
			t.Fatalf("AuthorizeURL: %v %s, header %v", begun.code, begun.message, begun.header)
		}
		cookie, _, _ := strings.Cut(begun.header["set-cookie"][0], ";")
		_, value, _ := strings.Cut(cookie, "=")
		u := decode[struct{ AuthorizeURL string }](t, response{body: begun.body}).AuthorizeURL
		code, err := p.Authorize(u)
		if err != nil {
			t.Fatal(err)
		}
		s.secrets.plant(value, stateOf(t, u))
		message := asJSON(map[string]string{"provider": "google", "code": code, "state": stateOf(t, u)})
		if got := conn.call(t, oidc+"Callback", message); got.code != codes.Unauthenticated {
			t.Errorf("without the cookie: got %v, want Unauthenticated", got.code)
		}
		ended := conn.call(t, oidc+"Callback", message, name+": "+cookie)
		token := decode[struct{ ClientToken string }](t, response{body: ended.body}).ClientToken
		s.secrets.plant(token)
		if ended.code != codes.OK || token == "" || len(ended.header["set-cookie"]) != 2 || !strings.HasPrefix(ended.header["set-cookie"][0], sessionCookie+"="+token+"; Path=/; ") {
			t.Fatalf("Callback: %v %s, header %v", ended.code, ended.message, ended.header)
		}
		if self := conn.call(t, "flipt.auth.AuthenticationService/GetAuthenticationSelf", `{}`, "authorization: Bearer "+token); self.code != codes.OK {
			t.Errorf("self: %v %s", self.code, self.message)
		}
		if again := conn.call(t, oidc+"Callback", message, name+": "+cookie); again.code != codes.Unauthenticated {
			t.Errorf("the same again: got %v, want Unauthenticated", again.code)
		}
		if got := conn.call(t, "flipt.auth.AuthenticationService/RevokeAuthenticationSelf", `{}`, name+": "+sessionCookie+"="+token); got.code != codes.OK {
			t.Errorf("revoke with the cookie: %v %s", got.code, got.message)
		}
		if self := conn.call(t, "flipt.auth.AuthenticationService/GetAuthenticationSelf", `{}`, "authorization: Bearer "+token); self.code != codes.Unauthenticated {
			t.Errorf("self after revoking: %v %s", self.code, self.message)
		}
	}
	for method, c := range map[string]struct {
		message string
		want    codes.Code
	}{
		oidc + "AuthorizeURL":                    {`{"provider":"nobody"}`, codes.NotFound},
		oidc + "Callback":                        {`{"provider":"nobody","code":"c","state":"s"}`, codes.NotFound},
		oidc + "Revoke":                          {`{"provider":"google","logoutToken":"a.b.c"}`, codes.InvalidArgument},
		"guidon.v1.SessionService/ExchangeGrant": {`{"code":"c","codeVerifier":"` + verifier + `"}`, codes.Unauthenticated},
		"flipt.auth.AuthenticationMethodGithubService/AuthorizeURL":             {`{}`, codes.Unimplemented},
		"flipt.auth.AuthenticationMethodGithubService/Callback":                 {`{"code":"c","state":"s"}`, codes.Unimplemented},
		"flipt.auth.AuthenticationMethodKubernetesService/VerifyServiceAccount": {`{"serviceAccountToken":"a.b.c"}`, codes.Unimplemented},
	} {
		if got := conn.call(t, method, c.message); got.code != c.want {
			t.Errorf("%s: got %v %s, want %v", method, got.code, got.message, c.want)
		}
	}
	if got := conn.call(t, oidc+"AuthorizeURL", `{"provider":"google","returnTo":"//evil"}`); got.code != codes.InvalidArgument || strings.Contains(got.message, "evil") {
		t.Errorf("return_to: got %v %s", got.code, got.message)
	}
	p.failing(logintest.TokenPath, logintest.Faults()[3].Handler, func() {
		begun := conn.call(t, oidc+"AuthorizeURL", `{"provider":"google"}`)
		cookie, _, _ := strings.Cut(begun.header["set-cookie"][0], ";")
		u := decode[struct{ AuthorizeURL string }](t, response{body: begun.body}).AuthorizeURL
		got := conn.call(t, oidc+"Callback", asJSON(map[string]string{"provider": "google", "code": "x", "state": stateOf(t, u)}), "cookie: "+cookie)
		if got.code != codes.Unavailable || len(got.header["set-cookie"]) > 0 {
			t.Errorf("provider away: got %v, header %v", got.code, got.header)
		}
	})
}

// TestMethodsThatAreOff have no routes.
func TestMethodsThatAreOff(t *testing.T) {
	t.Parallel()
	s := start(t)
	conn := s.rpc(t)
	for _, path := range []string{loginPath("google", "authorize"), loginPath("google", "callback"), loginPath("codehost", "authorize"), loginPath("codehost", "callback")} {
		for _, accept := range []string{"text/html", "application/json"} {
			s.status(t, 404, "GET", path, "", "Accept: "+accept)
			s.status(t, 404, "GET", path+"?"+url.Values{"state": {"x"}}.Encode(), "", "Accept: "+accept)
		}
	}
	s.status(t, 404, "POST", accountPath, accountBody("a.b.c"))
	s.status(t, 404, "POST", loginPath("google", "revoke"), "logout_token=a.b.c", "Content-Type: application/x-www-form-urlencoded")
	s.status(t, 401, "GET", "/auth/v1/self", "", "Authorization: JWT a.b.c")
	for _, method := range []string{
		"AuthenticationMethodOIDCService/AuthorizeURL", "AuthenticationMethodOIDCService/Callback", "AuthenticationMethodOIDCService/Revoke",
		"AuthenticationMethodGithubService/AuthorizeURL", "AuthenticationMethodGithubService/Callback", "AuthenticationMethodKubernetesService/VerifyServiceAccount",
	} {
		if got := conn.call(t, "flipt.auth."+method, `{}`); got.code != codes.Unimplemented {
			t.Errorf("%s: got %v, want Unimplemented", method, got.code)
		}
	}
	p := newProvider(t, "google")
	without := start(t, append(p.settings(), "AUTHENTICATION_METHODS_TOKEN_ENABLED=false", "AUTHENTICATION_METHODS_TOKEN_BOOTSTRAP_TOKEN=")...)
	got := without.send(t, "POST", "/auth/v1/method/token", `{"name":"x"}`, asAdmin)
	if !slices.Contains([]int{401, 404, 501}, got.StatusCode) {
		t.Errorf("tokens are off: got %d %s", got.StatusCode, got.body)
	}
}

package codehost_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/codehost"
	"github.com/guidonhq/guidon/handler/login/logintest"
	"github.com/guidonhq/guidon/handler/login/provider"
)

func TestPKCE(t *testing.T) {
	forEach(t, func(t *testing.T, kind string) {
		for _, pkce := range []bool{true, false} {
			double, host := start(t, kind, func(c *codehost.Config) { c.PKCE = pkce })
			a, code := authorize(t, double, host)
			raw, err := host.AuthorizeURL(t.Context(), a)
			if err != nil {
				t.Fatal(err)
			}
			u, err := url.Parse(raw)
			if err != nil {
				t.Fatal(err)
			}
			if got := u.Query().Has("code_challenge"); got != pkce {
				t.Errorf("PKCE %v: has a challenge: %v", pkce, got)
			}
			// The double rejects a verifier without a challenge, and the other way round.
			if _, err := identify(t.Context(), t, double, host, a, code); err != nil {
				t.Errorf("PKCE %v: %v", pkce, err)
			}
		}
	})
}

// TestInjectedCode: the code of one attempt is of no use in another, nor twice.
func TestInjectedCode(t *testing.T) {
	forEach(t, func(t *testing.T, kind string) {
		double, host := start(t, kind, nil)
		a, code := authorize(t, double, host)
		_, err := identify(t.Context(), t, double, host, begin(t, host), code)
		checkError(t, err, guidon.Unauthenticated)
		if _, err := identify(t.Context(), t, double, host, a, code); err != nil {
			t.Fatal(err)
		}
		_, err = identify(t.Context(), t, double, host, a, code)
		checkError(t, err, guidon.Unauthenticated)
	})
}

// TestRegistration: the host rejects our credentials, callback or code.
func TestRegistration(t *testing.T) {
	forEach(t, func(t *testing.T, kind string) {
		for _, test := range []struct {
			name   string
			change func(*codehost.Config)
			want   guidon.Code
		}{
			{"client", func(c *codehost.Config) { c.ClientID = "other" }, guidon.Internal},
			{"secret", func(c *codehost.Config) { c.ClientSecret = "other" }, guidon.Internal},
			{"callback", func(c *codehost.Config) { c.RedirectURI = "https://other.example/" }, map[string]guidon.Code{
				codehost.GitHub: guidon.Internal, codehost.Gitea: guidon.Internal, codehost.GitLab: guidon.Unauthenticated,
			}[kind]},
		} {
			double := logintest.NewCodeHost(t, kind)
			c := configFor(double, kind)
			test.change(&c)
			host := newHost(t, c)
			_, err := identify(t.Context(), t, double, host, begin(t, host), "forged")
			checkError(t, err, test.want, double.URL+double.TokenPath)
			if failure, ok := errors.AsType[*provider.Failure](err); !ok || failure.Said == "" || failure.Status == 0 {
				t.Errorf("%s: error %v has no failure that says why", test.name, err)
			}
			if test.want == guidon.Internal && !strings.Contains(err.Error(), "check client_id, client_secret, redirect_address") {
				t.Errorf("%s: error %v does not say what to check", test.name, err)
			}
			if n := double.Requests(double.TokenPath); n != 1 {
				t.Errorf("%s: the code was sent %d times, want once", test.name, n)
			}
		}
		double, host := start(t, kind, nil)
		_, err := identify(t.Context(), t, double, host, begin(t, host), "forged")
		checkError(t, err, guidon.Unauthenticated)
	})
}

func TestTokenErrors(t *testing.T) {
	double, host := start(t, codehost.GitHub, nil)
	for _, test := range []struct {
		status int
		body   string
		want   guidon.Code
	}{
		{200, `{"error":"bad_verification_code","error_description":"hush-hush"}`, guidon.Unauthenticated},
		{200, `{"error":"bad_verification_code","access_token":"access-token-of-ada","token_type":"bearer"}`, guidon.Unauthenticated},
		{200, `{"error":"something_new"}`, guidon.Unauthenticated},
		{200, `{"error":"incorrect_client_credentials"}`, guidon.Internal},
		{200, `{"error":"redirect_uri_mismatch"}`, guidon.Internal},
		{200, `{"error":"unauthorized_client","error_description":"client is not authorized"}`, guidon.Internal}, // GitHub is not Gitea
		{400, `{"error":"invalid_client"}`, guidon.Internal},
		{401, `{"error":"invalid_client"}`, guidon.Internal},
		{400, `{"error":"unauthorized_client"}`, guidon.Internal},
		{400, `{"error":"unsupported_grant_type"}`, guidon.Internal},
		{404, `{"error":"Not Found"}`, guidon.Internal},
		{400, `{"error":"invalid_grant"}`, guidon.Unauthenticated},
		{403, `{"error":"access_denied"}`, guidon.Unauthenticated},
		{400, `{"error":"temporarily_unavailable"}`, guidon.Unavailable},
		{200, `{"error":"server_error"}`, guidon.Unavailable},
		{500, `{"error":"invalid_grant"}`, guidon.Unavailable},
		{503, `hush-hush`, guidon.Unavailable},
		{429, `{"error":"invalid_client"}`, guidon.Unavailable},
		{400, `hush-hush`, guidon.Unavailable},
		{403, `{"message":"hush-hush"}`, guidon.Unavailable},
		{404, `hush-hush`, guidon.Unavailable},
		{200, `{}`, guidon.Unavailable},
		{200, `{"access_token":"","token_type":"bearer"}`, guidon.Unavailable},
		{200, `{"access_token":"access-token-of-ada","token_type":"mac"}`, guidon.Unavailable},
		{200, `{"access_token":["access-token-of-ada"]}`, guidon.Unavailable},
	} {
		t.Run(fmt.Sprintf("%d %s", test.status, test.body), func(t *testing.T) {
			double.Serve(double.TokenPath, respond(test.status, test.body))
			_, err := signIn(t, double, host)
			checkError(t, err, test.want)
			if strings.Contains(err.Error(), logintest.Words) {
				t.Errorf("error %q has what the host said", err)
			}
		})
	}
	if n := double.Requests("/api/v3/user"); n != 0 {
		t.Errorf("the API got %d requests", n)
	}
}

// TestToken: nothing but the access token is needed.
func TestToken(t *testing.T) {
	double, host := start(t, codehost.GitLab, nil)
	for _, kind := range []string{`"Bearer"`, `"bearer"`, `""`, `null`} {
		double.Serve(double.TokenPath, respond(200, `{"access_token":"`+double.AccessToken+`","token_type":`+kind+`}`))
		if _, err := signIn(t, double, host); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func TestTokenFaults(t *testing.T) {
	forEach(t, func(t *testing.T, kind string) {
		double, host := start(t, kind, nil)
		for _, fault := range logintest.Faults() {
			double.Serve(double.TokenPath, fault.Handler)
			double.Serve("/elsewhere", http.NotFoundHandler())
			_, err := signIn(t, double, host)
			checkError(t, err, guidon.Unavailable)
		}
		if n := double.Requests("/elsewhere"); n != 0 {
			t.Error("the redirect was followed")
		}
		double.Close()
		_, err := signIn(t, double, host)
		checkError(t, err, guidon.Unavailable)
	})
}

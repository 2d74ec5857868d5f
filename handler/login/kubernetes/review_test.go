package kubernetes_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/kubernetes"
	"github.com/guidonhq/guidon/handler/login/logintest"
)

// audiences configures the audiences.
func audiences(names ...string) func(*kubernetes.Config) {
	return func(c *kubernetes.Config) { c.Audiences = names }
}

// TestReviewAudiences: which audiences a token is reviewed for, and whether it is accepted.
func TestReviewAudiences(t *testing.T) {
	const server = logintest.ClusterAudience
	for name, test := range map[string]struct {
		configured []string
		aud        any
		reviewed   bool
		requested  []string
		ok         bool
	}{
		"default, guidon":             {nil, "guidon", true, []string{"guidon"}, true},
		"default, guidon and others":  {nil, []string{"vault", "guidon", server}, true, []string{"guidon"}, true},
		"default, API server":         {nil, []string{server}, true, nil, true},
		"default, another":            {nil, []string{"vault"}, true, nil, false},
		"default, none":               {nil, nil, true, nil, false},
		"configured, the one":         {[]string{"flags"}, "flags", true, []string{"flags"}, true},
		"configured, one of two":      {[]string{"a", "b"}, []string{"b", "c"}, true, []string{"b"}, true},
		"configured, both":            {[]string{"a", "b"}, []string{"b", "a"}, true, []string{"a", "b"}, true},
		"configured, API server":      {[]string{server}, []string{server}, true, []string{server}, true},
		"configured, another":         {[]string{"flags"}, []string{"vault"}, false, nil, false},
		"configured, guidon":          {[]string{"flags"}, []string{"guidon"}, false, nil, false},
		"configured, API server's":    {[]string{"flags"}, []string{server}, false, nil, false},
		"configured, none":            {[]string{"flags"}, nil, false, nil, false},
		"configured, in another case": {[]string{"flags"}, []string{"Flags"}, false, nil, false},
	} {
		f := newFixture(t, audiences(test.configured...))
		token := f.token(map[string]any{"aud": test.aud})
		if test.ok {
			f.accept(t, name, token)
		} else {
			f.refuse(t, name, token)
		}
		var want []logintest.TokenReviewSpec
		if test.reviewed {
			want = []logintest.TokenReviewSpec{{Token: token, Audiences: test.requested}}
		}
		if diff := cmp.Diff(want, f.server.Reviews()); diff != "" {
			t.Errorf("%s: reviews (-want +got):\n%s", name, diff)
		}
	}
}

// TestReviewAnswers: the answer must be that the token is the one of the account, for the
// audience.
func TestReviewAnswers(t *testing.T) {
	for name, change := range map[string]func(*logintest.TokenReview){
		"not authenticated":      func(r *logintest.TokenReview) { r.Status.Authenticated = false },
		"error":                  func(r *logintest.TokenReview) { r.Status.Error = "cannot tell" },
		"no status":              func(r *logintest.TokenReview) { r.Status = logintest.TokenReviewStatus{} },
		"no audiences":           func(r *logintest.TokenReview) { r.Status.Audiences = nil },
		"other audiences":        func(r *logintest.TokenReview) { r.Status.Audiences = []string{"vault", logintest.ClusterAudience} },
		"person":                 func(r *logintest.TokenReview) { r.Status.User.Username = "ada" },
		"another account":        func(r *logintest.TokenReview) { r.Status.User.Username = "system:serviceaccount:shop:admin" },
		"another namespace":      func(r *logintest.TokenReview) { r.Status.User.Username = "system:serviceaccount:x:checkout" },
		"longer name":            func(r *logintest.TokenReview) { r.Status.User.Username += ":x" },
		"prefix":                 func(r *logintest.TokenReview) { r.Status.User.Username = "oidc:" + r.Status.User.Username },
		"no user":                func(r *logintest.TokenReview) { r.Status.User.Username = "" },
		"uid of a later account": func(r *logintest.TokenReview) { r.Status.User.UID = "another" },
	} {
		f := newFixture(t, nil)
		f.server.Change(change)
		f.refuse(t, name, f.token(nil))
		f.server.Change(func(*logintest.TokenReview) {})
		f.accept(t, name, f.token(nil))
	}

	f := newFixture(t, nil) // for the audience of the API server it need not name one
	f.server.Change(func(r *logintest.TokenReview) { r.Status.Audiences = nil })
	f.accept(t, "API server's audience", f.token(map[string]any{"aud": logintest.ClusterAudience}))
}

// TestDeleted: the API server knows that an account no longer exists; keys do not.
func TestDeleted(t *testing.T) {
	for mode, change := range modes {
		f := newFixture(t, change)
		f.accept(t, mode, f.token(nil))
		f.server.Delete("shop", "checkout")
		if mode == "keys" {
			f.accept(t, mode, f.token(nil))
			continue
		}
		f.refuse(t, mode, f.token(nil))
	}
}

// TestOwnTokenRefused: it is the service that is misconfigured if it must not ask.
func TestOwnTokenRefused(t *testing.T) {
	for code, want := range map[int]string{
		http.StatusUnauthorized: "does not accept our own token",
		http.StatusForbidden:    "system:auth-delegator",
	} {
		f := newFixture(t, nil)
		f.server.Serve(logintest.ReviewPath, logintest.Refuse(code))
		err := f.fail(t, want, f.token(nil), guidon.Internal)
		if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), logintest.Words) || guidon.PublicMessage(err) != "internal error" {
			t.Errorf("status %d: the log has %q, clients see %q", code, err, guidon.PublicMessage(err))
		}
	}
}

// TestReviewFaults: an API server that cannot be used is not the fault of the token. What
// it says does not reach clients.
func TestReviewFaults(t *testing.T) {
	faults := append(logintest.Faults(),
		logintest.Fault{Name: "status 404", Handler: logintest.Refuse(http.StatusNotFound)},
		logintest.Fault{Name: "status 400", Handler: logintest.Refuse(http.StatusBadRequest)},
		logintest.Fault{Name: "another object", Handler: func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"kind":"` + logintest.Words + `","apiVersion":"v1","status":{"authenticated":true}}`))
		}},
		logintest.Fault{Name: "another version", Handler: func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"kind":"TokenReview","apiVersion":"authentication.k8s.io/v2` + logintest.Words + `"}`))
		}},
	)
	for _, fault := range faults {
		f := newFixture(t, nil)
		f.server.Serve(logintest.ReviewPath, fault.Handler)
		token := f.token(nil)
		err := f.fail(t, fault.Name, token, guidon.Unavailable)
		if strings.Contains(guidon.PublicMessage(err), logintest.Words) {
			t.Errorf("%s: clients see %q", fault.Name, guidon.PublicMessage(err))
		}
		for _, part := range append(strings.Split(token, "."), f.server.Own) {
			if strings.Contains(err.Error(), part) {
				t.Errorf("%s: the log has a token: %v", fault.Name, err)
			}
		}
	}
	f := newFixture(t, nil)
	f.server.Close()
	f.fail(t, "no server", f.token(nil), guidon.Unavailable)
}

// TestNoRedirect: neither the token nor our own goes anywhere else.
func TestNoRedirect(t *testing.T) {
	f := newFixture(t, nil)
	f.server.Serve(logintest.ReviewPath, http.RedirectHandler("/elsewhere", http.StatusTemporaryRedirect))
	f.fail(t, "redirect", f.token(nil), guidon.Unavailable)
	if n := f.server.Requests("/elsewhere"); n != 0 {
		t.Errorf("%d requests elsewhere", n)
	}
}

// TestErrors: the log learns why, without the token.
func TestErrors(t *testing.T) {
	f := newFixture(t, nil)
	f.server.Change(func(r *logintest.TokenReview) {
		r.Status = logintest.TokenReviewStatus{Error: "invalidated\n\x1b[2J" + strings.Repeat("x", 1000)}
	})
	token := f.token(nil)
	_, err := f.Verify(t.Context(), token)
	if got := err.Error(); !strings.Contains(got, "invalidated [2Jxxx") || len(got) > 400 || strings.Contains(got, token) {
		t.Errorf("the log has %q", got)
	}
}

package oidc_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/logintest"
	"github.com/guidonhq/guidon/handler/login/oidc"
	"github.com/guidonhq/guidon/handler/login/provider"
)

func TestRejectedCode(t *testing.T) {
	plain := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "<p>"+logintest.Words, status) }
	}
	for _, test := range []struct {
		name    string
		handler http.HandlerFunc
		want    guidon.Code
		cause   string
	}{
		{"invalid_grant", logintest.Reject(400, "invalid_grant"), guidon.Unauthenticated, "status 400: invalid_grant"},
		{"invalid_request", logintest.Reject(400, "invalid_request"), guidon.Unauthenticated, "invalid_request"},
		{"a code of its own", logintest.Reject(400, logintest.Words), guidon.Unauthenticated, "status 400"},
		{"status of success", logintest.Reject(200, "invalid_grant"), guidon.Unauthenticated, "status 200: invalid_grant"},
		{"invalid_client", logintest.Reject(401, "invalid_client"), guidon.Internal, "rejected our client_id or client_secret"},
		{"invalid_client with 400", logintest.Reject(400, "invalid_client"), guidon.Internal, "status 400: invalid_client"},
		{"unauthorized_client", logintest.Reject(400, "unauthorized_client"), guidon.Internal, "unauthorized_client"},
		{"401 without a code", plain(401), guidon.Internal, "status 401"},
		{"400 without a code", plain(400), guidon.Unauthenticated, "status 400"},
		{"403 without a code", plain(403), guidon.Unauthenticated, "status 403"},
		{"404", plain(404), guidon.Unavailable, "status 404"},
		{"405", plain(405), guidon.Unavailable, "status 405"},
		{"429", logintest.Reject(429, "invalid_grant"), guidon.Unavailable, "status 429"},
		{"500", logintest.Reject(500, "invalid_client"), guidon.Unavailable, "status 500"},
		{"503", plain(503), guidon.Unavailable, "status 503"},
		{"temporarily_unavailable", logintest.Reject(400, "temporarily_unavailable"), guidon.Unavailable, "status 400"},
		{"server_error", logintest.Reject(400, "server_error"), guidon.Unavailable, "status 400"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, nil)
			w.remote.Serve(logintest.TokenPath, test.handler)
			_, err := w.signIn(t)
			checkCode(t, err, test.want, test.cause)
			failure, ok := errors.AsType[*provider.Failure](err)
			if !ok || !strings.Contains(failure.Said, logintest.Words) || strings.Contains(err.Error(), logintest.Words) {
				t.Errorf("got %v; want a failure that keeps what the provider said apart", err)
			}
			if n := w.remote.Requests(logintest.TokenPath); n != 1 {
				t.Errorf("the code was sent %d times, want once", n)
			}
		})
	}
}

// TestRepeatedSecrets: a provider that repeats our secrets does not bring them into logs.
func TestRepeatedSecrets(t *testing.T) {
	for mediaType, want := range map[string]string{
		"application/json": "invalid_grant: bad [redacted] [redacted] [redacted] [redacted]",
		"text/plain":       `{"error":"invalid_grant","error_description":"bad [redacted] [redacted] [redacted] [redacted]"}`,
	} {
		w := newWorld(t, nil)
		w.remote.Serve(logintest.TokenPath, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			_, secret, _ := r.BasicAuth()
			plain, _ := url.QueryUnescape(secret)
			rw.Header().Set("Content-Type", mediaType)
			rw.WriteHeader(http.StatusBadRequest)
			_, _ = fmt.Fprintf(rw, `{"error":"invalid_grant","error_description":"bad %s %s %s %s"}`,
				r.FormValue("code"), r.FormValue("code_verifier"), secret, strings.ReplaceAll(plain, "/", `\/`))
		}))
		_, err := w.signIn(t)
		failure, ok := errors.AsType[*provider.Failure](err)
		if !ok || failure.Said != want {
			t.Errorf("got %+v, want that it said %q", failure, want)
		}
	}
}

// TestFaults: a provider that misbehaves, wherever it does, is unavailable.
func TestFaults(t *testing.T) {
	for _, path := range []string{logintest.DiscoveryPath, logintest.TokenPath, logintest.KeysPath, logintest.UserinfoPath} {
		for _, fault := range logintest.Faults() {
			t.Run(path+" "+fault.Name, func(t *testing.T) {
				w := newWorld(t, func(c *oidc.Config) { c.Userinfo = true })
				a, code := w.authorize(t)
				w.clock.Advance(25 * time.Hour) // nothing is remembered
				w.remote.Serve(path, fault.Handler)
				_, err := w.Identify(t.Context(), a, code)
				checkCode(t, err, guidon.Unavailable, path)
				w.checkDiscreet(t, err, a, code)
				if n := w.remote.Requests("/elsewhere"); n != 0 {
					t.Error("a redirect was followed")
				}
			})
		}
	}
}

func TestUnusableResponses(t *testing.T) {
	for name, change := range map[string]func(map[string]any){
		"no access token": func(m map[string]any) { delete(m, "access_token") },
		"wrong type":      func(m map[string]any) { m["access_token"] = 1 },
		"wrong expiry":    func(m map[string]any) { m["expires_in"] = logintest.Words },
		"too large":       func(m map[string]any) { m["x"] = strings.Repeat("x", 2<<20) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			w.flow.Response = change
			_, err := w.signIn(t)
			checkCode(t, err, guidon.Unavailable, "too large, malformed or without access_token")
			if strings.Contains(err.Error(), logintest.Words) {
				t.Errorf("error %q quotes the response", err)
			}
		})
	}
}

// TestUnreachable: without the provider, its users get an error, and nothing panics.
func TestUnreachable(t *testing.T) {
	w := newWorld(t, nil)
	a, code := w.authorize(t)
	w.remote.Close()
	_, err := w.Identify(t.Context(), a, code)
	checkCode(t, err, guidon.Unavailable, logintest.TokenPath)
	w.checkDiscreet(t, err, a, code)
}

// TestKeysTooOld: keys that become too old at any moment of an attempt, and cannot be had again, are not
// the fault of the person.
func TestKeysTooOld(t *testing.T) {
	for moment := 1; ; moment++ {
		reads := -1 // of the clock since the keys could not be had any more; -1 before
		var w *world
		w = newWorld(t, func(c *oidc.Config) {
			c.Now = func() time.Time {
				if reads >= 0 {
					if reads++; reads == moment {
						w.clock.Advance(time.Second)
					}
				}
				return w.clock.Now()
			}
		})
		w.mustSignIn(t)
		w.clock.Advance(provider.MaxAge - time.Second)
		a, code := w.authorize(t)
		w.remote.Serve(logintest.KeysPath, http.NotFoundHandler())
		reads = 0
		if _, err := w.Identify(t.Context(), a, code); err != nil && guidon.CodeOf(err) != guidon.Unavailable {
			t.Errorf("at the reading %d of the clock: got %v with code %v, want Unavailable", moment, err, guidon.CodeOf(err))
		}
		if reads < moment {
			return
		}
	}
}

// TestCanceled: the provider is not unavailable because a client leaves.
func TestCanceled(t *testing.T) {
	for _, path := range []string{logintest.TokenPath, logintest.UserinfoPath} {
		t.Run(path, func(t *testing.T) {
			w := newWorld(t, func(c *oidc.Config) { c.Userinfo = true })
			a, code := w.authorize(t)
			begun := make(chan struct{}, 10)
			w.remote.Serve(path, logintest.Hang(begun))
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				<-begun
				cancel()
			}()
			_, err := w.Identify(ctx, a, code)
			checkCode(t, err, guidon.Canceled, "")
			w.checkDiscreet(t, err, a, code)
		})
	}
	w := newWorld(t, nil)
	a, code := w.authorize(t)
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	_, err := w.Identify(ctx, a, code)
	checkCode(t, err, guidon.DeadlineExceeded, "")
}

// TestWaiting: at most 64 calls wait for the provider.
func TestWaiting(t *testing.T) {
	w := newWorld(t, nil)
	a, code := w.authorize(t)
	for range provider.MaxAttempts {
		if _, err := w.Enter(); err != nil {
			t.Fatal(err)
		}
	}
	_, err := w.AuthorizeURL(t.Context(), a)
	checkCode(t, err, guidon.Unavailable, "64")
	_, err = w.Identify(t.Context(), a, code)
	checkCode(t, err, guidon.Unavailable, "64")
	_, err = w.VerifyLogout(t.Context(), "x")
	checkCode(t, err, guidon.Unavailable, "64")
	if n := w.remote.Requests(logintest.TokenPath); n != 0 {
		t.Errorf("%d requests with the code, want none", n)
	}
	checkCode(t, w.CheckIssuer(t.Context(), ""), guidon.Unavailable, "64")
	if err := w.CheckIssuer(t.Context(), w.remote.URL); err != nil {
		t.Errorf("a check that need not wait: %v", err)
	}
}

// TestLeave: calls that have returned no longer count.
func TestLeave(t *testing.T) {
	w := newWorld(t, nil)
	for range provider.MaxAttempts + 1 {
		w.mustSignIn(t)
	}
}

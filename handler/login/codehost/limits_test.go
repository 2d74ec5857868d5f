package codehost_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/codehost"
	"github.com/guidonhq/guidon/handler/login/logintest"
	"github.com/guidonhq/guidon/handler/login/provider"
)

// TestContext: if the client leaves, that is the error.
func TestContext(t *testing.T) {
	forEach(t, func(t *testing.T, kind string) {
		double, host := start(t, kind, nil)
		for _, path := range append([]string{double.TokenPath}, paths[kind]...) {
			begun := make(chan struct{}, 1)
			old := double.Serve(path, logintest.Hang(begun))
			ctx, cancel := context.WithCancel(t.Context())
			go func() { <-begun; cancel() }()
			_, err := signInContext(ctx, t, double, host)
			checkError(t, err, guidon.Canceled)

			ctx, cancel = context.WithTimeout(t.Context(), 20*time.Millisecond)
			_, err = signInContext(ctx, t, double, host)
			cancel()
			checkError(t, err, guidon.DeadlineExceeded)
			double.Serve(path, old)
		}
	})
}

// TestAttempts: only so many attempts wait for the host, and those that have ended do not
// count.
func TestAttempts(t *testing.T) {
	double, host := start(t, codehost.GitLab, nil)
	for range 2 * provider.MaxAttempts {
		_, err := identify(t.Context(), t, double, host, begin(t, host), "forged")
		checkError(t, err, guidon.Unauthenticated)
	}
	begun, release := make(chan struct{}, provider.MaxAttempts), make(chan struct{})
	old := double.Serve(double.TokenPath, nil)
	double.Serve(double.TokenPath, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun <- struct{}{}
		<-release
		old.ServeHTTP(w, r)
	}))
	var all sync.WaitGroup
	for range provider.MaxAttempts {
		a := begin(t, host)
		all.Go(func() { _, _ = host.Identify(t.Context(), a, "forged") })
	}
	for range provider.MaxAttempts {
		<-begun
	}
	before := double.Requests(double.TokenPath)
	_, err := signIn(t, double, host)
	checkError(t, err, guidon.Unavailable, "64 attempts")
	if n := double.Requests(double.TokenPath); n != before {
		t.Errorf("the host got %d requests more", n-before)
	}
	close(release)
	all.Wait()
	if _, err := signIn(t, double, host); err != nil {
		t.Error(err)
	}
}

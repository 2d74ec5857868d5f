package machine_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/cmd/internal/machine"
)

func listenLoopback(t *testing.T) *machine.Receiver {
	t.Helper()
	r, err := machine.ListenLoopback()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// send sends a request to the receiver and returns the status, the headers and the page.
func sendCallback(t *testing.T, r *machine.Receiver, method, target, host string) (int, http.Header, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, fmt.Sprintf("http://127.0.0.1:%d%s", r.Port(), target), nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Host = host
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, response.Header, string(body)
}

// TestReceive: requests that are not the response are refused and change nothing. The
// response is received once.
func TestReceive(t *testing.T) {
	r := listenLoopback(t)
	here := fmt.Sprintf("127.0.0.1:%d", r.Port())
	state := url.QueryEscape(r.State())
	good := machine.CallbackPath + "?code=c-1_2&state=" + state
	other := "A" + state[1:]
	if other == state {
		other = "B" + state[1:]
	}
	tests := []struct {
		name, method, target, host string
		want                       int
	}{
		{"no query", "GET", machine.CallbackPath, here, http.StatusForbidden},
		{"no state", "GET", machine.CallbackPath + "?code=x", here, http.StatusForbidden},
		{"empty state", "GET", machine.CallbackPath + "?code=x&state=", here, http.StatusForbidden},
		{"another state", "GET", machine.CallbackPath + "?code=x&state=" + other, here, http.StatusForbidden},
		{"the beginning of the state", "GET", machine.CallbackPath + "?code=x&state=" + state[:len(state)-1], here, http.StatusForbidden},
		{"two states", "GET", good + "&state=" + state, here, http.StatusForbidden},
		{"no code", "GET", machine.CallbackPath + "?state=" + state, here, http.StatusBadRequest},
		{"empty code", "GET", machine.CallbackPath + "?code=&state=" + state, here, http.StatusBadRequest},
		{"two codes", "GET", good + "&code=x", here, http.StatusBadRequest},
		{"a code and an error", "GET", good + "&error=access_denied", here, http.StatusBadRequest},
		{"two errors", "GET", machine.CallbackPath + "?state=" + state + "&error=a&error=b", here, http.StatusBadRequest},
		{"an error with another state", "GET", machine.CallbackPath + "?state=x&error=access_denied", here, http.StatusForbidden},
		{"long code", "GET", machine.CallbackPath + "?state=" + state + "&code=" + strings.Repeat("x", 2049), here, http.StatusBadRequest},
		{"long query", "GET", good + "&x=" + strings.Repeat("x", 8192), here, http.StatusRequestURITooLong},
		{"malformed query", "GET", good + "&x=%zz", here, http.StatusBadRequest},
		{"another path", "GET", "/?code=x&state=" + state, here, http.StatusNotFound},
		{"a path below", "GET", machine.CallbackPath + "/?code=x&state=" + state, here, http.StatusNotFound},
		{"POST", "POST", good, here, http.StatusMethodNotAllowed},
		{"HEAD", "HEAD", good, here, http.StatusMethodNotAllowed},
		{"another name", "GET", good, fmt.Sprintf("evil.example:%d", r.Port()), http.StatusMisdirectedRequest},
		{"localhost", "GET", good, fmt.Sprintf("localhost:%d", r.Port()), http.StatusMisdirectedRequest},
		{"another port", "GET", good, "127.0.0.1:1", http.StatusMisdirectedRequest},
	}
	for _, tt := range tests {
		if got, _, page := sendCallback(t, r, tt.method, tt.target, tt.host); got != tt.want || strings.Contains(page, r.State()) {
			t.Errorf("%s: got %d %q, want %d and a page without the state", tt.name, got, page, tt.want)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if code, err := r.Receive(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("got code %q and error %v, want that nothing was received", code, err)
	}

	status, headers, page := sendCallback(t, r, "GET", good, here)
	if status != http.StatusOK || !strings.Contains(page, "may close this window") || strings.Contains(page, "c-1_2") {
		t.Errorf("got %d %q, want the page without the code", status, page)
	}
	want := map[string]string{
		"Content-Security-Policy":      "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
		"Content-Type":                 "text/html; charset=utf-8",
		"X-Content-Type-Options":       "nosniff",
		"X-Frame-Options":              "DENY",
		"Referrer-Policy":              "no-referrer",
		"Cache-Control":                "no-store",
		"Cross-Origin-Opener-Policy":   "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin",
	}
	got := make(map[string]string)
	for name := range want {
		got[name] = headers.Get(name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	if code, err := r.Receive(t.Context()); code != "c-1_2" || err != nil {
		t.Errorf("got code %q and error %v", code, err)
	}
	if status, _, _ := sendCallback(t, r, "GET", good, here); status != http.StatusGone {
		t.Errorf("the second time: got %d, want %d", status, http.StatusGone)
	}
}

// TestDenied: the error of somebody who denied the request ends the wait.
func TestSignInDenied(t *testing.T) {
	r := listenLoopback(t)
	status, _, page := sendCallback(t, r, "GET", machine.CallbackPath+"?error=access_denied&state="+r.State(), fmt.Sprintf("127.0.0.1:%d", r.Port()))
	if status != http.StatusOK || !strings.Contains(page, "Denied") {
		t.Errorf("got %d %q, want the page about it", status, page)
	}
	if code, err := r.Receive(t.Context()); !errors.Is(err, machine.ErrSignInDenied) {
		t.Errorf("got code %q and error %v, want ErrDenied", code, err)
	}
}

// TestOnce: of several responses with the state, one is received.
func TestReceiveOnce(t *testing.T) {
	r := listenLoopback(t)
	here := fmt.Sprintf("127.0.0.1:%d", r.Port())
	var accepted atomic.Int32
	var group sync.WaitGroup
	for i := range 10 {
		group.Go(func() {
			if status, _, _ := sendCallback(t, r, "GET", fmt.Sprintf("%s?code=%d&state=%s", machine.CallbackPath, i, r.State()), here); status == http.StatusOK {
				accepted.Add(1)
			}
		})
	}
	group.Wait()
	if got := accepted.Load(); got != 1 {
		t.Errorf("got %d accepted responses, want 1", got)
	}
}

// TestListen: each receiver has a port and a state of its own, which cannot be guessed,
// and does not listen any longer when it is closed.
func TestListenLoopback(t *testing.T) {
	a, b := listenLoopback(t), listenLoopback(t)
	if a.Port() == b.Port() || a.State() == b.State() || len(a.State()) < 26 {
		t.Errorf("got ports %d, %d and states %q, %q", a.Port(), b.Port(), a.State(), b.State())
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if _, err := a.Receive(t.Context()); !errors.Is(err, http.ErrServerClosed) {
		t.Errorf("got error %v, want that it is closed", err)
	}
	client := http.Client{Timeout: time.Second}
	if response, err := client.Get(fmt.Sprintf("http://127.0.0.1:%d/", a.Port())); err == nil {
		response.Body.Close()
		t.Error("it still listens")
	}
}

package provider_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/logintest"
	"github.com/guidonhq/guidon/handler/login/provider"
)

// checkUnavailable checks that the error is Unavailable and does not tell clients what
// the provider said.
func checkUnavailable(t *testing.T, err error) *provider.Failure {
	t.Helper()
	if got := guidon.CodeOf(err); got != guidon.Unavailable {
		t.Fatalf("got %v with code %v, want Unavailable", err, got)
	}
	if got, want := guidon.PublicMessage(err), `provider "acme" is unavailable; try again later`; got != want {
		t.Errorf("clients see %q, want %q", got, want)
	}
	if strings.Contains(err.Error(), "query") {
		t.Errorf("error %q has the query", err)
	}
	failure, ok := errors.AsType[*provider.Failure](err)
	if !ok {
		t.Fatalf("error %v has no failure", err)
	}
	return failure
}

func TestFaults(t *testing.T) {
	for _, fault := range logintest.Faults() {
		t.Run(fault.Name, func(t *testing.T) {
			p := logintest.NewProvider(t)
			p.Config.ErrorLog = discard()
			p.Serve("/document", fault.Handler)
			p.Publish("/elsewhere", map[string]string{})
			var into struct{ Issuer string }
			failure := checkUnavailable(t, newClient(t, provider.Config{}).Document(t.Context(), p.URL+"/document?query", &into))
			if failure.URL != p.URL+"/document" || failure.Provider != "acme" {
				t.Errorf("failure of %s at %s, want acme at /document", failure.Provider, failure.URL)
			}
			if failure.Status != 0 != (failure.Said != "") {
				t.Errorf("status %d and said %q; only a status of an error may come with words", failure.Status, failure.Said)
			}
			if n := p.Requests("/elsewhere"); n != 0 {
				t.Errorf("the redirect was followed")
			}
		})
	}
}

func TestUnreachable(t *testing.T) {
	p := logintest.NewProvider(t)
	p.Close()
	checkUnavailable(t, newClient(t, provider.Config{}).Document(t.Context(), p.URL+"?query", new(any)))
}

func TestTimeout(t *testing.T) {
	client := newClient(t, provider.Config{})
	if got := client.HTTP().Timeout; got != 5*time.Second {
		t.Errorf("timeout is %v, want 5s", got)
	}
	client.SetTimeout(50 * time.Millisecond)
	p := logintest.NewProvider(t)
	p.Serve("/hang", logintest.Hang(make(chan struct{}, 1)))
	p.Serve("/drip", http.HandlerFunc(logintest.Drip))
	for _, path := range []string{"/hang", "/drip"} {
		checkUnavailable(t, client.Document(t.Context(), p.URL+path, new(any)))
	}
}

func TestContext(t *testing.T) {
	p := logintest.NewProvider(t)
	begun := make(chan struct{}, 1)
	p.Serve("/hang", logintest.Hang(begun))
	client := newClient(t, provider.Config{})

	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-begun; cancel() }()
	if err := client.Document(ctx, p.URL+"/hang", new(any)); guidon.CodeOf(err) != guidon.Canceled {
		t.Errorf("got %v, want Canceled", err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := client.Document(ctx, p.URL+"/hang", new(any)); guidon.CodeOf(err) != guidon.DeadlineExceeded {
		t.Errorf("got %v, want DeadlineExceeded", err)
	}
}

func TestStatus(t *testing.T) {
	p := logintest.NewProvider(t)
	for _, test := range []struct {
		status int
		want   guidon.Code
	}{
		{300, guidon.Unavailable}, {301, guidon.Unavailable}, {304, guidon.Unavailable}, {307, guidon.Unavailable},
		{400, guidon.Internal}, {401, guidon.Internal}, {403, guidon.Internal}, {404, guidon.Internal},
		{429, guidon.Unavailable}, {500, guidon.Unavailable}, {503, guidon.Unavailable}, {599, guidon.Unavailable},
	} {
		p.Serve("/", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(test.status)
		}))
		client := newClient(t, provider.Config{})
		_, err := client.Do(t.Context(), provider.Request{URL: p.URL + "/"})
		failure, ok := errors.AsType[*provider.Failure](err)
		if got := guidon.CodeOf(err); !ok || got != test.want {
			t.Errorf("%d: got %v with code %v, want %v", test.status, err, got, test.want)
		} else if test.status >= 400 && failure.Status != test.status {
			t.Errorf("%d: the failure has status %d", test.status, failure.Status)
		}
		if err := client.Document(t.Context(), p.URL+"/", new(any)); guidon.CodeOf(err) != guidon.Unavailable {
			t.Errorf("%d: document: got %v, want Unavailable", test.status, err)
		}
	}
}

// TestRateLimit: a 403 that says when to come back rejects nobody.
func TestRateLimit(t *testing.T) {
	p := logintest.NewProvider(t)
	for _, test := range []struct {
		header, value string
		want          guidon.Code
	}{
		{"Retry-After", "60", guidon.Unavailable},
		{"X-RateLimit-Remaining", "0", guidon.Unavailable},
		{"X-RateLimit-Remaining", "4999", guidon.Internal},
		{"X-RateLimit-Limit", "0", guidon.Internal},
	} {
		p.Serve("/", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set(test.header, test.value)
			w.WriteHeader(http.StatusForbidden)
		}))
		_, err := newClient(t, provider.Config{}).Do(t.Context(), provider.Request{URL: p.URL + "/"})
		if got := guidon.CodeOf(err); got != test.want {
			t.Errorf("%s: %s: got %v with code %v, want %v", test.header, test.value, err, got, test.want)
		}
	}
}

// TestStatusOfIncompleteBody: what the provider decided counts, however much it says.
func TestStatusOfIncompleteBody(t *testing.T) {
	p := logintest.NewProvider(t)
	p.Serve("/huge", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, strings.Repeat("no ", provider.MaxBody))
	}))
	p.Serve("/truncated", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, "no no")
	}))
	for _, path := range []string{"/huge", "/truncated"} {
		_, err := newClient(t, provider.Config{}).Do(t.Context(), provider.Request{URL: p.URL + path})
		failure, ok := errors.AsType[*provider.Failure](err)
		if !ok || failure.Status != http.StatusForbidden || !strings.HasPrefix(failure.Said, "no no") || guidon.CodeOf(err) != guidon.Internal {
			t.Errorf("%s: got %v, want status 403", path, err)
		}
	}
}

func TestSaid(t *testing.T) {
	p := logintest.NewProvider(t)
	for _, test := range []struct{ name, body, want string }{
		{"text", "out of order\r\n\x1b[31m", "out of order [31m"},
		{"OAuth", `{"error":"invalid_client","error_description":"no such client","client_secret":"hush"}`, "invalid_client: no such client"},
		{"message", `{"message":"Not Found"}`, "Not Found"},
		{"other members", `{"code":"hush","error":{"code":1}}`, ""},
		{"long", strings.Repeat("ä", 1000), strings.Repeat("ä", 200)},
		{"binary", "a\xff\xfe\u202e\u0000b", "a b"},
		{"nothing", "", ""},
	} {
		p.Serve("/", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, test.body)
		}))
		_, err := newClient(t, provider.Config{}).Do(t.Context(), provider.Request{URL: p.URL + "/"})
		failure, ok := errors.AsType[*provider.Failure](err)
		if !ok || failure.Said != test.want {
			t.Errorf("%s: got %v, which says %q, want %q", test.name, err, failure.Said, test.want)
		}
		if test.want != "" && strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: the text of the error has it: %v", test.name, err)
		}
	}
}

func TestPrintable(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", ""}, {" a  b ", "a b"}, {"\n\t", ""}, {"a\x00b", "a b"}, {"a\u200bb", "a b"},
		{strings.Repeat("a", 200), strings.Repeat("a", 200)},
		{strings.Repeat("a", 201), strings.Repeat("a", 200)},
		{strings.Repeat("a", 199) + " b", strings.Repeat("a", 199)},
		{strings.Repeat("a ", 300), strings.Repeat("a ", 99) + "a"},
	} {
		if got := provider.Printable(test.text); got != test.want {
			t.Errorf("%q: got %q, want %q", test.text, got, test.want)
		} else if utf8.RuneCountInString(got) > 200 {
			t.Errorf("%q: %d characters", test.text, utf8.RuneCountInString(got))
		}
	}
}

func TestBodyLimit(t *testing.T) {
	p := logintest.NewProvider(t)
	for _, test := range []struct {
		size int
		ok   bool
	}{{provider.MaxBody, true}, {provider.MaxBody + 1, false}} {
		p.Serve("/", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(make([]byte, test.size))
		}))
		_, err := newClient(t, provider.Config{}).Do(t.Context(), provider.Request{URL: p.URL + "/"})
		if ok := err == nil; ok != test.ok {
			t.Errorf("%d bytes: got error %v, want success: %v", test.size, err, test.ok)
		}
		if !test.ok && !strings.Contains(err.Error(), "the body exceeds 1048576 bytes") {
			t.Errorf("error %q does not name the limit", err)
		}
	}
}

func TestRequest(t *testing.T) {
	type seen struct{ Method, Authorization, ContentType, Accept, Body string }
	p := logintest.NewProvider(t)
	got := make(chan seen, 1)
	p.Serve("/", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- seen{r.Method, r.Header.Get("Authorization"), r.Header.Get("Content-Type"), r.Header.Get("Accept"), string(body)}
		w.Header().Set("Etag", "x")
		_, _ = w.Write([]byte("answer"))
	}))
	const accept = "application/json"
	own := func() (string, error) { return "own", nil }
	for _, test := range []struct {
		name    string
		config  provider.Config
		request provider.Request
		want    seen
	}{
		{"plain", provider.Config{}, provider.Request{}, seen{"GET", "", "", accept, ""}},
		{"with a body", provider.Config{}, provider.Request{JSON: map[string]int{"a": 1}}, seen{"POST", "", accept, accept, `{"a":1}`}},
		{"with our token", provider.Config{Bearer: own}, provider.Request{}, seen{"GET", "Bearer own", "", accept, ""}},
		{"with another token", provider.Config{Bearer: own}, provider.Request{Bearer: "x"}, seen{"GET", "Bearer x", "", accept, ""}},
		{"with our token, which is none", provider.Config{Bearer: func() (string, error) { return "", nil }}, provider.Request{}, seen{"GET", "", "", accept, ""}},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.request.URL = p.URL + "/"
			response, err := newClient(t, test.config).Do(t.Context(), test.request)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, <-got); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
			if string(response.Body) != "answer" || response.Header.Get("Etag") != "x" {
				t.Errorf("got response %+v", response)
			}
		})
	}
}

func TestOurTokenFails(t *testing.T) {
	p := logintest.NewProvider(t)
	cause := errors.New("no such file")
	client := newClient(t, provider.Config{Bearer: func() (string, error) { return "", cause }})
	for _, body := range []any{nil, 1} {
		_, err := client.Do(t.Context(), provider.Request{URL: p.URL + "/keys", JSON: body})
		checkUnavailable(t, err)
		if !errors.Is(err, cause) {
			t.Errorf("got %v, want the cause", err)
		}
	}
	if n := p.Requests("/keys"); n != 0 {
		t.Errorf("%d requests without the token", n)
	}
}

func TestRequestErrors(t *testing.T) {
	client := newClient(t, provider.Config{})
	for _, r := range []provider.Request{{URL: "http://[::1"}, {URL: ""}, {URL: "http://127.0.0.1", JSON: func() {}}} {
		_, err := client.Do(t.Context(), r)
		checkUnavailable(t, err)
	}
	if _, err := provider.New(provider.Config{}); err == nil {
		t.Error("a client without a name was made")
	}
}

func TestDocumentIsDecoded(t *testing.T) {
	p := logintest.NewProvider(t)
	var got map[string]any
	if err := newClient(t, provider.Config{}).Document(t.Context(), p.URL+logintest.DiscoveryPath, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p.Discovery(), got); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
}

func TestCheckURL(t *testing.T) {
	for _, test := range []struct {
		url             string
		strict, relaxed bool
	}{
		{"https://acme.example", true, true},
		{"https://acme.example:8443/a?b=c", true, true},
		{"https://127.0.0.1", true, true},
		{"http://127.0.0.1:8080/a", false, true},
		{"http://127.8.9.1", false, true},
		{"http://[::1]:80", false, true},
		{"http://localhost", false, true},
		{"http://acme.example", false, false},
		{"http://localhost.acme.example", false, false},
		{"http://127.0.0.1.acme.example", false, false},
		{"http://10.0.0.1", false, false},
		{"http://0.0.0.0", false, false},
		{"https://user@acme.example", false, false},
		{"https://acme.example#a", false, false},
		{"https://", false, false},
		{"https://:443", false, false},
		{"https:acme.example", false, false},
		{"//acme.example", false, false},
		{"/path", false, false},
		{"", false, false},
		{"ftp://127.0.0.1", false, false},
		{"javascript:alert(1)", false, false},
		{"https://acme.example/%zz", false, false},
	} {
		for allowHTTP, want := range map[bool]bool{false: test.strict, true: test.relaxed} {
			if err := provider.CheckURL(test.url, allowHTTP); (err == nil) != want {
				t.Errorf("%q with HTTP %v: got %v, want it accepted: %v", test.url, allowHTTP, err, want)
			}
		}
	}
}

func FuzzPrintable(f *testing.F) {
	f.Add("text \x00")
	f.Add(`{"error":"a"}`)
	f.Fuzz(func(t *testing.T, text string) {
		got := provider.Printable(text)
		if n := utf8.RuneCountInString(got); n > 200 || !utf8.ValidString(got) || strings.TrimSpace(got) != got {
			t.Errorf("%q: got %q of %d characters", text, got, n)
		}
		if b, err := json.Marshal(got); err != nil || strings.Contains(string(b), `\u00`) && !strings.ContainsAny(got, "<>&") {
			t.Errorf("%q: %q has control characters", text, got)
		}
	})
}

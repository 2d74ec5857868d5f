package provider_test

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/logintest"
	"github.com/guidonhq/guidon/handler/login/provider"
)

// serveList answers /list with the given number of pages, whose link is by form. The
// handler fails requests without the token.
func serveList(p *logintest.Provider, pages int, link func(n int) string) {
	p.Serve("/list", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer person" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		n, _ := strconv.Atoi(r.URL.Query().Get("page"))
		if n+1 < pages {
			w.Header().Add("Link", link(n+1))
		}
		_, _ = fmt.Fprint(w, n)
	}))
}

func readList(t *testing.T, p *logintest.Provider) (string, error) {
	t.Helper()
	var got []string
	err := newClient(t, provider.Config{}).Pages(t.Context(), provider.Request{URL: p.URL + "/list", Bearer: "person"}, func(body []byte) error {
		got = append(got, string(body))
		return nil
	})
	return strings.Join(got, " "), err
}

func TestPages(t *testing.T) {
	p := logintest.NewProvider(t)
	for _, test := range []struct {
		name, link string // $ is the number of the page
	}{
		{"absolute", `<` + p.URL + `/list?page=$>; rel="next"`},
		{"relative", `</list?page=$>; rel="next"`},
		{"query only", `<?page=$>; rel="next"`},
		{"without quotes", `</list?page=$>;rel=next`},
		{"after others", `</list?page=1>; rel="prev", </list?page=1>; rel="first", </list?page=$>; rel="next"`},
		{"before others", `</list?page=$>; rel="next", </list?page=9>; rel="last"`},
		{"several relations", `</list?page=$>; rel="last next"`},
		{"other parameters", `</list?page=$>; title="a, <b>"; REL="Next"`},
		{"comma in the URL", `</list?x=a,b;c&page=$>; rel="next"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			serveList(p, 3, func(n int) string { return strings.ReplaceAll(test.link, "$", strconv.Itoa(n)) })
			if got, err := readList(t, p); err != nil || got != "0 1 2" {
				t.Errorf("got pages %s and %v, want 0 1 2", got, err)
			}
		})
	}
}

func TestLastPage(t *testing.T) {
	p := logintest.NewProvider(t)
	for _, link := range []string{"", `</list?page=1>`, `</list?page=1>; rel="prev"`, `</list?page=1>; rel=nextish`,
		`</list?page=1; rel="next"`, `/list?page=1; rel="next"`, `</list?page=1>; rel=prev; rel=next`, `<>; rel="next"`} {
		serveList(p, 2, func(int) string { return link })
		if got, err := readList(t, p); err != nil || got != "0" {
			t.Errorf("%s: got pages %s and %v, want 0", link, got, err)
		}
	}
}

func TestPageLimit(t *testing.T) {
	p := logintest.NewProvider(t)
	for _, test := range []struct {
		pages int
		want  error
	}{{10, nil}, {11, provider.ErrMorePages}, {1000, provider.ErrMorePages}} {
		serveList(p, test.pages, func(n int) string { return fmt.Sprintf(`</list?page=%d>; rel="next"`, n) })
		got, err := readList(t, p)
		if !errors.Is(err, test.want) || got != "0 1 2 3 4 5 6 7 8 9" {
			t.Errorf("%d pages: got %s and %v, want 10 pages and %v", test.pages, got, err, test.want)
		}
	}
}

// TestPageElsewhere: the token of a person goes to no other host.
func TestPageElsewhere(t *testing.T) {
	p, other := logintest.NewProvider(t), logintest.NewProvider(t)
	serveList(other, 1, nil)
	for _, target := range []string{
		other.URL + "/list", "//" + strings.TrimPrefix(other.URL, "http://") + "/list",
		strings.Replace(p.URL, "http", "https", 1) + "/list", strings.Replace(p.URL, "//", "//user@", 1) + "/list",
	} {
		serveList(p, 2, func(int) string { return "<" + target + `>; rel="next"` })
		got, err := readList(t, p)
		if guidon.CodeOf(err) != guidon.Unavailable || !strings.Contains(err.Error(), "next page is") || got != "0" {
			t.Errorf("%s: got pages %s and %v, want Unavailable after the first", target, got, err)
		}
	}
	if n := other.Requests("/list"); n != 0 {
		t.Errorf("the other host got %d requests", n)
	}
}

func TestPageErrors(t *testing.T) {
	p := logintest.NewProvider(t)
	serveList(p, 2, func(int) string { return `<http://[::1>; rel="next"` })
	if got, err := readList(t, p); guidon.CodeOf(err) != guidon.Unavailable || !strings.Contains(err.Error(), "malformed") || got != "0" {
		t.Errorf("got pages %s and %v, want an error about the malformed link", got, err)
	}
	serveList(p, 3, func(int) string { return `</gone>; rel="next"` })
	got, err := readList(t, p)
	if f, ok := errors.AsType[*provider.Failure](err); !ok || f.Status != http.StatusNotFound || got != "0" {
		t.Errorf("got pages %s and %v, want 404 after the first", got, err)
	}

	stop := errors.New("stop")
	var seen []string
	serveList(p, 3, func(n int) string { return fmt.Sprintf(`<?page=%d>; rel="next"`, n) })
	err = newClient(t, provider.Config{}).Pages(t.Context(), provider.Request{URL: p.URL + "/list", Bearer: "person"}, func(body []byte) error {
		seen = append(seen, string(body))
		if len(seen) == 2 {
			return stop
		}
		return nil
	})
	if diff := cmp.Diff([]string{"0", "1"}, seen); diff != "" || !errors.Is(err, stop) {
		t.Errorf("got %v, pages (-want +got):\n%s", err, diff)
	}
}

func TestAttempts(t *testing.T) {
	client := newClient(t, provider.Config{})
	var leave func()
	for i := range provider.MaxAttempts {
		var err error
		if leave, err = client.Enter(); err != nil {
			t.Fatalf("attempt %d: %v", i, err)
		}
	}
	for range 2 {
		if _, err := client.Enter(); guidon.CodeOf(err) != guidon.Unavailable {
			t.Errorf("got %v, want Unavailable", err)
		}
	}
	leave()
	if _, err := client.Enter(); err != nil {
		t.Errorf("after one has left: %v", err)
	}
	if _, err := newClient(t, provider.Config{Name: "other"}).Enter(); err != nil {
		t.Errorf("another provider: %v", err)
	}
}

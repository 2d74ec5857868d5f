package codehost_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/codehost"
	"github.com/guidonhq/guidon/handler/login/logintest"
	"github.com/guidonhq/guidon/service"
)

// TestFaults: whichever answer of the API is of no use, nobody is signed in.
func TestFaults(t *testing.T) {
	forEach(t, func(t *testing.T, kind string) {
		for i, path := range paths[kind] {
			double, host := start(t, kind, nil)
			for _, fault := range logintest.Faults() {
				double.Serve(path, fault.Handler)
				_, err := signIn(t, double, host)
				checkError(t, err, guidon.Unavailable)
			}
			if n := double.Requests("/elsewhere"); n != 0 {
				t.Error("the redirect was followed")
			}
			for _, later := range paths[kind][i+1:] {
				if n := double.Requests(later); n != 0 {
					t.Errorf("%s got %d requests after %s failed", later, n, path)
				}
			}
		}
	})
}

// TestNull: a list that is null, or has other elements, is not an empty list.
func TestNull(t *testing.T) {
	for _, kind := range []string{codehost.GitHub, codehost.Gitea} {
		for _, path := range paths[kind][1:] {
			double, host := start(t, kind, nil)
			for _, body := range []string{"null", "{}", `["a"]`, `[{"login":1,"name":1,"slug":1,"email":1}]`} {
				double.Serve(path, respond(http.StatusOK, body))
				_, err := signIn(t, double, host)
				checkError(t, err, guidon.Unavailable, path)
			}
		}
	}
}

func TestRejected(t *testing.T) {
	forEach(t, func(t *testing.T, kind string) {
		for i, path := range paths[kind] {
			double, host := start(t, kind, nil)
			for _, test := range []struct {
				status        int
				account, list guidon.Code
			}{
				{401, guidon.Unavailable, guidon.Unavailable},
				{403, guidon.PermissionDenied, guidon.PermissionDenied},
				{404, guidon.Unavailable, guidon.PermissionDenied},
				{400, guidon.Unavailable, guidon.Unavailable},
			} {
				double.Serve(path, respond(test.status, `{"message":"`+logintest.Words+`"}`))
				_, err := signIn(t, double, host)
				want, hint := test.account, ""
				if i > 0 {
					want = test.list
				}
				switch {
				case i == 0 && test.status == 404:
					hint = "check api_url"
				case i > 0 && want == guidon.PermissionDenied:
					hint = "the access token does not suffice"
				}
				checkError(t, err, want, path, fmt.Sprintf("status %d", test.status), hint)
			}
			double.Serve(path, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("X-Ratelimit-Remaining", "0")
				respond(http.StatusForbidden, `{"message":"API rate limit exceeded"}`).ServeHTTP(w, r)
			}))
			_, err := signIn(t, double, host)
			checkError(t, err, guidon.Unavailable, path)
		}
	})
}

// TestGrantedScopes: the host grants less than requested.
func TestGrantedScopes(t *testing.T) {
	for _, test := range []struct {
		kind, granted string
		want          []string // in the error
	}{
		{codehost.GitHub, "read:user", []string{"e-mail addresses", "user:email", `granted "read:user"`, "status 404"}},
		{codehost.GitHub, "read:user user:email", []string{"organizations", "read:org", `granted "read:user,user:email"`, "status 403"}},
		{codehost.GitLab, "read_user profile", []string{"organizations", "openid", `granted "read_user profile"`}},
		{codehost.Gitea, "read:user", []string{"organizations", "read:organization", `granted "read:user"`}},
	} {
		double, host := start(t, test.kind, nil)
		a, code := authorize(t, double, host)
		double.Grant(strings.Fields(test.granted)...)
		_, err := identify(t.Context(), t, double, host, a, code)
		checkError(t, err, guidon.PermissionDenied, test.want...)
	}
	double, host := start(t, codehost.GitHub, nil)
	double.Serve(double.TokenPath, respond(http.StatusOK, `{"access_token":"`+double.AccessToken+`"}`))
	double.Serve("/api/v3/user/teams", http.NotFoundHandler())
	_, err := signIn(t, double, host)
	checkError(t, err, guidon.PermissionDenied, "teams", "does not say which scopes")
}

// TestUserinfoWithoutGroups: no groups at all is a lack of rights, not an empty list.
func TestUserinfoWithoutGroups(t *testing.T) {
	double, host := start(t, codehost.GitLab, nil)
	for _, body := range []string{`{"sub":"583231"}`, `{"sub":"583231","groups":null}`} {
		double.Serve("/oauth/userinfo", respond(http.StatusOK, body))
		_, err := signIn(t, double, host)
		checkError(t, err, guidon.PermissionDenied, "no groups", "openid")
	}
	double.Serve("/oauth/userinfo", respond(http.StatusOK, `{"groups":[]}`))
	if identity, err := signIn(t, double, host); err != nil || len(having(identity, "codehost:org:")) > 0 {
		t.Errorf("got %v and %v, want no organizations", identity, err)
	}
}

// TestFewerScopes: what the scopes do not cover is not requested.
func TestFewerScopes(t *testing.T) {
	for _, test := range []struct {
		kind, scopes string
		read         []int // indices of paths
	}{
		{codehost.GitHub, "read:user", []int{0}},
		{codehost.GitHub, "user:email", []int{0, 1}},
		{codehost.GitHub, "read:org", []int{0, 2, 3}},
		{codehost.GitLab, "read_user", []int{0}},
		{codehost.Gitea, "read:user", []int{0, 1}},
	} {
		double, host := start(t, test.kind, func(c *codehost.Config) { c.Scopes = strings.Fields(test.scopes) })
		identity, err := signIn(t, double, host)
		if err != nil {
			t.Errorf("%s %s: %v", test.kind, test.scopes, err)
			continue
		}
		var read []int
		for i, path := range paths[test.kind] {
			if double.Requests(path) > 0 {
				read = append(read, i)
			}
		}
		if diff := cmp.Diff(test.read, read); diff != "" {
			t.Errorf("%s %s: paths read (-want +got):\n%s", test.kind, test.scopes, diff)
		}
		_, has := identity.Metadata["io.service.auth.codehost.organizations"]
		if want := double.Requests("/api/v3/user/orgs") > 0; has != want {
			t.Errorf("%s %s: metadata has organizations: %v, want %v", test.kind, test.scopes, has, want)
		}
	}
}

// TestPages: lists are read to the end, or not at all.
func TestPages(t *testing.T) {
	for _, kind := range []string{codehost.GitHub, codehost.Gitea} {
		size := map[string]int{codehost.GitHub: 100, codehost.Gitea: 50}[kind]
		for _, list := range []string{"org", "team", "email"} {
			if kind == codehost.Gitea && list == "email" {
				continue // has no pages
			}
			for _, count := range []int{0, 1, size - 1, size, size + 1, 3 * size, 10 * size, 10*size + 1, 20 * size} {
				t.Run(fmt.Sprintf("%s %s %d", kind, list, count), func(t *testing.T) {
					double, host := start(t, kind, nil)
					fill(&double.Account, list, count)
					identity, err := signIn(t, double, host)
					if count > 10*size {
						checkError(t, err, guidon.PermissionDenied, "more than 10 pages", "request other scopes")
						return
					}
					if err != nil {
						t.Fatal(err)
					}
					checkFilled(t, identity, list, count)
				})
			}
		}
	}
}

// fill gives the account so many elements in one list. The last address is primary.
func fill(a *logintest.Account, list string, count int) {
	a.Organizations, a.Teams, a.Emails = nil, nil, nil
	for i := range count {
		n := strconv.Itoa(i)
		switch list {
		case "org":
			a.Organizations = append(a.Organizations, "Acme-"+n)
		case "team":
			a.Teams = append(a.Teams, [2]string{"Acme-" + n, "Ops"})
		case "email":
			a.Emails = append(a.Emails, logintest.Email{Email: "a" + n + "@x.example", Primary: i == count-1, Verified: true})
		}
	}
}

func checkFilled(t *testing.T, identity *service.Identity, list string, count int) {
	t.Helper()
	got := having(identity, "codehost:"+list+":")
	want := map[string]bool{}
	for i := range count {
		want["acme-"+strconv.Itoa(i)+map[string]string{"team": "/ops"}[list]] = true
	}
	if list == "email" {
		clear(want)
		if count > 0 {
			want["a"+strconv.Itoa(count-1)+"@x.example"] = true
		}
	}
	for _, s := range got {
		if !want[s] {
			t.Errorf("has %s", s)
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %d subjects, want %d", len(got), len(want))
	}
}

// TestPageLinks: the link tells whether there is another page, but not where: the access token goes to no other
// host.
func TestPageLinks(t *testing.T) {
	other := logintest.NewCodeHost(t, codehost.GitHub)
	for _, path := range paths[codehost.GitHub][1:] {
		for link, more := range map[string]bool{
			"<" + other.URL + path + `?page=2>; rel="next"`:                     true,
			`</x>; rel="prev", </x?a=b,c>; rel="first", <?page=2>;REL = "Next"`: true,
			`<?page=2>; rel=next, <?page=9>; rel=last`:                          true,
			`<?page=2>; title="a"; rel="last next"`:                             true,
			`</x>; rel="prev"`:                                                  false,
			`</x>; rel=nextish`:                                                 false,
			`</next>`:                                                           false,
			"":                                                                  false,
		} {
			double, host := start(t, codehost.GitHub, nil)
			double.Serve(path, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Query().Get("page") == "1" {
					w.Header().Set("Link", link)
				}
				respond(http.StatusOK, "[]").ServeHTTP(w, r)
			}))
			if _, err := signIn(t, double, host); err != nil {
				t.Error(err)
			}
			if n := double.Requests(path); (n == 2) != more || n > 2 {
				t.Errorf("%s: %d requests, want another one: %v", link, n, more)
			}
		}
		if n := other.Requests(path); n != 0 {
			t.Errorf("the other host got %d requests", n)
		}
	}
}

// TestGiteaTotals: pages are counted, whatever the total says.
func TestGiteaTotals(t *testing.T) {
	const page = `[{"username":"a"},{"username":"b"}]`
	for _, test := range []struct {
		name, total string
		pages       int // with two elements; those after them are empty
		requests    int
		want        guidon.Code // or none
	}{
		{"no total", "", 2, 3, 0},
		{"no total and nothing", "", 0, 1, 0},
		{"no total and no end", "", 100, 10, guidon.PermissionDenied},
		{"malformed", "four", 2, 3, 0},
		{"right", "4", 2, 2, 0},
		{"none", "0", 0, 1, 0},
		{"more than there is", "5", 2, 3, guidon.Unavailable},
		{"more than ten pages", "21", 100, 10, guidon.PermissionDenied},
	} {
		t.Run(test.name, func(t *testing.T) {
			double, host := start(t, codehost.Gitea, nil)
			double.Serve("/api/v1/user/orgs", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if test.total != "" {
					w.Header().Set("X-Total-Count", test.total)
				}
				body := "[]"
				if n, _ := strconv.Atoi(r.URL.Query().Get("page")); n <= test.pages {
					body = page
				}
				if got := r.URL.Query().Get("limit"); got != "100" {
					t.Errorf("limit %s, want 100", got)
				}
				respond(http.StatusOK, body).ServeHTTP(w, r)
			}))
			_, err := signIn(t, double, host)
			if test.want != 0 {
				checkError(t, err, test.want)
			} else if err != nil {
				t.Error(err)
			}
			if n := double.Requests("/api/v1/user/orgs"); n != test.requests {
				t.Errorf("%d requests, want %d", n, test.requests)
			}
		})
	}
}

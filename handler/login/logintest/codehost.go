package logintest

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// CodeHost is a code host of one type with one account: "github" (an Enterprise Server),
// "gitlab" or "gitea". It responds as those do, down to their peculiar errors. Another
// handler for one of its paths makes it misbehave.
type CodeHost struct {
	*Provider
	API       string // URL
	TokenPath string
	// The registration of the service, and the token that the host issues.
	ClientID, ClientSecret, RedirectURI, AccessToken string
	// Account can be changed until the first request.
	Account Account

	kind      string
	scopes    []string // granted
	code      string   // "" once it was used
	challenge string
}

// Account is the account of a person. Organizations are groups on GitLab, where Emails are
// at most one, which is primary.
type Account struct {
	ID            any
	Login, Name   string
	Picture       string
	State         string // on GitLab
	Emails        []Email
	Organizations []string
	Teams         [][2]string // organization and team
}

// Email is an address of an account.
type Email struct {
	Email    string `json:"email"`
	Primary  bool   `json:"primary"`
	Verified bool   `json:"verified"`
}

// NewCodeHost starts a host of the type, which ends with the test.
func NewCodeHost(t testing.TB, kind string) *CodeHost {
	t.Helper()
	h := &CodeHost{ // #nosec G101 -- of a double
		Provider: NewProvider(t), kind: kind, TokenPath: "/login/oauth/access_token",
		ClientID: "Iv1.8a61f9b3a7aba766", ClientSecret: "s3cret & more", AccessToken: "access-token-of-ada",
		RedirectURI: "https://flags.example/auth/v1/method/codehost/callback",
	}
	h.Account = Account{
		ID: 583231, Login: "Ada", Name: "Ada Lovelace", Picture: "https://avatars.example/u/583231?v=4", State: "active",
		Emails:        []Email{{"ada@old.example", false, true}, {"Ada@Corp.example", true, true}},
		Organizations: []string{"Acme", "widgets"},
		Teams:         [][2]string{{"Acme", "Backend"}, {"widgets", "ops"}},
	}
	switch kind {
	case "github":
		h.serveGitHub()
	case "gitlab":
		h.Account.Emails = h.Account.Emails[1:]
		h.Account.Organizations = []string{"Acme", "Acme/Backend", "widgets"}
		h.TokenPath = "/oauth/token"
		h.serveGitLab()
	case "gitea":
		h.serveGitea()
	default:
		t.Fatalf("unknown type %q", kind)
	}
	h.Serve(h.TokenPath, http.HandlerFunc(h.exchange))
	return h
}

// Kind returns the type of the host.
func (h *CodeHost) Kind() string { return h.kind }

// Authorize acts as the host when the person agrees: it returns the code for the
// authorization request, or an error if the host does not accept the request.
func (h *CodeHost) Authorize(raw string) (code string, err error) {
	u, err := url.Parse(raw)
	if err != nil {
		return "", err
	}
	want := map[string]string{"github": "/login/oauth/authorize", "gitea": "/login/oauth/authorize", "gitlab": "/oauth/authorize"}[h.kind]
	q := u.Query()
	switch {
	case u.Path != want:
		return "", fmt.Errorf("path %s, want %s", u.Path, want)
	case q.Get("client_id") != h.ClientID, q.Get("redirect_uri") != h.RedirectURI, q.Get("response_type") != "code", q.Get("state") == "":
		return "", fmt.Errorf("unknown client, callback or response type, or no state: %s", u.RawQuery)
	case q.Get("code_challenge") != "" && q.Get("code_challenge_method") != "S256":
		return "", fmt.Errorf("code challenge method %q, want S256", q.Get("code_challenge_method"))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.scopes, h.challenge, h.code = strings.Fields(q.Get("scope")), q.Get("code_challenge"), "9a2a26bd8ba87c4b2a5f"
	return h.code, nil
}

// Grant grants other scopes than those requested.
func (h *CodeHost) Grant(scopes ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.scopes = scopes
}

// exchange is the token endpoint.
func (h *CodeHost) exchange(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || r.Header.Get("Accept") != "application/json" || r.Header.Get("Authorization") != "" {
		http.Error(w, "this host responds in JSON to a POST with the credentials in the body", http.StatusNotAcceptable)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case r.PostFormValue("client_id") != h.ClientID:
		h.refuse(w, "client")
	case r.PostFormValue("client_secret") != h.ClientSecret:
		h.refuse(w, "secret")
	case r.PostFormValue("redirect_uri") != h.RedirectURI:
		h.refuse(w, "redirect")
	case h.code == "" || r.PostFormValue("code") != h.code || r.PostFormValue("grant_type") != "authorization_code":
		h.refuse(w, "code")
	case !h.verifies(r.PostFormValue("code_verifier")):
		h.refuse(w, "verifier")
	default:
		h.code = ""
		separator := map[string]string{"github": ","}[h.kind]
		if separator == "" {
			separator = " "
		}
		answerJSON(w, http.StatusOK, map[string]any{ // #nosec G101 -- of a double
			"access_token": h.AccessToken, "token_type": "bearer", "scope": strings.Join(h.scopes, separator),
			"refresh_token": "refresh-token-of-ada",
		})
	}
}

func (h *CodeHost) verifies(verifier string) bool {
	if h.challenge == "" {
		return verifier == ""
	}
	sum := sha256.Sum256([]byte(verifier))
	return Encode(sum[:]) == h.challenge
}

// tokenErrors are the error responses of the token endpoints.
var tokenErrors = map[string]map[string]struct {
	status            int
	code, description string
}{
	"github": {
		"client":   {404, "Not Found", ""},
		"secret":   {200, "incorrect_client_credentials", "The client_id and/or client_secret passed are incorrect."},
		"redirect": {200, "redirect_uri_mismatch", "The redirect_uri MUST match the registered callback URL for this application."},
		"code":     {200, "bad_verification_code", "The code passed is incorrect or expired."},
		"verifier": {200, "bad_verification_code", "The code passed is incorrect or expired."},
	},
	"gitlab": {
		"client":   {401, "invalid_client", "Client authentication failed due to unknown client, no client authentication included, or unsupported authentication method."},
		"secret":   {401, "invalid_client", "Client authentication failed due to unknown client, no client authentication included, or unsupported authentication method."},
		"redirect": {400, "invalid_grant", "The provided authorization grant is invalid, expired, revoked, or does not match the redirection URI."},
		"code":     {400, "invalid_grant", "The provided authorization grant is invalid, expired, revoked, or does not match the redirection URI."},
		"verifier": {400, "invalid_grant", "The provided authorization grant is invalid, expired, revoked, or does not match the redirection URI."},
	},
	"gitea": {
		"client":   {400, "invalid_client", `cannot load client with client id: "x"`},
		"secret":   {400, "unauthorized_client", "invalid client secret"},
		"redirect": {400, "unauthorized_client", "unexpected redirect URI"},
		"code":     {400, "unauthorized_client", "client is not authorized"},
		"verifier": {400, "unauthorized_client", "failed PKCE code challenge"},
	},
}

func (h *CodeHost) refuse(w http.ResponseWriter, why string) {
	e := tokenErrors[h.kind][why]
	answerJSON(w, e.status, map[string]string{"error": e.code, "error_description": e.description})
}

// serve answers the path of the API to requests with the token and one of the scopes.
// missing is the status without such a scope.
func (h *CodeHost) serve(path string, missing int, scopes []string, respond http.HandlerFunc) {
	h.Serve(path, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		granted := len(scopes) == 0 || slices.ContainsFunc(scopes, func(s string) bool { return slices.Contains(h.scopes, s) })
		h.mu.Unlock()
		switch {
		case r.Header.Get("Authorization") != "Bearer "+h.AccessToken || r.Header.Get("Accept") != "application/json":
			answerJSON(w, http.StatusUnauthorized, map[string]string{"message": "Bad credentials"})
		case !granted:
			answerJSON(w, missing, map[string]string{
				"message": "token does not have at least one of required scope(s): " + strings.Join(scopes, ", "),
			})
		default:
			respond(w, r)
		}
	}))
}

func (h *CodeHost) serveGitHub() {
	h.API = h.URL + "/api/v3"
	h.serve("/api/v3/user", 0, nil, func(w http.ResponseWriter, _ *http.Request) {
		a := h.Account
		answerJSON(w, http.StatusOK, map[string]any{
			"login": a.Login, "id": a.ID, "node_id": "MDQ6VXNlcjU4MzIzMQ==", "avatar_url": a.Picture, "gravatar_id": "",
			"type": "User", "site_admin": false,
			"name": a.Name, "company": nil, "blog": "", "email": "public@elsewhere.example", "bio": nil, "created_at": "2011-01-25T18:44:36Z",
		})
	})
	h.serve("/api/v3/user/emails", http.StatusNotFound, []string{"user", "user:email"}, func(w http.ResponseWriter, r *http.Request) {
		linkedPages(w, r, h.Account.Emails)
	})
	h.serve("/api/v3/user/orgs", http.StatusForbidden, []string{"user", "read:org"}, func(w http.ResponseWriter, r *http.Request) {
		var list []any
		for i, name := range h.Account.Organizations {
			list = append(list, map[string]any{
				"login": name, "id": 9919 + i, "url": h.API + "/orgs/" + name, "description": "How people build software.",
			})
		}
		linkedPages(w, r, list)
	})
	h.serve("/api/v3/user/teams", http.StatusForbidden, []string{"user", "read:org"}, func(w http.ResponseWriter, r *http.Request) {
		var list []any
		for i, t := range h.Account.Teams {
			list = append(list, map[string]any{
				"id": 1 + i, "name": "The " + t[1], "slug": t[1], "privacy": "closed", "permission": "admin", "parent": nil,
				"organization": map[string]any{"login": t[0], "id": 9919 + i, "name": "the organization"},
			})
		}
		linkedPages(w, r, list)
	})
}

func (h *CodeHost) serveGitLab() {
	h.API = h.URL + "/api/v4"
	h.serve("/api/v4/user", http.StatusForbidden, []string{"read_user", "api", "read_api"}, func(w http.ResponseWriter, _ *http.Request) {
		a, email, confirmed := h.Account, "", any(nil)
		if len(a.Emails) > 0 {
			email = a.Emails[0].Email
			if a.Emails[0].Verified {
				confirmed = "2012-05-23T09:05:22.000Z"
			}
		}
		answerJSON(w, http.StatusOK, map[string]any{
			"id": a.ID, "username": a.Login, "name": a.Name, "state": a.State, "locked": false, "avatar_url": a.Picture,
			"web_url":      h.URL + "/" + a.Login,
			"public_email": "public@elsewhere.example", "email": email, "confirmed_at": confirmed, "commit_email": "commit@elsewhere.example",
			"two_factor_enabled": true, "external": false,
		})
	})
	h.serve("/oauth/userinfo", http.StatusForbidden, []string{"openid"}, func(w http.ResponseWriter, _ *http.Request) {
		answerJSON(w, http.StatusOK, map[string]any{
			"sub": fmt.Sprint(h.Account.ID), "sub_legacy": "0", "name": h.Account.Name, "preferred_username": h.Account.Login,
			"email_verified": true,
			"groups":         notNil(h.Account.Organizations), "https://gitlab.org/claims/groups/owner": []string{"not-this-one"},
		})
	})
}

func (h *CodeHost) serveGitea() {
	h.API = h.URL + "/api/v1"
	h.serve("/api/v1/user", http.StatusForbidden, []string{"read:user"}, func(w http.ResponseWriter, _ *http.Request) {
		a := h.Account
		answerJSON(w, http.StatusOK, map[string]any{
			"id": a.ID, "login": a.Login, "login_name": "", "source_id": 0, "full_name": a.Name, "email": "public@elsewhere.example",
			"avatar_url": a.Picture,
			"html_url":   h.URL + "/" + a.Login, "is_admin": false, "active": true, "prohibit_login": false, "username": a.Login,
		})
	})
	h.serve("/api/v1/user/emails", http.StatusForbidden, []string{"read:user"}, func(w http.ResponseWriter, _ *http.Request) {
		answerJSON(w, http.StatusOK, notNil(h.Account.Emails))
	})
	h.serve("/api/v1/user/orgs", http.StatusForbidden, []string{"read:organization"}, func(w http.ResponseWriter, r *http.Request) {
		var list []any
		for i, name := range h.Account.Organizations {
			list = append(list, giteaOrganization(i, name))
		}
		w.Header().Set("Link", `<http://public.example/api/v1/user/orgs?page=2>; rel="next"`) // its public URL
		numberedPages(w, r, list)
	})
	h.serve("/api/v1/user/teams", http.StatusForbidden, []string{"read:organization"}, func(w http.ResponseWriter, r *http.Request) {
		var list []any
		for i, t := range h.Account.Teams {
			list = append(list, map[string]any{
				"id": 1 + i, "name": t[1], "description": "", "permission": "owner", "organization": giteaOrganization(i, t[0]),
			})
		}
		numberedPages(w, r, list)
	})
}

// giteaOrganization is an organization. Old releases have no name.
func giteaOrganization(i int, name string) map[string]any {
	o := map[string]any{"id": 7 + i, "full_name": "Full name", "username": name, "visibility": "private"}
	if i%2 == 0 {
		o["name"] = name
	}
	return o
}

// linkedPages answers with a page of the list, as GitHub does: at most 100 elements, by default
// 30, and a link to the next page.
func linkedPages[T any](w http.ResponseWriter, r *http.Request, list []T) {
	size := min(queryNumber(r, "per_page", 30), 100)
	page := queryNumber(r, "page", 1)
	if page*size < len(list) {
		next := fmt.Sprintf("http://%s%s?per_page=%d&page=%d", r.Host, r.URL.Path, size, page+1)
		w.Header().Set("Link", fmt.Sprintf(`<%s>; rel="next", <%s>; rel="last"`, next, next))
	}
	answerJSON(w, http.StatusOK, pageOf(list, page, size))
}

// numberedPages answers with a page of the list, as Gitea does: at most 50 elements, and the
// number of all.
func numberedPages[T any](w http.ResponseWriter, r *http.Request, list []T) {
	w.Header().Set("X-Total-Count", strconv.Itoa(len(list)))
	answerJSON(w, http.StatusOK, pageOf(list, queryNumber(r, "page", 1), min(queryNumber(r, "limit", 30), 50)))
}

func pageOf[T any](list []T, page, size int) []T {
	return notNil(list[min((page-1)*size, len(list)):min(page*size, len(list))])
}

// notNil returns the list, which is [] in JSON if it is empty.
func notNil[T any](list []T) []T { return append([]T{}, list...) }

func queryNumber(r *http.Request, name string, byDefault int) int {
	n, err := strconv.Atoi(r.URL.Query().Get(name))
	if err != nil || n < 1 {
		return byDefault
	}
	return n
}

func answerJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value)
}

package logintest

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// The paths at which a [Flow] answers.
const (
	TokenPath    = "/token"
	UserinfoPath = "/userinfo"
)

// Flow is the authorization code flow of a provider, which keeps to the specifications: a
// code is good once, for its client, redirect URI and code verifier. Its fields may be
// changed between requests.
type Flow struct {
	Provider     *Provider
	Key          *Key
	Algorithm    string
	ClientID     string
	ClientSecret string // "" for a public client
	InBody       bool   // the client sends its secret in the body
	WithoutPKCE  bool
	Now          func() time.Time

	// Claims are further claims of ID tokens, or other values for some. Those that are
	// [Absent] are left out.
	Claims map[string]any
	// Token, if set, makes the ID token of the claims.
	Token func(claims map[string]any) string
	// Response changes the response of the token endpoint.
	Response func(members map[string]any)

	mu    sync.Mutex
	codes map[string]url.Values // parameters of the authorization request
}

// Absent is the value of claims that are left out.
var Absent = new(struct{ absent bool })

// AccessToken is that of all responses.
const AccessToken = "access-token-secret" // #nosec G101 -- for tests

// NewFlow makes the provider sign people in. It is known as guidon with a secret.
func NewFlow(p *Provider, key *Key, now func() time.Time) *Flow {
	f := &Flow{
		Provider: p, Key: key, Algorithm: "ES256", ClientID: "guidon", ClientSecret: "client secret +/%", // #nosec G101 -- for tests
		Now: now, codes: map[string]url.Values{},
	}
	members := p.Discovery()
	members["userinfo_endpoint"] = p.URL + UserinfoPath
	p.Publish(DiscoveryPath, members)
	p.Serve(TokenPath, http.HandlerFunc(f.exchange))
	return f
}

// Authorize acts as the provider when the browser opens the URL and the person
// agrees. It returns the code, or an error for a URL that a provider would reject.
func (f *Flow) Authorize(authorizeURL string) (code string, err error) {
	u, err := url.Parse(authorizeURL)
	if err != nil {
		return "", err
	}
	q := u.Query()
	for name, values := range q {
		if len(values) != 1 {
			return "", fmt.Errorf("%d parameters %s", len(values), name)
		}
	}
	switch {
	case q.Get("response_type") != "code" || q.Get("client_id") != f.ClientID || q.Get("redirect_uri") == "":
		return "", fmt.Errorf("invalid_request: %v", q)
	case !strings.Contains(" "+q.Get("scope")+" ", " openid "):
		return "", fmt.Errorf("invalid_scope: %q", q.Get("scope"))
	case f.WithoutPKCE == q.Has("code_challenge") || !f.WithoutPKCE && q.Get("code_challenge_method") != "S256":
		return "", fmt.Errorf("code challenge: %v", q)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	code = fmt.Sprintf("code-secret-%d", len(f.codes))
	f.codes[code] = q
	return code, nil
}

// exchange is the token endpoint.
func (f *Flow) exchange(w http.ResponseWriter, r *http.Request) {
	if r.ParseForm() != nil || r.Method != http.MethodPost || r.PostForm.Get("grant_type") != "authorization_code" {
		Reject(http.StatusBadRequest, "invalid_request")(w, r)
		return
	}
	if !f.authenticated(r) {
		Reject(http.StatusUnauthorized, "invalid_client")(w, r)
		return
	}
	f.mu.Lock()
	request, known := f.codes[r.PostForm.Get("code")]
	delete(f.codes, r.PostForm.Get("code"))
	f.mu.Unlock()
	if !known || request.Get("redirect_uri") != r.PostForm.Get("redirect_uri") || !f.verified(request, r.PostForm) {
		Reject(http.StatusBadRequest, "invalid_grant")(w, r)
		return
	}
	members := map[string]any{
		"access_token": AccessToken, "token_type": "Bearer", "expires_in": 3600, "id_token": f.idToken(request.Get("nonce")),
	}
	if f.Response != nil {
		f.Response(members)
	}
	writeJSON(w, http.StatusOK, members)
}

// authenticated reports whether the client authenticates itself in the one way that it is
// registered with.
func (f *Flow) authenticated(r *http.Request) bool {
	basicID, basicSecret, basic := r.BasicAuth()
	inBody := r.PostForm.Has("client_secret")
	switch {
	case f.ClientSecret == "" || f.InBody:
		return !basic && inBody == (f.ClientSecret != "") &&
			r.PostForm.Get("client_id") == f.ClientID && r.PostForm.Get("client_secret") == f.ClientSecret
	default:
		return basic && !inBody && basicID == url.QueryEscape(f.ClientID) && basicSecret == url.QueryEscape(f.ClientSecret)
	}
}

func (f *Flow) verified(request, form url.Values) bool {
	digest := sha256.Sum256([]byte(form.Get("code_verifier")))
	return f.WithoutPKCE && !form.Has("code_verifier") || Encode(digest[:]) == request.Get("code_challenge")
}

func (f *Flow) idToken(nonce string) string {
	claims := f.Standard()
	claims["nonce"] = nonce
	maps.Copy(claims, f.Claims)
	maps.DeleteFunc(claims, func(_ string, value any) bool { return value == Absent })
	if f.Token != nil {
		return f.Token(claims)
	}
	return f.Key.Token(f.Algorithm, claims)
}

// Standard returns the claims that every token of the provider has.
func (f *Flow) Standard() map[string]any {
	return map[string]any{
		"iss": f.Provider.URL, "aud": f.ClientID, "sub": "ada", "iat": f.Now().Unix(), "exp": f.Now().Add(time.Hour).Unix(),
	}
}

// Reject returns the response of a token endpoint that refuses a request.
func Reject(status int, code string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, status, map[string]string{"error": code, "error_description": Words})
	}
}

package logintest

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/golang-jwt/jwt/v5"
)

// The paths of a [Cluster], and the audience of its API server.
const (
	ReviewPath      = "/apis/authentication.k8s.io/v1/tokenreviews"
	ClusterKeysPath = "/openid/v1/jwks"
	ClusterAudience = "https://kubernetes.default.svc"
)

// TokenReview is the type of that name in authentication.k8s.io/v1.
type TokenReview struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   map[string]any    `json:"metadata"`
	Spec       TokenReviewSpec   `json:"spec"`
	Status     TokenReviewStatus `json:"status"`
}

// TokenReviewSpec is the request of a client.
type TokenReviewSpec struct {
	Token     string   `json:"token,omitempty"`
	Audiences []string `json:"audiences,omitempty"`
}

// TokenReviewStatus is the response of the API server.
type TokenReviewStatus struct {
	Authenticated bool     `json:"authenticated,omitempty"`
	User          UserInfo `json:"user"`
	Audiences     []string `json:"audiences,omitempty"`
	Error         string   `json:"error,omitempty"`
}

// UserInfo is the user of a token.
type UserInfo struct {
	Username string              `json:"username,omitempty"`
	UID      string              `json:"uid,omitempty"`
	Groups   []string            `json:"groups,omitempty"`
	Extra    map[string][]string `json:"extra,omitempty"`
}

// Cluster is the API server of a Kubernetes cluster: it publishes its keys and reviews
// tokens of service accounts. It serves only clients with its Own token.
type Cluster struct {
	*Provider
	Key   *Key
	Own   string // the token of the client's own account
	clock *Clock

	mu            sync.Mutex
	deleted       map[string]bool
	change        func(*TokenReview)
	reviews       []TokenReviewSpec
	running, most int
}

// NewCluster starts an API server, which ends with the test. Its URL is also its issuer.
func NewCluster(t testing.TB, clock *Clock) *Cluster {
	t.Helper()
	c := &Cluster{
		Provider: NewProvider(t), Key: New("P-256", "cluster"), Own: "own-token",
		clock: clock, deleted: map[string]bool{}, change: func(*TokenReview) {},
	}
	c.PublishPrivate(DiscoveryPath, map[string]any{
		"issuer": c.URL, "jwks_uri": c.URL + ClusterKeysPath,
		"response_types_supported": []string{"id_token"}, "subject_types_supported": []string{"public"},
		"id_token_signing_alg_values_supported": []string{"ES256"},
	})
	c.PublishPrivate(ClusterKeysPath, map[string]any{"keys": []any{c.Key.JWK()}})
	c.Serve(ReviewPath, c.private(http.HandlerFunc(c.review)))
	return c
}

// PublishPrivate answers the path with the JSON of the value, for clients with the token.
func (c *Cluster) PublishPrivate(path string, value any) {
	c.Serve(path, c.private(write("application/json", text(value))))
}

// private serves only clients with the token.
func (c *Cluster) private(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !slices.Equal(r.Header.Values("Authorization"), []string{"Bearer " + c.Own}) {
			Refuse(http.StatusUnauthorized)(w, r)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// Refuse answers as an API server does that does not serve the client.
func Refuse(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, code, map[string]any{
			"kind": "Status", "apiVersion": "v1", "metadata": map[string]any{}, "status": "Failure", "message": Words, "code": code,
		})
	}
}

// Claims returns the claims of a token for a pod of the service account, which is valid for
// an hour, with the others. Those that are nil are left out.
func (c *Cluster) Claims(namespace, name string, others map[string]any) map[string]any {
	now := c.clock.Now().Unix()
	all := map[string]any{
		"iss": c.URL, "sub": "system:serviceaccount:" + namespace + ":" + name, "aud": []string{"guidon"},
		"exp": now + 3600, "iat": now, "nbf": now, "jti": "a2f0e3a1-0b5e-4f52-9d3f-5f2f4f1c7b11",
		"kubernetes.io": map[string]any{
			"namespace":      namespace,
			"node":           map[string]any{"name": "node-1", "uid": "uid-of-node"},
			"pod":            map[string]any{"name": name + "-7d4b9", "uid": "uid-of-pod"},
			"serviceaccount": map[string]any{"name": name, "uid": "uid-of-" + name},
			"warnafter":      now + 3607,
		},
	}
	maps.Copy(all, others)
	maps.DeleteFunc(all, func(_ string, value any) bool { return value == nil })
	return all
}

// Delete deletes the account, so that its tokens are no longer valid.
func (c *Cluster) Delete(namespace, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deleted["system:serviceaccount:"+namespace+":"+name] = true
}

// Change changes reviews before they are answered.
func (c *Cluster) Change(change func(*TokenReview)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.change = change
}

// Reviews returns the requests so far.
func (c *Cluster) Reviews() []TokenReviewSpec {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.reviews)
}

// Running returns how many reviews run, and how many have run at the same time at most.
func (c *Cluster) Running() (now, most int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.running, c.most
}

// review answers a review.
func (c *Cluster) review(w http.ResponseWriter, r *http.Request) {
	var got TokenReview
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" || d.Decode(&got) != nil ||
		got.APIVersion != "authentication.k8s.io/v1" || got.Kind != "TokenReview" || got.Spec.Token == "" {
		Refuse(http.StatusBadRequest)(w, r)
		return
	}
	c.mu.Lock()
	c.reviews = append(c.reviews, got.Spec)
	c.running++
	c.most = max(c.most, c.running)
	change := c.change
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.running--
	}()
	got.Metadata = map[string]any{"creationTimestamp": nil}
	got.Status = c.status(got.Spec)
	change(&got)
	writeJSON(w, http.StatusCreated, got)
}

// status verifies a token for audiences, as an API server does.
func (c *Cluster) status(spec TokenReviewSpec) TokenReviewStatus {
	claims := jwt.MapClaims{}
	parser := jwt.NewParser(jwt.WithTimeFunc(c.clock.Now), jwt.WithValidMethods([]string{"ES256"}), jwt.WithIssuer(c.URL))
	_, err := parser.ParseWithClaims(spec.Token, claims, func(*jwt.Token) (any, error) { return c.Key.Private.Public(), nil })
	if err != nil {
		return TokenReviewStatus{Error: "[invalid bearer token, " + err.Error() + "]"}
	}
	requested := spec.Audiences
	if len(requested) == 0 {
		requested = []string{ClusterAudience}
	}
	has, _ := claims.GetAudience()
	audiences := slices.DeleteFunc(slices.Clone(requested), func(a string) bool { return !slices.Contains(has, a) })
	if len(audiences) == 0 {
		return TokenReviewStatus{Error: "[invalid bearer token, token audiences are invalid for the target audiences]"}
	}
	user, _ := claims.GetSubject()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.deleted[user] {
		return TokenReviewStatus{Error: "[invalid bearer token, service account token has been invalidated]"}
	}
	name := strings.Split(user, ":")
	return TokenReviewStatus{Authenticated: true, Audiences: audiences, User: UserInfo{
		Username: user, UID: "uid-of-" + name[len(name)-1], Groups: []string{"system:serviceaccounts", "system:authenticated"},
		Extra: map[string][]string{"authentication.kubernetes.io/node-name": {"node-1"}},
	}}
}

package kubernetes_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/kubernetes"
	"github.com/guidonhq/guidon/handler/login/logintest"
	"github.com/guidonhq/guidon/service"
)

// FuzzVerify: a text that was not signed is never accepted, and every refusal is the same.
func FuzzVerify(f *testing.F) {
	x := newFixture(f, byKeys)
	x.server.Key = logintest.New("Ed25519", "cluster")
	x.server.PublishPrivate(logintest.ClusterKeysPath, map[string]any{"keys": []any{x.server.Key.JWK()}})
	good := x.server.Key.Token("EdDSA", x.server.Claims("shop", "checkout", map[string]any{"iss": "https://issuer.example"}))
	x.server.PublishPrivate(logintest.DiscoveryPath, map[string]any{"issuer": "https://issuer.example", "jwks_uri": x.server.URL + logintest.ClusterKeysPath})
	f.Add(good)
	f.Add(good + "\n")
	f.Add("eyJhbGciOiJub25lIn0.e30.")
	f.Fuzz(func(t *testing.T, raw string) {
		identity, err := x.Verify(t.Context(), raw)
		switch {
		case err == nil && raw != good:
			t.Errorf("%q: accepted as %q", raw, identity.Subject)
		case err != nil && (guidon.CodeOf(err) != guidon.Unauthenticated || guidon.PublicMessage(err) != "request was not authenticated"):
			t.Errorf("%q: got %v", raw, err)
		}
		kubernetes.ClientToken([32]byte{}, raw)
	})
}

// FuzzClaims: whatever the cluster signs, the identity is that of one service account, and
// has exactly five metadata.
func FuzzClaims(f *testing.F) {
	x := newFixture(f, func(c *kubernetes.Config) { byKeys(c); c.Audiences = []string{"guidon"} })
	x.server.Key = logintest.New("Ed25519", "cluster")
	x.server.PublishPrivate(logintest.ClusterKeysPath, map[string]any{"keys": []any{x.server.Key.JWK()}})
	x.server.PublishPrivate(logintest.DiscoveryPath, map[string]any{"issuer": "i", "jwks_uri": x.server.URL + logintest.ClusterKeysPath})
	for _, others := range []map[string]any{{"iss": "i"}, {"iss": "i", "exp": 1e12}, {"iss": "i", "kubernetes.io": map[string]any{"pod": 1}}} {
		payload, err := json.Marshal(x.server.Claims("shop", "checkout", others))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(payload))
	}
	f.Fuzz(func(t *testing.T, payload string) {
		token := x.server.Key.Sign("EdDSA", `{"alg":"EdDSA","kid":"cluster"}`, payload)
		identity, err := x.Verify(t.Context(), token)
		if err != nil {
			if guidon.CodeOf(err) != guidon.Unauthenticated || guidon.PublicMessage(err) != "request was not authenticated" {
				t.Errorf("%q: got %v", payload, err)
			}
			return
		}
		checkIdentity(t, x, identity)
	})
}

// checkIdentity checks what holds for every identity.
func checkIdentity(t *testing.T, f *fixture, identity *service.Identity) {
	t.Helper()
	const prefix = "io.service.auth.k8s."
	m := identity.Metadata
	namespace, name := m[prefix+"namespace"], m[prefix+"serviceaccount.name"]
	want := &service.Identity{
		Method: service.MethodKubernetes, Subject: "kubernetes:serviceaccount:" + namespace + "/" + name,
		Subjects: []string{"kubernetes:namespace:" + namespace}, Expires: identity.Expires,
		Metadata: map[string]string{
			prefix + "namespace": namespace, prefix + "pod.name": m[prefix+"pod.name"], prefix + "pod.uid": m[prefix+"pod.uid"],
			prefix + "serviceaccount.name": name, prefix + "serviceaccount.uid": m[prefix+"serviceaccount.uid"],
		},
	}
	if diff := cmp.Diff(want, identity); diff != "" {
		t.Errorf("identity (-want +got):\n%s", diff)
	}
	for key, value := range m {
		if len(value) > 4*253 || strings.ContainsFunc(value, unicode.IsControl) {
			t.Errorf("%s: %q", key, value)
		}
	}
	if strings.ContainsAny(namespace+name, "/:* ") || !identity.Expires.After(f.clock.Now()) {
		t.Errorf("%q expires %v", identity.Subject, identity.Expires)
	}
}

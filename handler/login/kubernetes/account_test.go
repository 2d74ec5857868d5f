package kubernetes_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/kubernetes"
	"github.com/guidonhq/guidon/handler/login/logintest"
	"github.com/guidonhq/guidon/service"
)

func TestIdentity(t *testing.T) {
	for mode, change := range modes {
		f := newFixture(t, change)
		want := &service.Identity{
			Method:   service.MethodKubernetes,
			Subject:  "kubernetes:serviceaccount:shop/checkout",
			Subjects: []string{"kubernetes:namespace:shop"},
			Metadata: map[string]string{
				"io.service.auth.k8s.namespace":           "shop",
				"io.service.auth.k8s.pod.name":            "checkout-7d4b9",
				"io.service.auth.k8s.pod.uid":             "uid-of-pod",
				"io.service.auth.k8s.serviceaccount.name": "checkout",
				"io.service.auth.k8s.serviceaccount.uid":  "uid-of-checkout",
			},
			Expires: f.clock.Now().Add(time.Hour),
		}
		if diff := cmp.Diff(want, f.accept(t, mode, f.token(nil))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", mode, diff)
		}

		private := f.server.Claims("shop", "checkout", nil)["kubernetes.io"].(map[string]any)
		delete(private, "pod")
		want.Metadata["io.service.auth.k8s.pod.name"], want.Metadata["io.service.auth.k8s.pod.uid"] = "", ""
		if diff := cmp.Diff(want, f.accept(t, mode, f.token(map[string]any{"kubernetes.io": private}))); diff != "" {
			t.Errorf("%s, without a pod (-want +got):\n%s", mode, diff)
		}
	}
}

// private returns the claims of kubernetes.io with another member, at a path of names.
func private(f *fixture, value any, path ...string) map[string]any {
	all := f.server.Claims("shop", "checkout", nil)["kubernetes.io"].(map[string]any)
	object := all
	for _, name := range path[:len(path)-1] {
		object = object[name].(map[string]any)
	}
	object[path[len(path)-1]] = value
	return map[string]any{"kubernetes.io": all}
}

// TestRubbish: what cannot be a valid token of a service account is refused, and never
// reaches the API server.
func TestRubbish(t *testing.T) {
	for mode, change := range modes {
		f := newFixture(t, change)
		good := f.token(nil)
		parts := strings.Split(good, ".")
		payload, _ := json.Marshal(f.server.Claims("shop", "checkout", nil))
		sign := func(header, payload string) string { return f.server.Key.Sign("ES256", header, payload) }
		const header = `{"alg":"ES256","kid":"cluster"}`
		for name, token := range map[string]string{
			"nothing":               "",
			"no token":              "hunter2",
			"client token":          "gdn_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
			"two parts":             parts[0] + "." + parts[1],
			"four parts":            good + "." + parts[2],
			"newline":               good + "\n",
			"padding":               good + "=",
			"scheme":                "Bearer " + good,
			"too large":             f.token(map[string]any{"pad": strings.Repeat("x", 12_300)}),
			"very large":            strings.Repeat("x.", 10<<20),
			"logout token":          sign(`{"alg":"ES256","kid":"cluster","typ":"logout+jwt"}`, string(payload)),
			"access token":          sign(`{"alg":"ES256","kid":"cluster","typ":"at+jwt"}`, string(payload)),
			"crit":                  sign(`{"alg":"ES256","kid":"cluster","crit":["exp"]}`, string(payload)),
			"header twice":          sign(`{"alg":"ES256","alg":"none"}`, string(payload)),
			"no claims":             sign(header, `{}`),
			"claims null":           sign(header, `null`),
			"claims in a list":      sign(header, `[]`),
			"claim twice":           sign(header, strings.TrimSuffix(string(payload), "}")+`,"sub":"system:serviceaccount:kube-system:root"}`), // the last counts
			"no exp":                f.token(map[string]any{"exp": nil}),
			"exp as text":           f.token(map[string]any{"exp": "9999999999"}),
			"exp huge":              f.token(map[string]any{"exp": 1e300}),
			"expired":               f.token(map[string]any{"exp": f.at(0)}),
			"iat as text":           f.token(map[string]any{"iat": "1"}),
			"iss number":            f.token(map[string]any{"iss": 1}),
			"aud number":            f.token(map[string]any{"aud": 1}),
			"no sub":                f.token(map[string]any{"sub": nil}),
			"person":                f.token(map[string]any{"sub": "ada"}),
			"node":                  f.token(map[string]any{"sub": "system:node:node-1"}),
			"sub of another":        f.token(map[string]any{"sub": "system:serviceaccount:shop:admin"}),
			"sub with more":         f.token(map[string]any{"sub": "system:serviceaccount:shop:checkout:x"}),
			"sub in capitals":       f.token(map[string]any{"sub": "System:ServiceAccount:shop:checkout"}),
			"no private claims":     f.token(map[string]any{"kubernetes.io": nil}),
			"private claims text":   f.token(map[string]any{"kubernetes.io": "shop"}),
			"legacy private claims": f.token(map[string]any{"kubernetes.io": nil, "kubernetes.io/serviceaccount/namespace": "shop", "kubernetes.io/serviceaccount/service-account.name": "checkout"}),
			"no namespace":          f.token(private(f, "", "namespace")),
			"another namespace":     f.token(private(f, "kube-system", "namespace")),
			"namespace number":      f.token(private(f, 1, "namespace")),
			"another account":       f.token(private(f, "admin", "serviceaccount", "name")),
			"no account":            f.token(private(f, nil, "serviceaccount")),
			"no uid":                f.token(private(f, "", "serviceaccount", "uid")),
			"long uid":              f.token(private(f, strings.Repeat("u", 129), "serviceaccount", "uid")),
			"uid with newline":      f.token(private(f, "a\nb", "serviceaccount", "uid")),
			"pod without uid":       f.token(private(f, "", "pod", "uid")),
			"pod without name":      f.token(private(f, "", "pod", "name")),
			"pod with a long name":  f.token(private(f, strings.Repeat("p", 254), "pod", "name")),
			"pod name number":       f.token(private(f, 7, "pod", "name")),
		} {
			f.refuse(t, mode+", "+name, token)
		}
		for _, name := range []string{"a/b", "a:b", "a b", "A", "*", "", "..", "a\n", strings.Repeat("a", 254)} {
			f.refuse(t, mode+", account "+name, f.server.Key.Token("ES256", f.server.Claims("shop", name, nil)))
			f.refuse(t, mode+", namespace "+name, f.server.Key.Token("ES256", f.server.Claims(name, "checkout", nil)))
		}
		if got := f.server.Reviews(); len(got) != 0 {
			t.Errorf("%s: %d reviews", mode, len(got))
		}
	}
}

func TestLength(t *testing.T) {
	f := newFixture(t, nil)
	token := ""
	for n := 11_000; len(token) < 16<<10-1; n++ {
		token = f.token(map[string]any{"pad": strings.Repeat("x", n)})
	}
	if len(token) > 16<<10 {
		t.Fatalf("the test has a token of %d bytes", len(token))
	}
	f.accept(t, "long", token)
}

// TestForged: tokens that the cluster has not signed.
func TestForged(t *testing.T) {
	for mode, change := range modes {
		f := newFixture(t, change)
		good := strings.Split(f.token(nil), ".")
		other := strings.Split(f.token(map[string]any{"jti": "2"}), ".")
		mallory := logintest.New("P-256 2", "cluster")
		claims := f.server.Claims("shop", "checkout", nil)
		for name, token := range map[string]string{
			"another key":       mallory.Token("ES256", claims),
			"unknown key":       logintest.New("P-256 2", "other").Token("ES256", claims),
			"unsigned":          logintest.Encode([]byte(`{"alg":"none"}`)) + "." + good[1] + ".",
			"alg none":          logintest.Encode([]byte(`{"alg":"none"}`)) + "." + good[1] + "." + good[2],
			"HS256":             logintest.Encode([]byte(`{"alg":"HS256"}`)) + "." + good[1] + "." + good[2],
			"no signature":      good[0] + "." + good[1] + ".",
			"another signature": good[0] + "." + good[1] + "." + other[2],
			"another payload":   good[0] + "." + other[1] + "." + good[2],
			"another issuer":    f.token(map[string]any{"iss": f.server.URL + "/"}),
			"no issuer":         f.token(map[string]any{"iss": nil}),
			"not yet valid":     f.token(map[string]any{"nbf": f.at(time.Hour)}),
		} {
			f.refuse(t, mode+", "+name, token)
		}
	}
}

// TestTimes: a token must not have expired. Its identity expires with it, to the second.
func TestTimes(t *testing.T) {
	for mode, change := range modes {
		f := newFixture(t, change)
		token := f.token(nil)
		end := f.clock.Now().Add(time.Hour)
		f.clock.Advance(time.Hour - 1)
		if got := f.accept(t, mode, token).Expires; !got.Equal(end) {
			t.Errorf("%s: expires %v, want %v", mode, got, end)
		}
		f.clock.Advance(1)
		f.refuse(t, mode+", expired", token)
		f.clock.Advance(time.Second)
		fraction := float64(f.at(30*time.Second)) + 0.75
		if got, want := f.accept(t, mode, f.token(map[string]any{"exp": fraction})).Expires, f.clock.Now().Add(30*time.Second); !got.Equal(want) {
			t.Errorf("%s: expires %v, want %v", mode, got, want)
		}
	}
}

// TestSkew: without the API server, times that are a minute ahead are accepted.
func TestSkew(t *testing.T) {
	f := newFixture(t, byKeys)
	for _, claim := range []string{"nbf", "iat"} {
		f.accept(t, claim, f.token(map[string]any{claim: f.at(time.Minute)}))
		f.refuse(t, claim, f.token(map[string]any{claim: f.at(time.Minute + time.Second)}))
	}
	f.accept(t, "neither", f.token(map[string]any{"nbf": nil, "iat": nil}))
}

func TestMaxLifetime(t *testing.T) {
	for mode, change := range modes {
		f := newFixture(t, func(c *kubernetes.Config) {
			if change != nil {
				change(c)
			}
			c.MaxLifetime = 10 * time.Minute
		})
		f.clock.Advance(time.Millisecond)
		now := f.clock.Now().Truncate(time.Second)
		for lifetime, want := range map[time.Duration]time.Time{
			time.Minute: now.Add(time.Minute), 10 * time.Minute: now.Add(10 * time.Minute),
			11 * time.Minute: now.Add(10 * time.Minute), 365 * 24 * time.Hour: now.Add(10 * time.Minute),
		} {
			if got := f.accept(t, mode, f.token(map[string]any{"exp": f.at(lifetime)})).Expires; !got.Equal(want) {
				t.Errorf("%s, %v: expires %v, want %v", mode, lifetime, got, want)
			}
		}
	}
}

func TestAllowedServiceAccounts(t *testing.T) {
	for allowed, want := range map[string]bool{
		"": true, "shop/checkout": true, "shop/*": true, "*/checkout": true, "*/*": true, "other/x shop/checkout": true,
		"shop/check": false, "shop/checkout2": false, "other/*": false, "*/other": false, "other/checkout": false, "shop/other other/checkout": false,
	} {
		for mode, change := range modes {
			f := newFixture(t, func(c *kubernetes.Config) {
				if change != nil {
					change(c)
				}
				c.AllowedServiceAccounts = strings.Fields(allowed)
			})
			if want {
				f.accept(t, allowed, f.token(nil))
				continue
			}
			err := f.fail(t, mode+", "+allowed, f.token(nil), guidon.PermissionDenied)
			if got := guidon.PublicMessage(err); got != "permission denied" {
				t.Errorf("clients see %q", got)
			}
			f.refuse(t, "forged token of an account that is not allowed", logintest.New("P-256 2", "cluster").Token("ES256", f.server.Claims("shop", "checkout", nil)))
		}
	}
}

package loginstate_test

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/loginstate"
)

func TestSealed(t *testing.T) {
	s, _, clock := newSealer()
	a, c := begin(t, s, "/flags?x=1")
	clock.Advance(lifetime - time.Second)
	got, name, err := s.Open(t.Context(), []*http.Cookie{{Name: "other", Value: "x"}, c}, a.State(), acme.Fingerprint())
	if err != nil {
		t.Fatal(err)
	}
	if name != c.Name || !got.Begun.Equal(a.Begun) || got.ReturnTo != "/flags?x=1" || got.Fingerprint != a.Fingerprint || got.Secret() != a.Secret() {
		t.Errorf("got %+v of %s, want %+v of %s", got, name, a, c.Name)
	}
	if got.Verifier() != a.Verifier() || got.Nonce() != a.Nonce() || got.Digest() != a.Digest() {
		t.Error("the derivations differ")
	}
}

// TestForm opens a cookie by hand: number of the key, nonce, and version, time, secret,
// fingerprint and path under a key that is derived for cookies.
func TestForm(t *testing.T) {
	s, keys, _ := newSealer()
	keys.add(0x0102030405060708)
	a, c := begin(t, s, "/flags")
	raw, err := base64.RawURLEncoding.DecodeString(c.Value)
	if err != nil {
		t.Fatal(err)
	}
	if got := binary.BigEndian.Uint64(raw); got != 0x0102030405060708 {
		t.Errorf("number of the key is %x", got)
	}
	block, err := aes.NewCipher(hkdf(keys.keys[1].Secret[:], "guidon: key of login cookies"))
	if err != nil {
		t.Fatal(err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	got, err := gcm.Open(nil, raw[8:20], raw[20:], []byte(c.Name))
	if err != nil {
		t.Fatal(err)
	}
	secret, fingerprint := a.Secret(), a.Fingerprint
	want := binary.BigEndian.AppendUint64([]byte{1}, uint64(a.Begun.Unix())) // #nosec G115 -- the bits are meant
	want = append(append(append(want, secret[:]...), fingerprint[:]...), "/flags"...)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("content (-want +got):\n%s", diff)
	}
	if _, again := begin(t, s, "/flags"); again.Value == c.Value {
		t.Error("two cookies are equal")
	}
}

// TestRefused: each step of the callback fails closed, and clients see the same.
func TestRefused(t *testing.T) {
	other := acme
	other.ClientID = "other"
	for _, test := range []struct {
		name string
		// change changes what the browser sends, or the time.
		change func(t *testing.T, r *returned)
		want   string // in the error
	}{
		{"no cookie", func(_ *testing.T, r *returned) { r.cookies = nil }, "0 login cookies"},
		{"two cookies", func(_ *testing.T, r *returned) { r.cookies = append(r.cookies, r.cookies[0]) }, "2 login cookies"},
		{"cookie of another attempt only", func(t *testing.T, r *returned) {
			_, c := begin(t, r.sealer, "/")
			r.cookies = []*http.Cookie{c}
		}, "0 login cookies"},
		{"cookie of another attempt, renamed", func(t *testing.T, r *returned) {
			_, c := begin(t, r.sealer, "/")
			r.cookies[0].Value = c.Value
		}, "not sealed by this service"},
		{"empty value", func(_ *testing.T, r *returned) { r.cookies[0].Value = "" }, "malformed"},
		{"short value", func(_ *testing.T, r *returned) { r.cookies[0].Value = "AQAB" }, "malformed"},
		{"not base64url", func(_ *testing.T, r *returned) { r.cookies[0].Value += "=" }, "malformed"},
		{"key number only", func(_ *testing.T, r *returned) {
			r.cookies[0].Value = base64.RawURLEncoding.EncodeToString([]byte{0, 0, 0, 0, 0, 0, 0, 1})
		}, "not sealed by this service"},
		{"too long", func(_ *testing.T, r *returned) { r.cookies[0].Value += strings.Repeat("A", 1024) }, "bytes"},
		{"truncated", func(_ *testing.T, r *returned) { r.cookies[0].Value = r.cookies[0].Value[:40] }, "not sealed by this service"},
		{"too old", func(_ *testing.T, r *returned) { r.advance(lifetime) }, "old"},
		{"from the future", func(_ *testing.T, r *returned) { r.advance(-61 * time.Second) }, "old"},
		{"unknown key", func(_ *testing.T, r *returned) { r.keys.keys[0].Number = 2 }, "unknown key"},
		{"another secret", func(_ *testing.T, r *returned) { r.keys.keys[0].Secret[0]++ }, "not sealed by this service"},
		{"another provider", func(_ *testing.T, r *returned) { r.provider = other.Fingerprint() }, "another provider"},
		{"no state", func(_ *testing.T, r *returned) { r.state = "" }, "0 login cookies"},
		{"another state", func(_ *testing.T, r *returned) { r.state += "x" }, "0 login cookies"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newReturned(t)
			test.change(t, r)
			a, _, err := r.sealer.Open(t.Context(), r.cookies, r.state, r.provider)
			if a != nil || guidon.CodeOf(err) != guidon.Unauthenticated || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v and %v, want Unauthenticated that contains %q", a, err, test.want)
			}
			if got, want := guidon.PublicMessage(err), "this attempt to sign in is not valid; begin again"; got != want {
				t.Errorf("clients see %q, want %q", got, want)
			}
		})
	}
}

// returned has the values with which the browser returns.
type returned struct {
	sealer   *loginstate.Sealer
	keys     *secrets
	advance  func(time.Duration)
	cookies  []*http.Cookie
	state    string
	provider loginstate.Fingerprint
}

func newReturned(t *testing.T) *returned {
	t.Helper()
	s, keys, clock := newSealer()
	a, c := begin(t, s, "/flags")
	return &returned{s, keys, clock.Advance, []*http.Cookie{c}, a.State(), acme.Fingerprint()}
}

// TestEveryBit: a cookie of which any bit was changed does not open.
func TestEveryBit(t *testing.T) {
	r := newReturned(t)
	raw, err := base64.RawURLEncoding.DecodeString(r.cookies[0].Value)
	if err != nil {
		t.Fatal(err)
	}
	for i := range len(raw) * 8 {
		changed := slices.Clone(raw)
		changed[i/8] ^= 1 << (i % 8)
		c := &http.Cookie{Name: r.cookies[0].Name, Value: base64.RawURLEncoding.EncodeToString(changed)}
		if _, _, err := r.sealer.Open(t.Context(), []*http.Cookie{c}, r.state, r.provider); guidon.CodeOf(err) != guidon.Unauthenticated {
			t.Fatalf("bit %d: got %v, want Unauthenticated", i, err)
		}
	}
}

// TestStateIsCompared: even a cookie that was sealed for the name of a state opens only
// for that state.
func TestStateIsCompared(t *testing.T) {
	r := newReturned(t)
	plain := binary.BigEndian.AppendUint64([]byte{1}, uint64(r.sealer.Now().Unix())) // #nosec G115 -- the bits are meant
	plain = append(append(append(plain, make([]byte, 32)...), r.provider[:]...), '/')
	key := r.keys.keys[0]
	value := append(binary.BigEndian.AppendUint64(nil, 1), loginstate.SealPlain(key, r.cookies[0].Name, plain)...)
	r.cookies[0].Value = base64.RawURLEncoding.EncodeToString(value)
	_, _, err := r.sealer.Open(t.Context(), r.cookies, r.state, r.provider)
	if guidon.CodeOf(err) != guidon.Unauthenticated || !strings.Contains(err.Error(), "another state") {
		t.Errorf("got %v, want a cookie of another state", err)
	}
}

// TestSealedContent: content of another version, or with a path that is not allowed, is
// refused although this service has sealed it.
func TestSealedContent(t *testing.T) {
	r := newReturned(t)
	content := func(version byte, returnTo string) []byte {
		b := binary.BigEndian.AppendUint64([]byte{version}, uint64(r.sealer.Now().Unix())) // #nosec G115 -- the bits are meant
		return append(append(b, make([]byte, 64)...), returnTo...)
	}
	for _, test := range []struct {
		name  string
		plain []byte
		want  string // in the error
	}{
		{"empty", nil, "unknown version"},
		{"short", make([]byte, 72), "unknown version"},
		{"version 0", content(0, "/"), "unknown version"},
		{"version 2", content(2, "/"), "unknown version"},
		{"no path", content(1, ""), "invalid return_to"},
		{"foreign path", content(1, "//evil.example"), "invalid return_to"},
	} {
		value := append(binary.BigEndian.AppendUint64(nil, 1), loginstate.SealPlain(r.keys.keys[0], r.cookies[0].Name, test.plain)...)
		c := &http.Cookie{Name: r.cookies[0].Name, Value: base64.RawURLEncoding.EncodeToString(value)}
		_, _, err := r.sealer.Open(t.Context(), []*http.Cookie{c}, r.state, r.provider)
		if guidon.CodeOf(err) != guidon.Unauthenticated || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want Unauthenticated that contains %q", test.name, err, test.want)
		}
	}
}

// TestKeyRotation: cookies sealed under an older key open as long as it is there.
func TestKeyRotation(t *testing.T) {
	r := newReturned(t)
	r.keys.add(2)
	if _, _, err := r.sealer.Open(t.Context(), r.cookies, r.state, r.provider); err != nil {
		t.Errorf("after a rotation: %v", err)
	}
	a, c := begin(t, r.sealer, "/")
	r.keys.keys = r.keys.keys[1:]
	if _, _, err := r.sealer.Open(t.Context(), []*http.Cookie{c}, a.State(), r.provider); err != nil {
		t.Errorf("sealed under the new key: %v", err)
	}
	if _, _, err := r.sealer.Open(t.Context(), r.cookies, r.state, r.provider); guidon.CodeOf(err) != guidon.Unauthenticated {
		t.Errorf("without the old key: got %v, want Unauthenticated", err)
	}
}

// TestKeysFail: that the database does not answer is no fault of the cookie.
func TestKeysFail(t *testing.T) {
	r := newReturned(t)
	a, _ := begin(t, r.sealer, "/")
	r.keys.err = guidon.Errorf(guidon.Unavailable, "the database is away")
	if _, _, err := r.sealer.Open(t.Context(), r.cookies, r.state, r.provider); !errors.Is(err, guidon.Unavailable) {
		t.Errorf("open: got %v, want Unavailable", err)
	}
	if _, err := r.sealer.Cookie(t.Context(), a); !errors.Is(err, guidon.Unavailable) {
		t.Errorf("seal: got %v, want Unavailable", err)
	}
	if _, err := r.sealer.Surplus(t.Context(), r.cookies); !errors.Is(err, guidon.Unavailable) {
		t.Errorf("surplus: got %v, want Unavailable", err)
	}
}

func TestCookieAttributes(t *testing.T) {
	s, _, _ := newSealer()
	for _, test := range []struct {
		name         string
		host, secure bool
		path         string
		want         http.Cookie // without name and value
		prefix       string
	}{
		{
			"plain", false, false, "/base/auth/v1/method/",
			http.Cookie{Path: "/base/auth/v1/method/", MaxAge: 600, HttpOnly: true, SameSite: http.SameSiteLaxMode}, "service_client_state_",
		},
		{
			"secure", false, true, "/auth/v1/method/",
			http.Cookie{Path: "/auth/v1/method/", MaxAge: 600, HttpOnly: true, Secure: true, SameSite: http.SameSiteLaxMode}, "service_client_state_",
		},
		{
			"for this host only", true, false, "/auth/v1/method/",
			http.Cookie{Path: "/", MaxAge: 600, HttpOnly: true, Secure: true, SameSite: http.SameSiteLaxMode}, "__Host-service_client_state_",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s.HostPrefix, s.Secure, s.Path = test.host, test.secure, test.path
			a, err := loginstate.Begin(s.Now(), acme.Fingerprint(), "/"+strings.Repeat("a", 511))
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.Cookie(t.Context(), a)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Value) >= 1024 {
				t.Errorf("the value has %d bytes, want less than 1024", len(got.Value))
			}
			if id, found := strings.CutPrefix(got.Name, test.prefix); !found || len(id) != 12 {
				t.Errorf("the name is %q, want %s and 12 characters", got.Name, test.prefix)
			}
			if header := got.String(); header == "" || got.Valid() != nil {
				t.Errorf("the cookie is not valid: %v", got.Valid())
			}
			if opened, _, err := s.Open(t.Context(), []*http.Cookie{got}, a.State(), acme.Fingerprint()); err != nil || opened.ReturnTo != a.ReturnTo {
				t.Errorf("got %v and %v, want the attempt", opened, err)
			}
			forget := s.Forget(got.Name)
			test.want.Name, test.want.Value = got.Name, got.Value
			if diff := cmp.Diff(test.want, *got); diff != "" {
				t.Errorf("cookie (-want +got):\n%s", diff)
			}
			test.want.Value, test.want.MaxAge = "", -1
			if diff := cmp.Diff(test.want, *forget); diff != "" {
				t.Errorf("cookie to forget (-want +got):\n%s", diff)
			}
		})
	}
}

// TestHostPrefixOnly: with the prefix, cookies without it are not read.
func TestHostPrefixOnly(t *testing.T) {
	r := newReturned(t)
	r.sealer.HostPrefix = true
	if _, _, err := r.sealer.Open(t.Context(), r.cookies, r.state, r.provider); guidon.CodeOf(err) != guidon.Unauthenticated {
		t.Errorf("got %v, want Unauthenticated", err)
	}
}

func TestSurplus(t *testing.T) {
	s, _, clock := newSealer()
	var all []*http.Cookie
	for range 6 {
		_, c := begin(t, s, "/")
		all = append(all, c)
		clock.Advance(time.Minute)
	}
	rubbish := &http.Cookie{Name: "service_client_state_AAAAAAAAAAAA", Value: "rubbish"}
	odd := &http.Cookie{Name: "service_client_state_", Value: ""}
	session := &http.Cookie{Name: "service_client_token", Value: "rubbish"}
	names := func(cookies ...*http.Cookie) []string {
		var list []string
		for _, c := range cookies {
			list = append(list, c.Name)
		}
		return list
	}
	for _, test := range []struct {
		name    string
		cookies []*http.Cookie
		want    []string
	}{
		{"none", nil, nil},
		{"of others", []*http.Cookie{session}, nil},
		{"four", all[:4], nil},
		{"five", all[:5], names(all[0])},
		{"six, in another order", []*http.Cookie{all[5], all[0], all[3], all[1], all[4], all[2]}, names(all[0], all[1])},
		{"rubbish", []*http.Cookie{all[0], rubbish, all[1], odd, session}, names(rubbish, odd)},
		{"rubbish and five", append([]*http.Cookie{rubbish}, all[:5]...), names(rubbish, all[0])},
		{"one twice", []*http.Cookie{all[0], all[0], rubbish, rubbish}, names(rubbish)},
	} {
		got, err := s.Surplus(t.Context(), test.cookies)
		if diff := cmp.Diff(test.want, append([]string(nil), got...)); err != nil || diff != "" {
			t.Errorf("%s: error %v, names (-want +got):\n%s", test.name, err, diff)
		}
	}
	clock.Advance(lifetime - 4*time.Minute)
	if got, err := s.Surplus(t.Context(), all); err != nil || !slices.Equal(got, names(all[:3]...)) {
		t.Errorf("later: got %v and %v, want those that are too old", got, err)
	}
}

// FuzzCookie: no value but the sealed one opens.
func FuzzCookie(f *testing.F) {
	s, _, _ := newSealer()
	a, c := begin(f, s, "/flags")
	f.Add(c.Value)
	f.Add("")
	f.Add(c.Value[:20])
	f.Add(c.Value + "\n")
	f.Fuzz(func(t *testing.T, value string) {
		_, _, err := s.Open(t.Context(), []*http.Cookie{{Name: c.Name, Value: value}}, a.State(), acme.Fingerprint())
		if (err == nil) != (value == c.Value) || err != nil && guidon.CodeOf(err) != guidon.Unauthenticated {
			t.Errorf("%q: got %v", value, err)
		}
		if _, err := s.Surplus(t.Context(), []*http.Cookie{{Name: c.Name, Value: value}}); err != nil {
			t.Errorf("%q: surplus: %v", value, err)
		}
	})
}

// FuzzContent: whatever was sealed, an attempt that opens leads to an allowed path.
func FuzzContent(f *testing.F) {
	s, keys, _ := newSealer()
	fresh := binary.BigEndian.AppendUint64([]byte{1}, uint64(s.Now().Unix())) // #nosec G115 -- the bits are meant
	f.Add(append(append(fresh, make([]byte, 64)...), "/flags"...))
	f.Add([]byte{1})
	f.Fuzz(func(t *testing.T, plain []byte) {
		const state = "state"
		digest := sha256.Sum256([]byte(state))
		name := "service_client_state_" + base64.RawURLEncoding.EncodeToString(digest[:])[:12]
		value := append(binary.BigEndian.AppendUint64(nil, 1), loginstate.SealPlain(keys.keys[0], name, plain)...)
		cookies := []*http.Cookie{{Name: name, Value: base64.RawURLEncoding.EncodeToString(value)}}
		// The state was not derived from the secret, so it is the last thing to be wrong.
		var fingerprint loginstate.Fingerprint
		if len(plain) >= 73 {
			fingerprint = loginstate.Fingerprint(plain[41:73])
		}
		_, _, err := s.Open(t.Context(), cookies, state, fingerprint)
		if guidon.CodeOf(err) != guidon.Unauthenticated {
			t.Fatalf("got %v, want Unauthenticated", err)
		}
		if strings.Contains(err.Error(), "another state") && loginstate.CheckReturnTo(string(plain[73:])) != nil {
			t.Errorf("%q was accepted but for its state", plain)
		}
	})
}

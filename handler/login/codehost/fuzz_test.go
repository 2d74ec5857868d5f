package codehost_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/codehost"
	"github.com/guidonhq/guidon/handler/login/logintest"
	"github.com/guidonhq/guidon/service"
)

var subject = regexp.MustCompile(`^codehost:id:[1-9][0-9]{0,18}$`)

// checkSound checks what holds for every identity.
func checkSound(t *testing.T, identity *service.Identity) {
	t.Helper()
	if identity.Method != service.MethodCodehost || !subject.MatchString(identity.Subject) {
		t.Errorf("method %v and subject %q", identity.Method, identity.Subject)
	}
	for _, s := range identity.Subjects {
		if !service.IsClean(s) || s != service.FoldCase(s) || !strings.HasPrefix(s, "codehost:") || strings.HasSuffix(s, ":") {
			t.Errorf("subject %q", s)
		}
	}
	checkMetadata(t, identity)
}

// FuzzUser: whatever the API says about the account, it has a number, or nobody signs in.
func FuzzUser(f *testing.F) {
	doubles, hosts := map[string]*logintest.CodeHost{}, map[string]*codehost.Host{}
	for _, kind := range kinds {
		doubles[kind], hosts[kind] = start(f, kind, nil)
	}
	for _, body := range []string{
		`{"id":583231,"login":"ada","name":"Ada","avatar_url":"https://a.example/","state":"active","email":"ada@corp.example","confirmed_at":"2012-05-23T09:05:22Z"}`,
		`{"id":1,"ID":2,"state":"active"}`, `{"id":0}`, `{"id":-1}`, `{"id":1e3}`, `{"id":"1"}`, `{"id":9223372036854775808}`, `{"id":null}`, `[]`, `null`, ``, `{"id":1}x`,
		`{"id":1,"state":"active","name":"\u0000\ud800","email":"a@b@c","confirmed_at":"x","avatar_url":"javascript:x"}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, kind := range kinds {
			double, host := doubles[kind], hosts[kind]
			double.Serve(paths[kind][0], http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) }))
			identity, err := signIn(t, double, host)
			switch code := guidon.CodeOf(err); {
			case err == nil:
				checkSound(t, identity)
			case code != guidon.Unavailable && (kind != codehost.GitLab || code != guidon.PermissionDenied):
				t.Errorf("%s: got %v", kind, err)
			}
		}
	})
}

// FuzzLists: whatever is in the lists, subjects are sound.
func FuzzLists(f *testing.F) {
	doubles, hosts := map[string]*logintest.CodeHost{}, map[string]*codehost.Host{}
	for _, kind := range kinds {
		doubles[kind], hosts[kind] = start(f, kind, nil)
	}
	for _, body := range []string{
		`[{"email":"Ada@Corp.example","primary":true,"verified":true,"login":"Acme","username":"Acme","slug":"Ops","name":"Ops","organization":{"login":"Acme","username":"Acme"}}]`,
		`{"groups":["Acme","acme/Ops"]}`, `{"groups":[""]}`, `{"groups":null}`, `{"groups":[1]}`, `[]`, `null`, `[null]`, `[{}]`, `[{"login":"a/b"}]`,
		`[{"email":"a@b","primary":"true","verified":1}]`, `[{"login":"\u0000"}]`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, kind := range kinds {
			double, host := doubles[kind], hosts[kind]
			for _, path := range paths[kind][1:] {
				old := double.Serve(path, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("X-Total-Count", "1")
					_, _ = w.Write(body)
				}))
				identity, err := signIn(t, double, host)
				double.Serve(path, old)
				switch code := guidon.CodeOf(err); {
				case err == nil:
					checkSound(t, identity)
				case code != guidon.Unavailable && (kind != codehost.GitLab || code != guidon.PermissionDenied):
					t.Errorf("%s: got %v", path, err)
				}
			}
		}
	})
}

package codehost_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/codehost"
	"github.com/guidonhq/guidon/handler/login/logintest"
	"github.com/guidonhq/guidon/service"
)

func TestIdentity(t *testing.T) {
	const picture = "https://avatars.example/u/583231?v=4"
	profile := func(prefix string) map[string]string {
		return map[string]string{prefix + "name": "Ada Lovelace", prefix + "email": "ada@corp.example", prefix + "picture": picture}
	}
	metadata := func(organizations, teams string, prefixes ...string) map[string]string {
		all := profile("io.service.auth.")
		for _, p := range prefixes {
			for key, value := range profile(p) {
				all[key] = value
			}
			all[p+"sub"], all[p+"preferred_username"], all[p+"organizations"] = "583231", "Ada", organizations
			if teams != "" {
				all[p+"teams"] = teams
			}
		}
		return all
	}
	const lists, listed = `["Acme","widgets"]`, `{"Acme":["Backend"],"widgets":["ops"]}`
	withTeams := []string{
		"codehost:domain:corp.example", "codehost:email:ada@corp.example", "codehost:org:acme", "codehost:org:widgets",
		"codehost:team:acme/backend", "codehost:team:widgets/ops",
	}
	for kind, want := range map[string]*service.Identity{
		codehost.GitHub: {Subjects: withTeams, Metadata: metadata(lists, listed, "io.service.auth.github.", "io.service.auth.codehost.")},
		codehost.Gitea:  {Subjects: withTeams, Metadata: metadata(lists, listed, "io.service.auth.codehost.")},
		codehost.GitLab: {
			Subjects: []string{
				"codehost:domain:corp.example", "codehost:email:ada@corp.example", "codehost:org:acme", "codehost:org:acme/backend", "codehost:org:widgets",
			},
			Metadata: metadata(`["Acme","Acme/Backend","widgets"]`, "", "io.service.auth.codehost."),
		},
	} {
		t.Run(kind, func(t *testing.T) {
			want.Method, want.Subject = service.MethodCodehost, "codehost:id:583231"
			double, host := start(t, kind, nil)
			got, err := signIn(t, double, host)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("identity (-want +got):\n%s", diff)
			}
			for _, path := range paths[kind] {
				if n := double.Requests(path); n != 1 {
					t.Errorf("%s got %d requests, want 1", path, n)
				}
			}
		})
	}
}

// TestRename: an account is its number, whatever its name is.
func TestRename(t *testing.T) {
	forEach(t, func(t *testing.T, kind string) {
		double, host := start(t, kind, nil)
		var subjects []string
		for _, login := range []string{"ada", "countess", "583231"} {
			double.Account.Login = login
			identity, err := signIn(t, double, host)
			if err != nil {
				t.Fatal(err)
			}
			subjects = append(subjects, identity.Subject)
			if got := identity.Metadata["io.service.auth.codehost.preferred_username"]; got != login {
				t.Errorf("user name %q, want %q", got, login)
			}
		}
		if diff := cmp.Diff([]string{"codehost:id:583231", "codehost:id:583231", "codehost:id:583231"}, subjects); diff != "" {
			t.Errorf("subjects (-want +got):\n%s", diff)
		}
	})
}

func TestID(t *testing.T) {
	forEach(t, func(t *testing.T, kind string) {
		double, host := start(t, kind, nil)
		for _, test := range []struct{ id, want string }{
			{"1", "1"}, {"9007199254740993", "9007199254740993"}, {"9223372036854775807", "9223372036854775807"},
			{"9223372036854775808", ""}, {"0", ""}, {"-1", ""}, {"1.0", ""}, {"1.5", ""}, {"1e3", ""}, {`"1"`, ""}, {"null", ""},
			{"true", ""}, {"[1]", ""}, {strings.Repeat("9", 5000), ""},
		} {
			double.Account.ID = json.RawMessage(test.id)
			identity, err := signIn(t, double, host)
			switch {
			case test.want == "":
				checkError(t, err, guidon.Unavailable)
				if err != nil && len(err.Error()) > 1000 {
					t.Errorf("%d bytes of error", len(err.Error()))
				}
			case err != nil:
				t.Errorf("%s: %v", test.id, err)
			case identity.Subject != "codehost:id:"+test.want:
				t.Errorf("%s: got %s, want codehost:id:%s", test.id, identity.Subject, test.want)
			}
		}
		double.Serve(paths[kind][0], respond(http.StatusOK, `{"login":"ada","username":"ada","state":"active"}`))
		_, err := signIn(t, double, host)
		checkError(t, err, guidon.Unavailable, "id")
	})
}

// TestState: only active accounts of GitLab may sign in.
func TestState(t *testing.T) {
	double, host := start(t, codehost.GitLab, nil)
	for _, state := range []string{"blocked", "ldap_blocked", "banned", "deactivated", "blocked_pending_approval", "Active", ""} {
		double.Account.State = state
		_, err := signIn(t, double, host)
		checkError(t, err, guidon.PermissionDenied, fmt.Sprintf("%q", state), "must be active")
	}
	if n := double.Requests("/oauth/userinfo"); n != 0 {
		t.Errorf("groups were requested %d times", n)
	}
}

func TestEmail(t *testing.T) {
	mail := func(email string, primary, verified bool) logintest.Email {
		return logintest.Email{Email: email, Primary: primary, Verified: verified}
	}
	for _, kind := range []string{codehost.GitHub, codehost.Gitea} {
		t.Run(kind, func(t *testing.T) {
			double, host := start(t, kind, nil)
			for _, test := range []struct {
				name          string
				emails        []logintest.Email
				email, domain string
			}{
				{"primary and verified", []logintest.Email{mail("a@x.example", true, true)}, "a@x.example", "x.example"},
				{"after others", []logintest.Email{mail("b@y.example", false, true), mail("c@z.example", false, false), mail("a@x.example", true, true)}, "a@x.example", "x.example"},
				{"upper case", []logintest.Email{mail("Ada.L@X.Example", true, true)}, "ada.l@x.example", "x.example"},
				{"primary, not verified", []logintest.Email{mail("a@x.example", true, false), mail("b@y.example", false, true)}, "", ""},
				{"verified, not primary", []logintest.Email{mail("a@x.example", false, true)}, "", ""},
				{"neither", []logintest.Email{mail("a@x.example", false, false)}, "", ""},
				{"no address", nil, "", ""},
				{"two signs", []logintest.Email{mail("a@evil.example@corp.example", true, true)}, "", ""},
				{"no domain", []logintest.Email{mail("a@", true, true)}, "", ""},
				{"not ASCII", []logintest.Email{mail("a@\u212aorp.example", true, true)}, "a@\u212aorp.example", ""},
			} {
				double.Account.Emails = test.emails
				checkEmail(t, test.name, double, host, test.email, test.domain)
			}
		})
	}
}

func TestConfirmedEmail(t *testing.T) {
	double, host := start(t, codehost.GitLab, nil)
	double.Account.Emails = []logintest.Email{{Email: "Ada@Corp.example", Verified: true}}
	checkEmail(t, "confirmed", double, host, "ada@corp.example", "corp.example")
	double.Account.Emails[0].Verified = false
	checkEmail(t, "not confirmed", double, host, "", "")
	for _, confirmed := range []string{"", `,"confirmed_at":""`, `,"confirmed_at":null`} {
		double.Serve("/api/v4/user", respond(http.StatusOK, `{"id":1,"state":"active","email":"ada@corp.example"`+confirmed+`}`))
		checkEmail(t, confirmed, double, host, "", "")
	}
}

func checkEmail(t *testing.T, name string, double *logintest.CodeHost, host *codehost.Host, email, domain string) {
	t.Helper()
	identity, err := signIn(t, double, host)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	got := append(having(identity, "codehost:email:"), having(identity, "codehost:domain:")...)
	var want []string
	for _, s := range []string{email, domain} {
		if s != "" {
			want = append(want, s)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: address and domain (-want +got):\n%s", name, diff)
	}
	if got := identity.Metadata["io.service.auth.email"]; got != email {
		t.Errorf("%s: metadata has %q, want %q", name, got, email)
	}
}

// TestCase: names in any case give the same subjects, once.
func TestCase(t *testing.T) {
	for _, kind := range []string{codehost.GitHub, codehost.Gitea} {
		double, host := start(t, kind, nil)
		double.Account.Organizations = []string{"ACME", "acme", "AcMe-2", "\u212aelvin"}
		double.Account.Teams = [][2]string{{"ACME", "OPS"}, {"acme", "ops"}, {"Acme", "Backend"}}
		identity, err := signIn(t, double, host)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"acme", "acme-2", "\u212aelvin"}, having(identity, "codehost:org:")); diff != "" {
			t.Errorf("%s: organizations (-want +got):\n%s", kind, diff)
		}
		if diff := cmp.Diff([]string{"acme/backend", "acme/ops"}, having(identity, "codehost:team:")); diff != "" {
			t.Errorf("%s: teams (-want +got):\n%s", kind, diff)
		}
	}
}

// TestNestedGroups: GitLab's groups have their full paths, however deep.
func TestNestedGroups(t *testing.T) {
	double, host := start(t, codehost.GitLab, nil)
	double.Account.Organizations = []string{"a/B/c/D/e", "a", "other/b"}
	identity, err := signIn(t, double, host)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a", "a/b/c/d/e", "other/b"}, having(identity, "codehost:org:")); diff != "" {
		t.Errorf("organizations (-want +got):\n%s", diff)
	}
}

// TestNames: what could be mistaken for another subject is rejected, not left out.
func TestNames(t *testing.T) {
	forEach(t, func(t *testing.T, kind string) {
		double, host := start(t, kind, nil)
		bad := []string{"", "a\nb", "a\x00", strings.Repeat("a", 1025)}
		if kind != codehost.GitLab {
			bad = append(bad, "a/b", "/", "a/")
		}
		account := double.Account
		for _, name := range bad {
			double.Account.Organizations = []string{"acme", name}
			_, err := signIn(t, double, host)
			checkError(t, err, guidon.Unavailable, "invalid name of an organization")
			if kind == codehost.GitLab {
				continue
			}
			double.Account = account
			for _, team := range [][2]string{{"acme", name}, {name, "ops"}} {
				double.Account.Teams = [][2]string{team}
				_, err := signIn(t, double, host)
				checkError(t, err, guidon.Unavailable, "invalid name of a team")
			}
		}
	})
}

func TestMissingOrganizations(t *testing.T) {
	identity := &service.Identity{Subjects: []string{"codehost:org:acme", "codehost:org:acme/backend", "codehost:team:widgets/ops", "codehost:email:other"}}
	for _, test := range []struct{ allowed, want []string }{
		{nil, nil},
		{[]string{"acme"}, []string{}},
		{[]string{"ACME", "Acme/Backend"}, []string{}},
		{[]string{"Widgets", "acme", "other", "acm"}, []string{"Widgets", "other", "acm"}},
	} {
		given := append([]string(nil), test.allowed...)
		if diff := cmp.Diff(test.want, codehost.MissingOrganizations(identity, test.allowed)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", test.allowed, diff)
		}
		if diff := cmp.Diff(given, test.allowed); diff != "" {
			t.Errorf("the argument was changed (-before +after):\n%s", diff)
		}
	}
}

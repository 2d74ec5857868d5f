package service_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// TestParseSubject covers every form, and what folding changes.
func TestParseSubject(t *testing.T) {
	long := strings.Repeat("x", 255)
	for _, test := range []struct{ subject, want string }{ // want "" means the same
		{"oidc:google:sub:110169484474386276334", ""},
		{"oidc:google:sub:auth0|5f7C:8/x=1", ""},
		{"oidc:google:sub:" + long, ""},
		{"oidc:google:sub:" + strings.Repeat("é", 255), ""},
		{"oidc:google:email:Ada@Example.COM", "oidc:google:email:ada@example.com"},
		{"oidc:google:email:\u212Aate@example.com", ""},
		{"oidc:google:domain:Example.com", "oidc:google:domain:example.com"},
		{"oidc:a-b_c9:group:Payments Team", ""},
		{"oidc:" + strings.Repeat("p", 32) + ":group:/realm/Ops:a", ""},
		{"oidc:google:*", ""},
		{"codehost:id:583231", ""},
		{"codehost:email:ADA@example.com", "codehost:email:ada@example.com"},
		{"codehost:domain:EXAMPLE.com", "codehost:domain:example.com"},
		{"codehost:org:Acme", "codehost:org:acme"},
		{"codehost:team:Acme/Backend", "codehost:team:acme/backend"},
		{"codehost:org:acme/platform", ""},
		{"codehost:team:acme/backend", ""},
		{"codehost:*", ""},
		{"kubernetes:namespace:shop", ""},
		{"kubernetes:serviceaccount:shop/checkout.v2", ""},
		{"kubernetes:*", ""},
		{"jwt:sub:service-a", ""},
		{"jwt:sub:Ada@Example.com", ""},
		{"jwt:group:Payments", ""},
		{"jwt:claim:https://example.com/team=a=b", ""},
		{"jwt:*", ""},
	} {
		want := test.want
		if want == "" {
			want = test.subject
		}
		got, err := service.ParseSubject(test.subject)
		if err != nil || got != want {
			t.Errorf("%q: got %q, %v, want %q", test.subject, got, err, want)
		}
	}
}

func TestParseSubjectRefuses(t *testing.T) {
	const forms, one = "must have one of the forms", "must name one, without patterns"
	for _, test := range []struct{ subject, want string }{
		{"", forms}, {"*", forms}, {"oidc", forms}, {"google:sub:1", forms}, {"OIDC:google:sub:1", forms},
		{"oidc:google", forms}, {"oidc:sub:1", forms}, {"oidc:*", forms}, {"oidc:google:org:acme", forms},
		{"oidc:google:*:*", forms}, {"oidc:google:*:sub", forms}, {"codehost:*:", forms}, {"token:*", forms},
		{"codehost:login:ada", forms}, {"codehost:sub:1", forms}, {"kubernetes:pod:x", forms}, {"jwt:email:ada@example.com", forms},
		{"oidc::sub:1", "must name a provider"}, {"oidc:Google:sub:1", "must name a provider"}, {"oidc:-x:*", "must name a provider"},
		{"oidc:" + strings.Repeat("p", 33) + ":*", "must name a provider"}, {"oidc:*:*", "must name a provider"}, {"oidc:*:sub:1", "must name a provider"},
		{"oidc:google:sub:", one}, {"oidc:google:sub", one}, {"oidc:google:group:*", one}, {"jwt:sub:*", one}, {"codehost:org:", one},
		{"oidc:google:email:ada", "must be an e-mail address"}, {"oidc:google:email:@example.com", "must be an e-mail address"},
		{"oidc:google:email:a@b@example.com", "must be an e-mail address"}, {"oidc:google:email:*@example.com", "must be an e-mail address"},
		{"oidc:google:email:ada@exämple.com", "must be an e-mail address"}, {"codehost:email:ada@", "must be an e-mail address"},
		{"oidc:google:domain:@example.com", "must be a domain"}, {"oidc:google:domain:*.example.com", "must be a domain"}, {"codehost:domain:", "must be a domain"},
		{"codehost:id:ada", "must be the number"}, {"codehost:id:" + strings.Repeat("1", 21), "must be the number"},
		{"codehost:team:backend", "acme/backend"}, {"codehost:team:acme/", "acme/backend"}, {"codehost:team:acme/*", "acme/backend"},
		{"kubernetes:namespace:Shop", "Kubernetes namespace"}, {"kubernetes:namespace:pay-*", "Kubernetes namespace"}, {"kubernetes:namespace:" + strings.Repeat("n", 64), "Kubernetes namespace"},
		{"kubernetes:serviceaccount:shop", "service account such as"}, {"kubernetes:serviceaccount:shop/*", "service account such as"}, {"kubernetes:serviceaccount:shop/a/b", "service account such as"},
		{"kubernetes:serviceaccount:shop/a..b", "service account such as"}, {"kubernetes:serviceaccount:shop/a.-b", "service account such as"},
		{"kubernetes:serviceaccount:shop/" + strings.Repeat("a", 254), "service account such as"}, {"jwt:sub:a\u202eb", "control characters"},
		{"jwt:claim:team", "name of a claim"}, {"jwt:claim:=x", "name of a claim"}, {"jwt:claim:team=", "name of a claim"}, {"jwt:claim:team=*", "name of a claim"},
		{"oidc:google:sub:a\nb", "control characters"}, {"jwt:claim:a\u0085=b", "control characters"}, {"oidc:google:sub:a\x00", "NUL"}, {"oidc:google:email:A\xff@example.com", "UTF-8"},
		{"oidc:google:sub:" + strings.Repeat("x", 256), "255 characters"},
	} {
		_, err := service.ParseSubject(test.subject)
		if !errors.Is(err, guidon.InvalidArgument) || !strings.Contains(err.Error(), "invalid field subject: ") || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: got error %v, want one with %q", test.subject, err, test.want)
		}
	}
}

// TestBindingValidate: stored bindings must already be folded, and complete.
func TestBindingValidate(t *testing.T) {
	good := service.Binding{Role: service.RoleEditor, Subject: "oidc:google:email:ada@example.com", Namespaces: []string{"checkout", "pay-*"}}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	for name, test := range map[string]struct {
		change func(*service.Binding)
		want   string
	}{
		"no role":              {func(b *service.Binding) { b.Role = service.RoleUnset }, "invalid field role: must be evaluator, client, viewer, editor or admin"},
		"the role none":        {func(b *service.Binding) { b.Role = service.RoleNone }, "invalid field role: "},
		"a role of the future": {func(b *service.Binding) { b.Role = 99 }, "invalid field role: "},
		"no namespaces":        {func(b *service.Binding) { b.Namespaces = nil }, "invalid field namespaceKeys: must not be empty"},
		"an empty namespace":   {func(b *service.Binding) { b.Namespaces = []string{"a", ""} }, "invalid field namespaceKeys[1]: "},
		"a pattern of others":  {func(b *service.Binding) { b.Namespaces = []string{"*-pay"} }, "invalid field namespaceKeys[0]: "},
		"many namespaces":      {func(b *service.Binding) { b.Namespaces = make([]string, 101) }, "must not contain more than 100 elements"},
		"upper case":           {func(b *service.Binding) { b.Subject = "oidc:google:email:Ada@example.com" }, "invalid field subject: "},
		"no subject":           {func(b *service.Binding) { b.Subject = "" }, "invalid field subject: "},
	} {
		b := good
		test.change(&b)
		if err := b.Validate(); !errors.Is(err, guidon.InvalidArgument) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got error %v, want one with %q", name, err, test.want)
		}
	}
}

// TestBindingJSON: the members are those of the API, without those that are not known.
func TestBindingJSON(t *testing.T) {
	b, err := service.NewBinding(service.RoleAdmin, "oidc:google:email:Ada@example.com", nil)
	if err != nil {
		t.Fatal(err)
	}
	b.ID, b.Source = "1", service.SourceConfiguration
	want := `{"id":"1","role":"admin","subject":"oidc:google:email:ada@example.com","namespaceKeys":["*"],"source":"configuration"}`
	if got, err := json.Marshal(b); err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	b.CreatedAt, b.CreatedBy = time.Unix(1, 0).UTC(), "ada"
	text, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	var read service.Binding
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b, read); diff != "" {
		t.Errorf("%s (-want +got):\n%s", text, diff)
	}
}

// TestNewBindingCopies: a binding does not change with the caller's list.
func TestNewBindingCopies(t *testing.T) {
	namespaces := []string{"shop"}
	b, err := service.NewBinding(service.RoleViewer, "jwt:*", namespaces)
	if err != nil {
		t.Fatal(err)
	}
	if namespaces[0] = "*"; b.Namespaces[0] != "shop" {
		t.Errorf("got %q", b.Namespaces)
	}
}

func TestParseBinding(t *testing.T) {
	for text, want := range map[string]service.Binding{
		"admin=oidc:google:email:Ada@example.com": {
			Role: service.RoleAdmin, Namespaces: []string{"*"}, Subject: "oidc:google:email:ada@example.com"},
		"editor@checkout,pay-*=oidc:google:group:payments": {
			Role: service.RoleEditor, Namespaces: []string{"checkout", "pay-*"}, Subject: "oidc:google:group:payments"},
		"viewer@*=oidc:google:group:Payments%20Team%20%41%2": {
			Role: service.RoleViewer, Namespaces: []string{"*"}, Subject: "oidc:google:group:Payments Team %41%2"},
		"client=jwt:claim:team=a=b": {
			Role: service.RoleClient, Namespaces: []string{"*"}, Subject: "jwt:claim:team=a=b"},
		"evaluator=oidc:google:sub:a@b,c": {
			Role: service.RoleEvaluator, Namespaces: []string{"*"}, Subject: "oidc:google:sub:a@b,c"},
	} {
		got, err := service.ParseBinding(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	for text, want := range map[string]string{
		"":                          "invalid field binding: ",
		"admin":                     "invalid field binding: ",
		"=jwt:*":                    "invalid field role: ",
		"none=jwt:*":                "invalid field role: ",
		"Admin=jwt:*":               "invalid field role: ",
		" admin=jwt:*":              "invalid field role: ",
		"owner=jwt:*":               "invalid field role: ",
		"@shop=jwt:*":               "invalid field role: ",
		"admin@=jwt:*":              "invalid field namespaceKeys[0]: ",
		"admin@shop,=jwt:*":         "invalid field namespaceKeys[1]: ",
		"admin@a,b c=jwt:*":         "invalid field namespaceKeys[1]: ",
		"admin@a*b=jwt:*":           "invalid field namespaceKeys[0]: ",
		"admin@a@b=jwt:*":           "invalid field namespaceKeys[0]: ",
		"admin=":                    "invalid field subject: ",
		"admin=oidc:google:group:*": "invalid field subject: ",
		"admin=jwt:sub:a%20\n":      "invalid field subject: ",
		"admin@" + strings.Repeat("a,", 100) + "a=jwt:*": "invalid field namespaceKeys: ",
	} {
		if b, err := service.ParseBinding(text); !errors.Is(err, guidon.InvalidArgument) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v, %v, want an error with %q", text, b, err, want)
		}
	}
}

func TestParseGrant(t *testing.T) {
	for text, want := range map[string]service.Grant{
		"viewer":                {Role: service.RoleViewer, Namespaces: []string{"*"}},
		"editor@checkout,pay-*": {Role: service.RoleEditor, Namespaces: []string{"checkout", "pay-*"}},
		"admin@*":               {Role: service.RoleAdmin, Namespaces: []string{"*"}},
	} {
		got, err := service.ParseGrant(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	for _, text := range []string{"", "none", "Editor", "viewer@", "viewer@a=b", "viewer ", "Guidon.Admin", "admin@shop@*"} {
		if g, err := service.ParseGrant(text); !errors.Is(err, guidon.InvalidArgument) {
			t.Errorf("%q: got %v, %v, want InvalidArgument", text, g, err)
		}
	}
}

func TestSubjectParts(t *testing.T) {
	for subject, want := range map[string][3]string{
		"oidc:google:sub:1": {"oidc", "google", "true"}, "oidc:google:*": {"oidc", "google", "true"},
		"codehost:org:acme": {"codehost", "org", "false"}, "jwt:*": {"jwt", "", "false"},
	} {
		provider, ok := service.SubjectProvider(subject)
		if got := [3]string{service.SubjectMethod(subject), provider, fmt.Sprint(ok)}; got[0] != want[0] || got[2] != want[2] || ok && got[1] != want[1] {
			t.Errorf("%s: got %q, want %q", subject, got, want)
		}
	}
}

// FuzzParseBinding: what is accepted is valid, within the limits, and the same when it is
// written and read again.
func FuzzParseBinding(f *testing.F) {
	for _, text := range []string{
		"admin=oidc:google:email:ada@example.com", "editor@checkout,pay-*=oidc:google:group:payments%20team", "viewer@*=codehost:team:acme/backend",
		"client=jwt:claim:a=b", "evaluator=kubernetes:serviceaccount:shop/x", "admin@=x", "admin=oidc:google:*:*", "viewer=oidc:g:email:\xff@x",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b, err := service.ParseBinding(text)
		if err != nil {
			if !errors.Is(err, guidon.InvalidArgument) {
				t.Fatalf("got error %v, want InvalidArgument", err)
			}
			return
		}
		if err := b.Validate(); err != nil {
			t.Fatalf("accepted %+v, but %v", b, err)
		}
		if len(b.Namespaces) > 100 || len([]rune(b.Subject)) > 255+64 {
			t.Fatalf("accepted %+v", b)
		}
		again, err := service.ParseBinding(b.Role.String() + "@" + strings.Join(b.Namespaces, ",") + "=" + strings.ReplaceAll(b.Subject, " ", "%20"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(b, again); diff != "" {
			t.Fatalf("read again (-want +got):\n%s", diff)
		}
	})
}

package instance

import (
	"testing"

	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/service"
)

func person(method service.Method, subject string, subjects ...string) *service.Authentication {
	return &service.Authentication{Method: method, Subject: subject, Subjects: subjects}
}

// TestCodehostAdmission: an organization with allowed teams admits only these, and any match
// of the other lists suffices. Names have no case.
func TestCodehostAdmission(t *testing.T) {
	const org, team = "codehost:org:", "codehost:team:"
	for _, test := range []struct {
		name   string
		config config.Codehost
		has    []string
		want   bool
	}{
		{"nothing configured", config.Codehost{}, []string{org + "acme"}, false},
		{"everyone", config.Codehost{AllowEveryone: true}, nil, true},
		{"member of the organization", config.Codehost{AllowedOrganizations: []string{"Acme"}}, []string{org + "acme"}, true},
		{"member of another", config.Codehost{AllowedOrganizations: []string{"acme"}}, []string{org + "acme2", team + "acme/backend"}, false},
		{"one of two organizations", config.Codehost{AllowedOrganizations: []string{"a", "b"}}, []string{org + "b"}, true},
		{"group of GitLab", config.Codehost{AllowedOrganizations: []string{"Acme/Platform"}}, []string{org + "acme/platform"}, true},
		{"parent of the group", config.Codehost{AllowedOrganizations: []string{"acme/platform"}}, []string{org + "acme"}, false},
		{"member of the team", config.Codehost{AllowedTeams: []string{"Acme/Backend"}}, []string{org + "acme", team + "acme/backend"}, true},
		{"member of another team", config.Codehost{AllowedTeams: []string{"acme/backend"}}, []string{org + "acme", team + "acme/frontend"}, false},
		{"team of the same name elsewhere", config.Codehost{AllowedTeams: []string{"acme/backend"}}, []string{org + "other", team + "other/backend"}, false},
		{"organization with teams, no team", config.Codehost{AllowedOrganizations: []string{"acme"}, AllowedTeams: []string{"ACME/backend"}}, []string{org + "acme"}, false},
		{"organization with teams, the team", config.Codehost{AllowedOrganizations: []string{"ACME"}, AllowedTeams: []string{"acme/backend"}}, []string{org + "acme", team + "acme/backend"}, true},
		{"another organization without teams", config.Codehost{AllowedOrganizations: []string{"acme", "other"}, AllowedTeams: []string{"acme/backend"}}, []string{org + "other"}, true},
		{"a team alone in another organization", config.Codehost{AllowedOrganizations: []string{"acme", "other"}, AllowedTeams: []string{"acme/backend"}}, []string{org + "acme", org + "third"}, false},
		{"e-mail in spite of teams", config.Codehost{AllowedOrganizations: []string{"acme"}, AllowedTeams: []string{"acme/backend"}, AllowedEmails: []string{"Ada@Example.com"}}, []string{org + "acme", "codehost:email:ada@example.com"}, true},
		{"domain", config.Codehost{AllowedDomains: []string{"Example.com"}}, []string{"codehost:domain:example.com"}, true},
		{"subdomain", config.Codehost{AllowedDomains: []string{"example.com"}}, []string{"codehost:domain:a.example.com"}, false},
		{"the Kelvin sign is no k", config.Codehost{AllowedEmails: []string{"\u212Aate@example.com"}}, []string{"codehost:email:kate@example.com"}, false},
	} {
		test.config.Enabled = true
		p := mustPolicy(t, func(c *config.Config) { c.Authentication.Methods.Codehost = test.config })
		if got := p.Admissions["codehost"].Admits(person(service.MethodCodehost, "codehost:id:1", test.has...)); got != test.want {
			t.Errorf("%s: got %t, want %t", test.name, got, test.want)
		}
	}
}

// mustPolicy returns the policy of a configuration without methods, changed.
func mustPolicy(t *testing.T, change func(c *config.Config)) *service.Policy {
	t.Helper()
	c := new(config.Config)
	change(c)
	p, err := policy(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestOpenIDAdmission: each provider has lists of its own, and the e-mail of everybody must
// match besides.
func TestOpenIDAdmission(t *testing.T) {
	p := mustPolicy(t, func(c *config.Config) {
		c.Authentication.Methods.OIDC = config.OIDC{Enabled: true, EmailMatches: []string{`@example\.(com|org)$`}, Providers: map[string]*config.Provider{
			"google": {AllowedEmails: []string{"Ada@Example.com"}, AllowedGroups: []string{"Ops"}},
			"entra":  {AllowEveryone: true},
			"auth0":  {},
		}}
	})
	for _, test := range []struct {
		name     string
		provider string
		has      []string
		want     bool
	}{
		{"listed", "google", []string{"email:ada@example.com"}, true},
		{"not listed", "google", []string{"email:bob@example.com"}, false},
		{"by group", "google", []string{"group:Ops", "email:bob@example.com"}, true},
		{"group in another case", "google", []string{"group:ops", "email:bob@example.com"}, false},
		{"by group, without a match", "google", []string{"group:Ops", "email:bob@example.net"}, false},
		{"by group, without e-mail", "google", []string{"group:Ops"}, false},
		{"everyone", "entra", []string{"email:eve@example.org"}, true},
		{"everyone, without a match", "entra", []string{"email:eve@example.net"}, false},
		{"only the match", "auth0", []string{"email:eve@example.org"}, true},
		{"only the match, another address", "auth0", []string{"email:eve@example.org.evil"}, false},
	} {
		var subjects []string
		for _, kind := range test.has {
			subjects = append(subjects, "oidc:"+test.provider+":"+kind)
		}
		a := person(service.MethodOIDC, "oidc:"+test.provider+":sub:1", subjects...)
		if got := p.Admissions["oidc:"+test.provider].Admits(a); got != test.want {
			t.Errorf("%s: got %t, want %t", test.name, got, test.want)
		}
	}
	if len(p.Admissions) != 3 {
		t.Errorf("got admissions %v, want those of the providers only", p.Admissions)
	}
}

// TestPolicy: methods that are off admit nobody, and roles and bindings are those of the
// configuration.
func TestPolicy(t *testing.T) {
	p := mustPolicy(t, func(c *config.Config) {
		c.Authentication.Required = true
		c.Authorization.Bindings = []string{"admin=oidc:google:sub:ada"}
		c.Authorization.DefaultRoles = config.DefaultRoles{OIDC: "viewer", Codehost: "none", Kubernetes: "evaluator", JWT: "client", Token: "admin"}
		c.Authentication.Methods.OIDC.Providers = map[string]*config.Provider{"google": {AllowEveryone: true}}
		c.Authentication.Methods.Kubernetes.Enabled = true
		c.Authentication.Methods.Kubernetes.AllowedServiceAccounts = []string{"shop/*"}
	})
	want := service.DefaultRoles{
		service.MethodOIDC: service.RoleViewer, service.MethodCodehost: service.RoleNone, service.MethodKubernetes: service.RoleEvaluator,
		service.MethodJWT: service.RoleClient, service.MethodToken: service.RoleAdmin,
	}
	if p.Defaults != want || !p.Enforced || len(p.Bindings.All()) != 1 {
		t.Errorf("got %+v", p)
	}
	if p.Admissions["oidc:google"] != nil || p.Admissions["codehost"] != nil || p.Admissions["kubernetes"] == nil {
		t.Errorf("got admissions %v, want that of Kubernetes only", p.Admissions)
	}
	for _, broken := range []func(c *config.Config){
		func(c *config.Config) { c.Authorization.Bindings = []string{"owner=jwt:*"} },
		func(c *config.Config) {
			c.Authentication.Methods.OIDC = config.OIDC{Enabled: true, EmailMatches: []string{"("}}
		},
	} {
		c := new(config.Config)
		broken(c)
		if _, err := policy(c); err == nil {
			t.Error("got no error")
		}
	}
}

package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/guidonhq/guidon/handler/login/codehost"
	"github.com/guidonhq/guidon/handler/login/provider"
	"github.com/guidonhq/guidon/service"
)

const codehostKey = "authentication.methods.codehost"

// Codehost configures how people sign in with their account at a code host.
type Codehost struct {
	Enabled         bool     `key:"enabled" default:"false"`
	Cleanup         Cleanup  `key:"cleanup"`
	Type            string   `key:"type" default:"github" options:"github gitlab gitea" fold:"true"`
	ServerURL       string   `key:"server_url" defaultText:"https://github.com or https://gitlab.com; none for gitea"`
	APIURL          string   `key:"api_url" defaultText:"https://api.github.com for github.com; otherwise server_url with /api/v3 for github, /api/v4 for gitlab and /api/v1 for gitea"`
	ClientID        string   `key:"client_id"`
	ClientSecret    string   `key:"client_secret" secret:"true"`
	RedirectAddress string   `key:"redirect_address" defaultText:"server.public_url"`
	DisplayName     string   `key:"display_name" defaultText:"the name of the type"`
	UsePKCE         bool     `key:"use_pkce" default:"true"`
	CAPath          string   `key:"ca_path" defaultText:"the authorities of the system"`
	Scopes          []string `key:"scopes" defaultText:"read:user user:email read:org for github, read_user openid profile email for gitlab, read:user read:organization for gitea"`

	AllowedOrganizations []string `key:"allowed_organizations"`
	AllowedTeams         []string `key:"allowed_teams" notMap:"write each team with its organization, such as acme/backend"`
	AllowedEmails        []string `key:"allowed_emails"`
	AllowedDomains       []string `key:"allowed_domains"`
	AllowEveryone        bool     `key:"allow_everyone" default:"false"`
}

// organizationScopes are the scopes of each type that let organizations and teams be read.
var organizationScopes = map[string][]string{
	codehost.GitHub: {"read:org", "write:org", "admin:org"},
	codehost.GitLab: {"openid"},
	codehost.Gitea:  {"read:organization", "write:organization"},
}

// Label returns the text of the sign-in button.
func (c Codehost) Label() string {
	return cmp.Or(c.DisplayName, map[string]string{codehost.GitHub: "GitHub", codehost.GitLab: "GitLab", codehost.Gitea: "Gitea"}[c.Type])
}

func (c Codehost) check(base redirectBase, found *problems) {
	if !c.Enabled {
		return
	}
	at := found.in(codehostKey)
	base.required(at, "enabled")
	if c.ServerURL == "" && c.Type == codehost.Gitea {
		at.key("server_url", "is required if type is gitea")
	}
	at.optional("server_url", c.ServerURL, provider.CheckBaseURL)
	at.optional("api_url", c.APIURL, provider.CheckBaseURL)
	at.check("client_id", checkCredential(c.ClientID))
	at.check("client_secret", checkCredential(c.ClientSecret))
	base.check(at, c.RedirectAddress)
	at.check("display_name", checkDisplayName(c.DisplayName))
	at.optional("ca_path", c.CAPath, checkAuthorities)
	c.checkOrganizations(at)
	checkAdmission(at, c.AllowEveryone, false, []allowList{
		{"allowed_organizations", c.AllowedOrganizations, checkName}, {"allowed_teams", c.AllowedTeams, checkTeam},
		{"allowed_emails", c.AllowedEmails, checkEmail}, {"allowed_domains", c.AllowedDomains, checkDomain},
	})
}

func (c Codehost) checkOrganizations(at scope) {
	at.check("scopes", provider.CheckScopes(c.Scopes))
	if c.Type == codehost.GitLab && len(c.AllowedTeams) > 0 {
		at.key("allowed_teams", "must be empty if type is gitlab, which has no teams; name subgroups in allowed_organizations")
	}
	if len(c.Scopes) == 0 || len(c.AllowedOrganizations)+len(c.AllowedTeams) == 0 {
		return
	}
	if enough := organizationScopes[c.Type]; !slices.ContainsFunc(enough, func(scope string) bool { return slices.Contains(c.Scopes, scope) }) {
		at.key("scopes", fmt.Sprintf("must contain %s if allowed_organizations or allowed_teams is set", enough[0]))
	}
}

func checkTeam(text string) error {
	if _, err := service.ParseSubject("codehost:team:" + text); err != nil || strings.Count(text, "/") != 1 {
		return fmt.Errorf("must be teams with their organization, such as acme/backend, not %q", text)
	}
	return nil
}

// public reports whether anyone can get an account at the code host.
func (c Codehost) public() bool {
	if c.ServerURL == "" {
		return true
	}
	return slices.Contains([]string{"github.com", "gitlab.com", "codeberg.org", "gitea.com"}, strings.ToLower(parsed(c.ServerURL).Hostname()))
}

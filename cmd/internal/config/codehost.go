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

// Label returns the text of the sign-in button.
func (c Codehost) Label() string {
	return cmp.Or(c.DisplayName, map[string]string{codehost.GitHub: "GitHub", codehost.GitLab: "GitLab", codehost.Gitea: "Gitea"}[c.Type])
}

// CodeHost returns the configuration of the code host.
func (c *Config) CodeHost(observer provider.Observer) codehost.Config {
	h := c.Authentication.Methods.Codehost
	binds := func(kind string) bool { return c.Authorization.binds("codehost:" + kind + ":") }
	return codehost.Config{
		Type: h.Type, ServerURL: h.ServerURL, APIURL: h.APIURL, ClientID: h.ClientID, ClientSecret: h.ClientSecret,
		RedirectURI: c.callbackURL(h.RedirectAddress, "codehost"), Scopes: h.Scopes, PKCE: h.UsePKCE, CAPath: h.CAPath, Observer: observer,
		NeedEmail:         len(h.AllowedEmails)+len(h.AllowedDomains) > 0 || binds("email") || binds("domain"),
		NeedOrganizations: len(h.AllowedOrganizations) > 0 || binds("org"),
		NeedTeams:         len(h.AllowedTeams) > 0 && h.Type != codehost.GitLab || binds("team"),
	}
}

func (c *Config) checkCodehost(found *problems) {
	h := c.Authentication.Methods.Codehost
	if !h.Enabled {
		return
	}
	at := found.in(codehostKey)
	c.requirePublicURL(at)
	_, err := codehost.New(c.CodeHost(nil))
	at.fields(err)
	c.checkRedirect(at, h.RedirectAddress)
	at.check("display_name", checkDisplayName(h.DisplayName))
	if h.Type == codehost.GitLab && len(h.AllowedTeams) > 0 {
		at.key("allowed_teams", "must be empty if type is gitlab, which has no teams; name subgroups in allowed_organizations")
	}
	checkAdmission(at, h.AllowEveryone, false, []allowList{
		{"allowed_organizations", h.AllowedOrganizations, provider.CheckName}, {"allowed_teams", h.AllowedTeams, checkTeam},
		{"allowed_emails", h.AllowedEmails, checkEmail}, {"allowed_domains", h.AllowedDomains, checkDomain},
	})
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

package codehost

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/oauth2"

	"github.com/guidonhq/guidon/handler/login/loginstate"
	"github.com/guidonhq/guidon/handler/login/provider"
)

// The types of code hosts.
const (
	GitHub = "github" // and GitHub Enterprise Server
	GitLab = "gitlab"
	Gitea  = "gitea" // and Forgejo
)

// Config configures a [Host]. ClientID, ClientSecret and RedirectURI are required, and
// ServerURL is for Gitea; the zero value of every other field but PKCE is a usable
// default.
type Config struct {
	Type string // GitHub (the default), GitLab or Gitea
	// ServerURL is where people sign in: by default github.com or gitlab.com.
	ServerURL string
	// APIURL is the base of the API: by default the path that hosts of the type have below
	// ServerURL, and https://api.github.com for github.com.
	APIURL       string
	ClientID     string
	ClientSecret string
	RedirectURI  string // the URL of the callback
	// Scopes are the scopes to request: by default those for everything that [Identify]
	// can read. With fewer it reads less.
	//
	// [Identify]: Host.Identify
	Scopes []string
	PKCE   bool // sends a code challenge; false only for hosts that fail on it
	// NeedEmail, NeedOrganizations and NeedTeams say what the configured allow lists and
	// bindings name. New returns an error if Scopes do not suffice for it.
	NeedEmail         bool
	NeedOrganizations bool
	NeedTeams         bool
	// CAPath names a file of PEM certificates that replace the certificate authorities of
	// the system.
	CAPath   string
	Observer provider.Observer // optional
}

// New returns a host. It sends no request. Its error joins all that is wrong with the configuration, as
// [provider.FieldError].
func New(c Config) (*Host, error) {
	c.Type = cmp.Or(c.Type, GitHub)
	k := kinds[c.Type]
	if k == nil {
		return nil, provider.Invalid("type", fmt.Errorf("must be %s, %s or %s", GitHub, GitLab, Gitea))
	}
	if len(c.Scopes) == 0 {
		c.Scopes = k.scopes
	}
	client, err := provider.New(provider.Config{Name: c.Type, CAPath: c.CAPath, Observer: c.Observer})
	if err := errors.Join(c.check(k), err); err != nil {
		return nil, err
	}
	c.complete(k)
	return &Host{
		kind: k, client: client, server: c.ServerURL, api: c.APIURL, pkce: c.PKCE,
		reads: func(i item) bool { return k.covers(i, c.Scopes) },
		oauth: oauth2.Config{
			ClientID: c.ClientID, ClientSecret: c.ClientSecret, RedirectURL: c.RedirectURI, Scopes: c.Scopes,
			// The hosts support this one, and never trying another sends no code twice.
			Endpoint: oauth2.Endpoint{
				AuthURL: c.ServerURL + k.authorizePath, TokenURL: c.ServerURL + k.tokenPath, AuthStyle: oauth2.AuthStyleInParams,
			},
		},
		fingerprint: loginstate.Provider{
			Method: "codehost", Name: c.Type, Issuer: c.ServerURL, ClientID: c.ClientID, RedirectURI: c.RedirectURI,
		}.Fingerprint(),
	}, nil
}

// complete sets the URLs that are the defaults of the type.
func (c *Config) complete(k *kind) {
	c.ServerURL = strings.TrimRight(c.ServerURL, "/")
	c.APIURL = strings.TrimRight(c.APIURL, "/")
	c.ServerURL = cmp.Or(c.ServerURL, k.server)
	if c.APIURL == "" && c.ServerURL == k.server && k.api != "" {
		c.APIURL = k.api
	}
	c.APIURL = cmp.Or(c.APIURL, c.ServerURL+k.apiPath)
	c.Scopes = slices.Clone(c.Scopes)
}

// check returns an error if a field breaks a rule.
func (c *Config) check(k *kind) error {
	server := provider.Optional(c.ServerURL, provider.CheckBaseURL)
	if c.ServerURL == "" && k.server == "" {
		server = fmt.Errorf("is required if type is %s", c.Type)
	}
	return errors.Join(
		provider.Invalid("server_url", server),
		provider.Invalid("api_url", provider.Optional(c.APIURL, provider.CheckBaseURL)),
		provider.Invalid("client_id", provider.CheckCredential(c.ClientID)),
		provider.Invalid("client_secret", provider.CheckCredential(c.ClientSecret)),
		provider.Invalid("scopes", c.checkScopes(k)),
	)
}

// checkScopes returns an error if the scopes are malformed, or do not
// suffice for what is needed.
func (c *Config) checkScopes(k *kind) error {
	if err := provider.CheckScopes(c.Scopes); err != nil {
		return err
	}
	needed := []item{account}
	for i, need := range map[item]bool{emails: c.NeedEmail, organizations: c.NeedOrganizations, teams: c.NeedTeams} {
		if need {
			needed = append(needed, i)
		}
	}
	slices.Sort(needed)
	for _, i := range needed {
		if _, has := k.needs[i]; !has {
			return fmt.Errorf("no scope of %s lets the %s be read; name subgroups as organizations", c.Type, i)
		}
		if !k.covers(i, c.Scopes) {
			return fmt.Errorf("must contain %s, to read the %s", k.anyOf(i), i)
		}
	}
	return nil
}

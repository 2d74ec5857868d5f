package codehost

import (
	"cmp"
	"context"
)

// gitea is Gitea and Forgejo. Releases that do not know a scope grant full access.
var gitea = &kind{
	apiPath:       "/api/v1",
	authorizePath: "/login/oauth/authorize", tokenPath: "/login/oauth/access_token", // #nosec G101 -- a path
	scopes: []string{"read:user", "read:organization"},
	needs: map[item][]string{
		account:       {"read:user", "write:user", "all"},
		emails:        {"read:user", "write:user", "all"},
		organizations: {"read:organization", "write:organization", "all"},
		teams:         {"read:organization", "write:organization", "all"},
	},
	// Both come with the error unauthorized_client.
	refusals: []string{"client is not authorized", "failed PKCE code challenge"},
	read:     readGitea,
}

func readGitea(ctx context.Context, a *api) (*person, error) {
	var u user
	if err := a.get(ctx, account, a.host.api+"/user", &u); err != nil {
		return nil, err
	}
	p := &person{id: u.ID, login: u.Login, name: u.FullName, picture: u.AvatarURL}
	if a.host.reads(emails) {
		addresses, err := getList[address](ctx, a, emails, a.host.api+"/user/emails")
		if err != nil {
			return nil, err
		}
		p.email = primaryVerified(addresses)
	}
	if a.host.reads(organizations) {
		list, err := numberedList[giteaOrganization](ctx, a, organizations, a.host.api+"/user/orgs")
		if err != nil {
			return nil, err
		}
		for _, o := range list {
			p.organizations = append(p.organizations, o.login())
		}
	}
	if a.host.reads(teams) {
		list, err := numberedList[giteaTeam](ctx, a, teams, a.host.api+"/user/teams")
		if err != nil {
			return nil, err
		}
		for _, t := range list {
			p.teams = append(p.teams, team{t.Organization.login(), t.Name})
		}
	}
	return p, nil
}

// giteaOrganization has its name in Username only in releases before 1.19.
type giteaOrganization struct{ Name, Username string }

func (o giteaOrganization) login() string {
	return cmp.Or(o.Name, o.Username)
}

type giteaTeam struct {
	Name         string
	Organization giteaOrganization
}

package codehost

import (
	"cmp"
	"context"

	"github.com/guidonhq/guidon/internal/lists"
)

// gitHub is github.com, and GitHub Enterprise Server.
var gitHub = &kind{
	server: "https://github.com", api: "https://api.github.com", apiPath: "/api/v3",
	authorizePath: "/login/oauth/authorize", tokenPath: "/login/oauth/access_token", // #nosec G101 -- a path
	scopes: []string{"read:user", "user:email", "read:org"},
	needs: map[item][]string{
		account:       {},
		emails:        {"user:email", "user"},
		organizations: {"read:org", "write:org", "admin:org"},
		teams:         {"read:org", "write:org", "admin:org"},
	},
	read: readGitHub,
}

// user is an account, as GitHub and Gitea describe it.
type user struct {
	ID        int64  `json:"id"`
	Login     string `json:"login"`
	Name      string `json:"name"`      // of GitHub
	FullName  string `json:"full_name"` // of Gitea
	AvatarURL string `json:"avatar_url"`
}

func readGitHub(ctx context.Context, a *api) (*person, error) {
	return readUser[gitHubOrganization, gitHubTeam](ctx, a, linked, linked)
}

type gitHubOrganization struct{ Login string }

func (o gitHubOrganization) name() string { return o.Login }

type gitHubTeam struct {
	Slug         string
	Organization gitHubOrganization
}

func (t gitHubTeam) team() team { return team{t.Organization.name(), t.Slug} }

// readUser reads what the scopes allow, from the API of GitHub or Gitea.
func readUser[O interface{ name() string }, T interface{ team() team }](
	ctx context.Context, a *api, addresses, others paging,
) (*person, error) {
	var u user
	if err := a.get(ctx, account, a.host.api+"/user", &u); err != nil {
		return nil, err
	}
	p := &person{id: u.ID, login: u.Login, name: cmp.Or(u.Name, u.FullName), picture: u.AvatarURL}
	if a.host.reads(emails) {
		all, err := getList[address](ctx, a, emails, a.host.api+"/user/emails", addresses)
		if err != nil {
			return nil, err
		}
		p.email = primaryVerified(all)
	}
	if a.host.reads(organizations) {
		all, err := getList[O](ctx, a, organizations, a.host.api+"/user/orgs", others)
		if err != nil {
			return nil, err
		}
		p.organizations = lists.Map(all, O.name)
	}
	if a.host.reads(teams) {
		all, err := getList[T](ctx, a, teams, a.host.api+"/user/teams", others)
		if err != nil {
			return nil, err
		}
		p.teams = lists.Map(all, T.team)
	}
	return p, nil
}

package codehost

import "context"

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
	var u user
	if err := a.get(ctx, account, a.host.api+"/user", &u); err != nil {
		return nil, err
	}
	p := &person{id: u.ID, login: u.Login, name: u.Name, picture: u.AvatarURL}
	if a.host.reads(emails) {
		addresses, err := linkedList[address](ctx, a, emails, a.host.api+"/user/emails")
		if err != nil {
			return nil, err
		}
		p.email = primaryVerified(addresses)
	}
	if a.host.reads(organizations) {
		list, err := linkedList[struct{ Login string }](ctx, a, organizations, a.host.api+"/user/orgs")
		if err != nil {
			return nil, err
		}
		for _, o := range list {
			p.organizations = append(p.organizations, o.Login)
		}
	}
	if a.host.reads(teams) {
		list, err := linkedList[gitHubTeam](ctx, a, teams, a.host.api+"/user/teams")
		if err != nil {
			return nil, err
		}
		for _, t := range list {
			p.teams = append(p.teams, team{t.Organization.Login, t.Slug})
		}
	}
	return p, nil
}

type gitHubTeam struct {
	Slug         string
	Organization struct{ Login string }
}

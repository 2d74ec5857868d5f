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
	return readUser[giteaOrganization, giteaTeam](ctx, a, whole, counted)
}

// giteaOrganization has its name in Username only in releases before 1.19.
type giteaOrganization struct{ Name, Username string }

func (o giteaOrganization) name() string { return cmp.Or(o.Name, o.Username) }

type giteaTeam struct {
	Name         string
	Organization giteaOrganization
}

func (t giteaTeam) team() team { return team{t.Organization.name(), t.Name} }

package codehost

import (
	"context"
	"errors"
	"fmt"

	"github.com/guidonhq/guidon/handler/login/provider"
)

// gitLab is gitlab.com, and GitLab on other servers. Its groups are organizations, by
// their full paths.
var gitLab = &kind{
	server: "https://gitlab.com", apiPath: "/api/v4",
	authorizePath: "/oauth/authorize", tokenPath: "/oauth/token", // #nosec G101 -- a path
	scopes: []string{"read_user", "openid", "profile", "email"},
	needs: map[item][]string{
		account:       {"read_user", "read_api", "api"},
		emails:        {"read_user", "read_api", "api"},
		organizations: {"openid"},
	},
	read: readGitLab,
}

func readGitLab(ctx context.Context, a *api) (*person, error) {
	var u struct {
		ID          int64
		Username    string
		Name        string
		State       string
		AvatarURL   string `json:"avatar_url"`
		Email       string
		ConfirmedAt *string `json:"confirmed_at"`
	}
	if err := a.get(ctx, account, a.host.api+"/user", &u); err != nil {
		return nil, err
	}
	if u.State != "active" {
		return nil, denied("your account at the code host is not active",
			fmt.Errorf("the account has the state %q; must be active", provider.Printable(u.State)))
	}
	p := &person{id: u.ID, login: u.Username, name: u.Name, picture: u.AvatarURL, nested: true}
	if u.ConfirmedAt != nil && *u.ConfirmedAt != "" {
		p.email = normalizeEmail(u.Email)
	}
	if !a.host.reads(organizations) {
		return p, nil
	}
	var info struct{ Groups *[]string } // with those that are inherited, in one response
	if err := a.get(ctx, organizations, a.host.server+"/oauth/userinfo", &info); err != nil {
		return nil, err
	}
	if info.Groups == nil {
		return nil, a.withheld(organizations, errors.New("the userinfo has no groups"))
	}
	p.organizations = *info.Groups
	return p, nil
}

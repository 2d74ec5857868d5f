package access

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/auth"
	"github.com/guidonhq/guidon/service"
)

// WhoamiCommand returns the command "whoami".
func WhoamiCommand(p *cli.Program) *cobra.Command {
	t := &cli.Task{Program: p, Scope: cli.OnServer}
	return t.Command(cli.Verb{
		Use: "whoami", Short: "Show who you are to a server, and what you may do",
		Long: `Show who you are to a server: by which method, until when, which roles you have in
which namespaces, and where each comes from.`,
		Example: `  guidon whoami
  guidon whoami -o json`,
		Names: "your name",
		Read: func(ctx context.Context, server client.Client, _ []string) (cli.Output, error) {
			self, err := self(ctx, server)
			return cli.Output{
				Data: cli.DataOf(self), Names: []string{cmp.Or(cli.NameOf(self), self.GetId())},
				Table: cli.Fields(func(field cli.Field) { selfFields(p, field, self) }),
			}, err
		},
	})
}

// self returns the authentication of the client. Of a server that does not require any, it
// returns what everybody is there.
func self(ctx context.Context, server client.Client) (*auth.Authentication, error) {
	known, err := cli.Self(ctx, server)
	if !errors.Is(err, guidon.Unauthenticated) {
		return known, err
	}
	if info, failed := cli.Info(ctx, server); failed != nil || info.Authentication.Required {
		return nil, err
	}
	return &auth.Authentication{Id: change.Anonymous.ID, Access: []*auth.Grant{{
		Role: service.RoleAdmin.String(), NamespaceKeys: []string{service.Everywhere}, Source: string(service.OriginOpen),
	}}}, nil
}

func selfFields(p *cli.Program, field cli.Field, self *auth.Authentication) {
	field("NAME", cli.OrDash(cli.NameOf(self)))
	field("METHOD", cli.MethodOf(self))
	field("ID", cli.OrDash(self.GetId()))
	field("EXPIRES", p.Expiry(self))
	for _, grant := range self.GetAccess() {
		field("ROLE", grant.GetRole()+" on "+cli.NamespacesOf(grant.GetNamespaceKeys())+originOf(grant))
	}
	if len(self.GetAccess()) == 0 {
		field("ROLE", "none")
	}
}

// originOf returns where a role comes from, in parentheses; or "" if the server does not say.
func originOf(grant *auth.Grant) string {
	text := map[service.Origin]string{
		service.OriginDatabase: "bound to", service.OriginConfiguration: "configured for", service.OriginClaim: "from the provider",
		service.OriginDefault: "default role", service.OriginToken: "of the token", service.OriginOpen: "roles are not enforced",
	}[service.Origin(grant.GetSource())]
	if text == "" {
		return ""
	}
	return " (" + strings.TrimSpace(text+" "+cli.Printable(grant.GetSubject())) + ")"
}

package access

import (
	"cmp"
	"context"
	"errors"
	"io"
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
	var c cli.Connection
	var format cli.Format
	command := &cobra.Command{
		Use:   "whoami",
		Short: "Show who you are to a server, and what you may do",
		Long: `Show who you are to a server: by which method, until when, which roles you have in
which namespaces, and where each comes from.`,
		Example: `  guidon whoami
  guidon whoami -o json`,
		Args: cobra.NoArgs,
		RunE: p.Action(func(ctx context.Context, _ []string) error {
			return p.WithClient(ctx, &c, cli.Reading, func(server client.Client) error {
				self, err := self(ctx, server)
				if err != nil {
					return err
				}
				return p.Show(format, cli.Output{
					Data: cli.DataOf(self), Names: []string{cmp.Or(cli.NameOf(self), self.GetId())},
					Table: func(out io.Writer) error { return printSelf(p, out, self) },
				})
			})
		}),
	}
	c.ServerFlags(command)
	format.Flag(command, "your name")
	return command
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

func printSelf(p *cli.Program, out io.Writer, self *auth.Authentication) error {
	table := cli.NewFieldTable(out)
	table.Row("NAME", cli.OrDash(cli.NameOf(self)))
	table.Row("METHOD", cli.MethodOf(self))
	table.Row("ID", cli.OrDash(self.GetId()))
	table.Row("EXPIRES", p.Expiry(self))
	for _, grant := range self.GetAccess() {
		table.Row("ROLE", grant.GetRole()+" on "+cli.NamespacesOf(grant.GetNamespaceKeys())+originOf(grant))
	}
	if len(self.GetAccess()) == 0 {
		table.Row("ROLE", "none")
	}
	return table.Flush()
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

package main

import (
	"cmp"
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/handler/wire/auth"
	"github.com/guidonhq/guidon/service"
)

func (p *program) whoamiCommand() *cobra.Command {
	var c connection
	var format outputFormat
	command := &cobra.Command{
		Use:   "whoami",
		Short: "Show who you are to a server, and what you may do",
		Long: `Show who you are to a server: by which method, until when, which roles you have in
which namespaces, and where each comes from.`,
		Example: `  guidon whoami
  guidon whoami -o json`,
		Args: cobra.NoArgs,
		RunE: p.action(func(ctx context.Context, _ []string) error {
			return p.withClient(ctx, &c, reading, func(server client.Client) error {
				self, err := getSelf(ctx, server)
				if err != nil {
					return err
				}
				return p.show(format, shown{
					data: dataOf(self), names: []string{cmp.Or(nameOf(self), self.GetId())},
					table: func(out io.Writer) error { return p.printSelf(out, self) },
				})
			})
		}),
	}
	c.serverFlags(command)
	format.flag(command, "your name")
	return command
}

// getSelf returns the authentication of the client.
func getSelf(ctx context.Context, server client.Client) (*auth.Authentication, error) {
	self := new(auth.Authentication)
	err := server.Invoke(ctx, "/flipt.auth.AuthenticationService/GetAuthenticationSelf", new(emptypb.Empty), self)
	return self, err
}

func (p *program) printSelf(out io.Writer, self *auth.Authentication) error {
	table := newFieldTable(out)
	table.row("NAME", orDash(nameOf(self)))
	table.row("METHOD", methodOf(self))
	table.row("ID", orDash(self.GetId()))
	table.row("EXPIRES", p.expiry(self))
	for _, grant := range self.GetAccess() {
		table.row("ROLE", grant.GetRole()+" on "+namespacesOf(grant.GetNamespaceKeys())+originOf(grant))
	}
	if len(self.GetAccess()) == 0 {
		table.row("ROLE", "none")
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
	return " (" + strings.TrimSpace(text+" "+printable(grant.GetSubject())) + ")"
}

// nameKeys are the metadata that name a person, a token or a workload, the best first.
var nameKeys = []string{
	service.MetadataTokenName, "io.service.auth.name", "io.service.auth.email",
	"io.service.auth.jwt.name", "io.service.auth.jwt.email", "io.service.auth.jwt.sub", "io.service.auth.k8s.serviceaccount.name",
}

// nameOf returns the name of the person, the token or the workload, or "".
func nameOf(a *auth.Authentication) string {
	for _, key := range nameKeys {
		if name := a.GetMetadata()[key]; name != "" {
			return name
		}
	}
	return ""
}

// methodOf returns the method of signing in, in the form for people.
func methodOf(a *auth.Authentication) string {
	return strings.ToLower(strings.TrimPrefix(a.GetMethod().String(), "METHOD_"))
}

// namespacesOf returns namespaces for a table.
func namespacesOf(keys []string) string {
	if on := strings.Join(keys, ","); on != service.Everywhere {
		return on
	}
	return "all"
}

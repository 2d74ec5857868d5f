package access

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/cmd/internal/machine"
	"github.com/guidonhq/guidon/handler/wire/auth"
)

const logoutHelp = `Revoke the token that "guidon login" obtained from the server, and forget it. It is
also forgotten if it has expired or was revoked already.

A token that was given to "guidon login --token" is only forgotten, because it may
be in use elsewhere.

  --everywhere  revoke all of your sessions, in browsers and on other machines,
                and the token even if it was given`

// LogoutCommand returns the command "logout".
func LogoutCommand(p *cli.Program) *cobra.Command {
	var c cli.Connection
	var everywhere bool
	return p.Command(cli.Verb{
		Use: "logout", Short: "Sign out of a server", Long: logoutHelp,
		Example: `  guidon logout
  guidon logout --address https://flags.example --everywhere`,
		Options: func(command *cobra.Command) {
			c.AddressFlags(command)
			command.Flags().BoolVar(&everywhere, "everywhere", false, "end all of your sessions")
		},
		Run: func(ctx context.Context, _ []string) error { return logout(ctx, p, &c, everywhere) },
	})
}

func logout(ctx context.Context, p *cli.Program, c *cli.Connection, everywhere bool) error {
	address, err := c.Normalized()
	if err != nil {
		return err
	}
	file, err := p.Credentials()
	if err != nil {
		return err
	}
	credential, ok, err := file.Get(address)
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("not signed in to %s", address)
	}
	if !credential.Session && !everywhere {
		if err := file.Remove(ctx, address, credential.Token); err != nil {
			return err
		}
		_, err := fmt.Fprintf(p.Out, "signed out of %s; the token is still valid\n", address)
		return err
	}
	return endSession(p, ctx, c, file, address, credential, everywhere)
}

// endSession revokes the credential and forgets it.
func endSession(p *cli.Program,
	ctx context.Context, c *cli.Connection, file *machine.CredentialsFile, address string, credential machine.Credential, everywhere bool,
) error {
	server, err := cli.Dial(address, c.Options(credential.Token))
	if err != nil {
		return err
	}
	defer server.Close()
	next, err := revoke(ctx, server, everywhere)
	gone := errors.Is(err, guidon.Unauthenticated)
	if err != nil && !gone {
		return fmt.Errorf("still signed in: %w", err)
	}
	if err := file.Remove(ctx, address, credential.Token); err != nil {
		return fmt.Errorf("the token is revoked, but cannot be forgotten: %w", err)
	}
	switch {
	case gone && everywhere:
		return fmt.Errorf("signed out of %s, but other sessions may still be valid: the token had expired or was revoked already", address)
	case everywhere:
		fmt.Fprintf(p.Out, "signed out of %s everywhere\n", address)
	default:
		fmt.Fprintf(p.Out, "signed out of %s\n", address)
	}
	if next != "" {
		fmt.Fprintf(p.Err, "You are still signed in at the provider. To sign out there too, visit:\n\n  %s\n\n", next)
	}
	return nil
}

// revoke revokes the token of the client. It returns the address at which the user can
// sign out at the provider, or "".
func revoke(ctx context.Context, server client.Client, everywhere bool) (next string, err error) {
	response, err := cli.Call[auth.RevokeAuthenticationSelfResponse](ctx, server,
		"/flipt.auth.AuthenticationService/RevokeAuthenticationSelf", &auth.RevokeAuthenticationSelfRequest{Everywhere: everywhere})
	if err != nil {
		return "", err
	}
	u, err := url.Parse(response.GetNextUri())
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return "", nil
	}
	return u.String(), nil
}

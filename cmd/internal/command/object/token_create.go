package object

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/auth"
	"github.com/guidonhq/guidon/service"
)

// tokenCreation is the command "token create".
type tokenCreation struct {
	*object
	request   *auth.CreateTokenRequest
	expiresIn time.Duration
	expiresAt string
	metadata  []string
	format    cli.Format
}

func (c *tokenCreation) options(command *cobra.Command) {
	flags, r := command.Flags(), c.request
	flags.StringVarP(&r.NamespaceKey, "namespace", "n", "", "limit the token to the namespace with this `key`")
	flags.StringVar(&r.Role, "role", "",
		"what the token may do: "+service.RoleWords+" (default admin)")
	_ = command.RegisterFlagCompletionFunc("role", cli.CompleteWords(service.RoleNames()...)) // the flag exists
	flags.StringSliceVar(&r.NamespaceKeys, "on", nil, "the `namespaces` in which the role holds, such as shop,pay-* (default all)")
	flags.StringVar(&r.Description, "description", "", "what the token is for")
	flags.DurationVar(&c.expiresIn, "expires-in", 0, "the token expires after this `time`, such as 90d")
	flags.StringVar(&c.expiresAt, "expires-at", "", "the token expires at this `time`, such as 2030-01-31T12:00:00Z")
	flags.StringArrayVar(&c.metadata, "metadata", nil, "additional `key=value` metadata of the token; may be repeated")
	c.format.FlagWithDefault(command, "the token", "the token on the standard output, and its id on the standard error")
	command.MarkFlagsMutuallyExclusive("expires-in", "expires-at")
}

func (c *tokenCreation) create(ctx context.Context, service client.Client, _ []string) (cli.Output, error) {
	created, err := cli.Call[auth.CreateTokenResponse](ctx, service,
		"/flipt.auth.AuthenticationMethodTokenService/CreateToken", c.request)
	if err != nil {
		return cli.Output{}, c.explain(err)
	}
	c.warnOfMissing(ctx, service, append(c.request.GetNamespaceKeys(), c.request.GetNamespaceKey()))
	if err := c.print(created); err != nil {
		return cli.Output{}, fmt.Errorf("token %s was created but cannot be shown: %w; delete it and create another",
			created.GetAuthentication().GetId(), err)
	}
	return cli.Output{}, nil
}

func (c *tokenCreation) print(response *auth.CreateTokenResponse) error {
	return c.Show(c.format, cli.Output{
		Data: cli.DataOf(response), Names: []string{response.GetClientToken()},
		Table: func(out io.Writer) error {
			if c.Connection.DryRun {
				return nil
			}
			fmt.Fprintf(c.Err, "created token %s; it cannot be shown again\n", response.GetAuthentication().GetId())
			_, err := fmt.Fprintln(out, response.GetClientToken())
			return err
		},
	})
}

// explain adds the likely reason if the server lacks the operation.
func (c *tokenCreation) explain(err error) error {
	switch guidon.CodeOf(err) {
	case guidon.NotFound, guidon.Unimplemented:
		return fmt.Errorf("%w; "+
			"the server does not offer static tokens unless authentication.methods.token.enabled is true", err)
	}
	return err
}

// parse completes the request.
func (c *tokenCreation) parse(command *cobra.Command) error {
	c.request.Name = command.Flags().Arg(0)
	err := cli.NotEmpty(command, "on", "role")
	if err != nil {
		return err
	}
	if c.request.Metadata, err = cli.Pairs("--metadata", c.metadata); err != nil {
		return err
	}
	switch {
	case command.Flags().Changed("expires-in"):
		if c.expiresIn <= 0 {
			return cli.UsageError("--expires-in must be positive")
		}
		c.request.ExpiresAt = timestamppb.New(c.Now().Add(c.expiresIn))
	case command.Flags().Changed("expires-at"):
		at, err := time.Parse(time.RFC3339, c.expiresAt)
		if err != nil {
			return cli.UsageError("invalid --expires-at %q: must be a time such as 2030-01-31T12:00:00Z", c.expiresAt)
		}
		if !at.After(c.Now()) {
			return cli.UsageError("--expires-at must be in the future")
		}
		c.request.ExpiresAt = timestamppb.New(at)
	}
	return nil
}

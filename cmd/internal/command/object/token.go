package object

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/auth"
	"github.com/guidonhq/guidon/service"
)

const tokenHelp = `Create, list and delete static tokens, with which programs authenticate to the
service, and revoke the sessions and tokens of people and workloads that signed in.
Tokens are checked only if authentication.required is true.`

func TokenCommand(p *cli.Program) *cobra.Command {
	return cli.Group("token", "Create, list, delete and revoke tokens", tokenHelp,
		tokenCreateCommand(p), tokenListCommand(p), tokenDeleteCommand(p), tokenRevokeCommand(p))
}

// tokenCreation is one run of "token create".
type tokenCreation struct {
	*cli.Program
	connection  cli.Connection
	namespace   string
	role        string
	on          []string
	description string
	expiresIn   time.Duration
	expiresAt   string
	metadata    []string
	format      cli.Format
	given       func(flag string) bool // reports whether the flag was given, even if empty
}

const tokenCreateHelp = `Create a static token and print it, without anything else, on the standard output.
It cannot be shown again: the service stores only its hash.`

func tokenCreateCommand(p *cli.Program) *cobra.Command {
	c := &tokenCreation{Program: p}
	command := &cobra.Command{
		Use:   "create <name>",
		Short: "Create a token",
		Long:  tokenCreateHelp,
		Example: `  guidon token create ci
  guidon token create checkout-service --namespace shop --expires-in 2160h
  guidon token create dashboard --role viewer --on shop,pay-*
  guidon token create ci --address https://flags.example > token.txt`,
		Args: cli.OneArgument("name"),
		RunE: p.Action(c.run),
	}
	c.connection.WriteFlags(command)
	flags := command.Flags()
	c.given = flags.Changed
	flags.StringVarP(&c.namespace, "namespace", "n", "", "limit the token to the namespace with this `key`")
	flags.StringVar(&c.role, "role", "", "what the token may do: evaluator, client, viewer, editor or admin (default admin)")
	_ = command.RegisterFlagCompletionFunc("role", cli.CompleteRole) // the flag exists
	flags.StringSliceVar(&c.on, "on", nil, "the `namespaces` in which the role holds, such as shop,pay-* (default all)")
	flags.StringVar(&c.description, "description", "", "what the token is for")
	flags.DurationVar(&c.expiresIn, "expires-in", 0, "the token expires after this `time`, such as 2160h")
	flags.StringVar(&c.expiresAt, "expires-at", "", "the token expires at this `time`, such as 2030-01-31T12:00:00Z")
	flags.StringArrayVar(&c.metadata, "metadata", nil, "additional `key=value` metadata of the token; may be repeated")
	c.format.FlagWithDefault(command, "the token", "the token on the standard output, and its id on the standard error")
	command.MarkFlagsMutuallyExclusive("expires-in", "expires-at")
	return command
}

func (c *tokenCreation) run(ctx context.Context, args []string) error {
	request, err := c.request(args[0])
	if err != nil {
		return err
	}
	return c.WithClient(ctx, &c.connection, cli.Writing, func(service client.Client) error {
		response := new(auth.CreateTokenResponse)
		if err := service.Invoke(ctx, "/flipt.auth.AuthenticationMethodTokenService/CreateToken", request, response); err != nil {
			return c.explain(err)
		}
		warnOfMissing(c.Program, ctx, service, append(request.GetNamespaceKeys(), request.GetNamespaceKey()))
		if err := c.print(response); err != nil {
			return fmt.Errorf("token %s was created but cannot be shown: %w; delete it and create another",
				response.GetAuthentication().GetId(), err)
		}
		return nil
	})
}

func (c *tokenCreation) print(response *auth.CreateTokenResponse) error {
	return c.Show(c.format, cli.Output{
		Data: cli.DataOf(response), Names: []string{response.GetClientToken()},
		Table: func(out io.Writer) error {
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
		return fmt.Errorf("%w; the server does not offer static tokens unless authentication.methods.token.enabled is true", err)
	}
	return err
}

func (c *tokenCreation) request(name string) (*auth.CreateTokenRequest, error) {
	metadata, err := cli.Pairs("--metadata", c.metadata)
	if err != nil {
		return nil, err
	}
	request := &auth.CreateTokenRequest{
		Name: name, Description: c.description, NamespaceKey: c.namespace, Metadata: metadata,
		Role: c.role, NamespaceKeys: c.on,
	}
	switch {
	case c.given("expires-in"):
		if c.expiresIn <= 0 {
			return nil, cli.UsageError("--expires-in must be positive")
		}
		request.ExpiresAt = timestamppb.New(c.Now().Add(c.expiresIn))
	case c.given("expires-at"):
		at, err := time.Parse(time.RFC3339, c.expiresAt)
		if err != nil {
			return nil, cli.UsageError("invalid --expires-at %q: must be a time such as 2030-01-31T12:00:00Z", c.expiresAt)
		}
		if !at.After(c.Now()) {
			return nil, cli.UsageError("--expires-at must be in the future")
		}
		request.ExpiresAt = timestamppb.New(at)
	}
	return request, nil
}

func tokenListCommand(p *cli.Program) *cobra.Command {
	var c cli.Connection
	var format cli.Format
	request := &auth.ListAuthenticationsRequest{Method: auth.Method_METHOD_TOKEN}
	command := &cobra.Command{
		Use:   "list",
		Short: "List the tokens",
		Long: `List the static tokens, including expired ones, in creation order. With --subject, list
the sessions and tokens of a person or a workload instead. The tokens themselves are
not stored and cannot be shown.`,
		Example: `  guidon token list
  guidon token list -o json
  guidon token list --subject oidc:google:sub:1234 --address https://flags.example`,
		Args: cobra.NoArgs,
		RunE: p.Action(func(ctx context.Context, _ []string) error {
			if request.GetSubject() != "" {
				request.Method = auth.Method_METHOD_NONE // all
			}
			return p.WithClient(ctx, &c, cli.Reading, func(service client.Client) error {
				tokens, err := listTokens(ctx, service, request)
				if err != nil {
					return err
				}
				return p.Show(format, cli.ListOutput(tokens, (*auth.Authentication).GetId, func(out io.Writer) error { return printTokens(p, out, tokens) }))
			})
		}),
	}
	c.Flags(command)
	command.Flags().StringVar(&request.Subject, "subject", "", "list the sessions and tokens of this `subject`")
	format.Flag(command, "ids")
	return command
}

// tokenPage is how many tokens are requested at a time, the maximum of the service.
const tokenPage = 100

// listTokens returns all pages of the list.
func listTokens(ctx context.Context, service client.Client, request *auth.ListAuthenticationsRequest) ([]*auth.Authentication, error) {
	var tokens []*auth.Authentication
	request.Limit = tokenPage
	for {
		page := new(auth.ListAuthenticationsResponse)
		if err := service.Invoke(ctx, "/flipt.auth.AuthenticationService/ListAuthentications", request, page); err != nil {
			return nil, err
		}
		tokens = append(tokens, page.GetAuthentications()...)
		request.PageToken = page.GetNextPageToken()
		if request.PageToken == "" || len(page.GetAuthentications()) == 0 {
			return tokens, nil
		}
	}
}

func printTokens(p *cli.Program, out io.Writer, tokens []*auth.Authentication) error {
	table := cli.NewTable(out, "ID\tNAME\tROLE\tNAMESPACE\tCREATED\tEXPIRES")
	for _, token := range tokens {
		role, namespaces := granted(token)
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", token.GetId(), cli.OrDash(cli.NameOf(token)),
			role, namespaces, cli.TimeOr(cli.Instant(token.GetCreatedAt()), "-"), p.Expiry(token))
	}
	return table.Flush()
}

// granted returns the role of a token and where it holds. Lists do not have those of people
// and workloads, which depend on bindings.
func granted(token *auth.Authentication) (role, namespaces string) {
	if token.GetMethod() != auth.Method_METHOD_TOKEN && len(token.GetAccess()) == 0 {
		return "-", "-"
	}
	role, namespaces = "admin", "all"
	for _, grant := range token.GetAccess() { // none means that the token may do everything
		role, namespaces = grant.GetRole(), cli.NamespacesOf(grant.GetNamespaceKeys())
	}
	if limit := token.GetMetadata()[service.MetadataTokenNamespace]; limit != "" {
		namespaces = limit
	}
	return role, namespaces
}

func tokenDeleteCommand(p *cli.Program) *cobra.Command {
	var c cli.Connection
	command := &cobra.Command{
		Use:   "delete <id>...",
		Short: "Delete tokens",
		Long:  "Delete the tokens with the given ids, which \"guidon token list\" shows. Requests with a deleted token are rejected.",
		Example: `  guidon token delete 8a6e0804-2bd0-4672-b79d-d97027f9071a
  guidon token delete 8a6e0804-2bd0-4672-b79d-d97027f9071a --address https://flags.example`,
		Args: cobra.MinimumNArgs(1),
		RunE: p.Action(func(ctx context.Context, ids []string) error {
			return p.WithClient(ctx, &c, cli.Writing, func(service client.Client) error {
				return deleteTokens(p, ctx, service, ids)
			})
		}),
	}
	c.WriteFlags(command)
	return command
}

// deleteTokens deletes the tokens. The service treats an unknown id as already
// deleted; on the command line it is more likely a typing error.
func deleteTokens(p *cli.Program, ctx context.Context, service client.Client, ids []string) error {
	for _, id := range ids {
		if err := service.Invoke(ctx, "/flipt.auth.AuthenticationService/GetAuthentication", &auth.GetAuthenticationRequest{Id: id}, new(auth.Authentication)); err != nil {
			if guidon.CodeOf(err) == guidon.NotFound {
				return guidon.Errorf(guidon.NotFound, "token %q not found; \"guidon token list\" shows the ids", id)
			}
			return err
		}
	}
	for _, id := range ids {
		if err := service.Invoke(ctx, "/flipt.auth.AuthenticationService/DeleteAuthentication", &auth.DeleteAuthenticationRequest{Id: id}, new(emptypb.Empty)); err != nil {
			return err
		}
		fmt.Fprintf(p.Out, "deleted token %s\n", id)
	}
	return nil
}

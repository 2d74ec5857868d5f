package main

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
	"github.com/guidonhq/guidon/handler/wire/auth"
	"github.com/guidonhq/guidon/service"
)

const tokenHelp = `Create, list and delete static tokens, with which programs authenticate to the
service, and revoke the sessions and tokens of people and workloads that signed in.
Tokens are checked only if authentication.required is true.`

func (p *program) tokenCommand() *cobra.Command {
	return group("token", "Create, list, delete and revoke tokens", tokenHelp,
		p.tokenCreateCommand(), p.tokenListCommand(), p.tokenDeleteCommand(), p.tokenRevokeCommand())
}

// tokenCreation is one run of "token create".
type tokenCreation struct {
	*program
	connection  connection
	namespace   string
	role        string
	on          []string
	description string
	expiresIn   time.Duration
	expiresAt   string
	metadata    []string
	format      outputFormat
	given       func(flag string) bool // reports whether the flag was given, even if empty
}

const tokenCreateHelp = `Create a static token and print it, without anything else, on the standard output.
It cannot be shown again: the service stores only its hash.`

func (p *program) tokenCreateCommand() *cobra.Command {
	c := &tokenCreation{program: p}
	command := &cobra.Command{
		Use:   "create <name>",
		Short: "Create a token",
		Long:  tokenCreateHelp,
		Example: `  guidon token create ci
  guidon token create checkout-service --namespace shop --expires-in 2160h
  guidon token create dashboard --role viewer --on shop,pay-*
  guidon token create ci --address https://flags.example > token.txt`,
		Args: oneArgument("name"),
		RunE: p.action(c.run),
	}
	c.connection.writeFlags(command)
	flags := command.Flags()
	c.given = flags.Changed
	flags.StringVarP(&c.namespace, "namespace", "n", "", "limit the token to the namespace with this `key`")
	flags.StringVar(&c.role, "role", "", "what the token may do: evaluator, client, viewer, editor or admin (default admin)")
	_ = command.RegisterFlagCompletionFunc("role", completeRole) // the flag exists
	flags.StringSliceVar(&c.on, "on", nil, "the `namespaces` in which the role holds, such as shop,pay-* (default all)")
	flags.StringVar(&c.description, "description", "", "what the token is for")
	flags.DurationVar(&c.expiresIn, "expires-in", 0, "the token expires after this `time`, such as 2160h")
	flags.StringVar(&c.expiresAt, "expires-at", "", "the token expires at this `time`, such as 2030-01-31T12:00:00Z")
	flags.StringArrayVar(&c.metadata, "metadata", nil, "additional `key=value` metadata of the token; may be repeated")
	c.format.flagWithDefault(command, "the token", "the token on the standard output, and its id on the standard error")
	command.MarkFlagsMutuallyExclusive("expires-in", "expires-at")
	return command
}

func (c *tokenCreation) run(ctx context.Context, args []string) error {
	request, err := c.request(args[0])
	if err != nil {
		return err
	}
	return c.withClient(ctx, &c.connection, writing, func(service client.Client) error {
		response := new(auth.CreateTokenResponse)
		if err := service.Invoke(ctx, "/flipt.auth.AuthenticationMethodTokenService/CreateToken", request, response); err != nil {
			return c.explain(err)
		}
		c.warnOfMissing(ctx, service, append(request.GetNamespaceKeys(), request.GetNamespaceKey()))
		if err := c.print(response); err != nil {
			return fmt.Errorf("token %s was created but cannot be shown: %w; delete it and create another",
				response.GetAuthentication().GetId(), err)
		}
		return nil
	})
}

func (c *tokenCreation) print(response *auth.CreateTokenResponse) error {
	return c.show(c.format, shown{
		data: dataOf(response), names: []string{response.GetClientToken()},
		table: func(out io.Writer) error {
			fmt.Fprintf(c.err, "created token %s; it cannot be shown again\n", response.GetAuthentication().GetId())
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
	metadata, err := pairs("--metadata", c.metadata)
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
			return nil, usageError("--expires-in must be positive")
		}
		request.ExpiresAt = timestamppb.New(c.now().Add(c.expiresIn))
	case c.given("expires-at"):
		at, err := time.Parse(time.RFC3339, c.expiresAt)
		if err != nil {
			return nil, usageError("invalid --expires-at %q: must be a time such as 2030-01-31T12:00:00Z", c.expiresAt)
		}
		if !at.After(c.now()) {
			return nil, usageError("--expires-at must be in the future")
		}
		request.ExpiresAt = timestamppb.New(at)
	}
	return request, nil
}

func (p *program) tokenListCommand() *cobra.Command {
	var c connection
	var format outputFormat
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
		RunE: p.action(func(ctx context.Context, _ []string) error {
			if request.GetSubject() != "" {
				request.Method = auth.Method_METHOD_NONE // all
			}
			return p.withClient(ctx, &c, reading, func(service client.Client) error {
				tokens, err := listTokens(ctx, service, request)
				if err != nil {
					return err
				}
				return p.show(format, shownList(tokens, (*auth.Authentication).GetId, func(out io.Writer) error { return p.printTokens(out, tokens) }))
			})
		}),
	}
	c.flags(command)
	command.Flags().StringVar(&request.Subject, "subject", "", "list the sessions and tokens of this `subject`")
	format.flag(command, "ids")
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

func (p *program) printTokens(out io.Writer, tokens []*auth.Authentication) error {
	table := newTable(out, "ID\tNAME\tROLE\tNAMESPACE\tCREATED\tEXPIRES")
	for _, token := range tokens {
		role, namespaces := granted(token)
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", token.GetId(), orDash(nameOf(token)),
			role, namespaces, timeOr(instant(token.GetCreatedAt()), "-"), p.expiry(token))
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
		role, namespaces = grant.GetRole(), namespacesOf(grant.GetNamespaceKeys())
	}
	if limit := token.GetMetadata()[service.MetadataTokenNamespace]; limit != "" {
		namespaces = limit
	}
	return role, namespaces
}

func (p *program) expiry(token *auth.Authentication) string {
	at := instant(token.GetExpiresAt())
	text := timeOr(at, "never")
	if !at.IsZero() && !at.After(p.now()) {
		text += " (expired)"
	}
	return text
}

// instant returns the time of a timestamp, or the zero time if it is not set.
func instant(at *timestamppb.Timestamp) time.Time {
	if at == nil {
		return time.Time{}
	}
	return at.AsTime()
}

func (p *program) tokenDeleteCommand() *cobra.Command {
	var c connection
	command := &cobra.Command{
		Use:   "delete <id>...",
		Short: "Delete tokens",
		Long:  "Delete the tokens with the given ids, which \"guidon token list\" shows. Requests with a deleted token are rejected.",
		Example: `  guidon token delete 8a6e0804-2bd0-4672-b79d-d97027f9071a
  guidon token delete 8a6e0804-2bd0-4672-b79d-d97027f9071a --address https://flags.example`,
		Args: cobra.MinimumNArgs(1),
		RunE: p.action(func(ctx context.Context, ids []string) error {
			return p.withClient(ctx, &c, writing, func(service client.Client) error {
				return p.deleteTokens(ctx, service, ids)
			})
		}),
	}
	c.writeFlags(command)
	return command
}

// deleteTokens deletes the tokens. The service treats an unknown id as already
// deleted; on the command line it is more likely a typing error.
func (p *program) deleteTokens(ctx context.Context, service client.Client, ids []string) error {
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
		fmt.Fprintf(p.out, "deleted token %s\n", id)
	}
	return nil
}

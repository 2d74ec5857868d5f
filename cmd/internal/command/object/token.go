package object

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/auth"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

const tokenHelp = `Create, list and delete static tokens, with which programs authenticate to the
service, and revoke the sessions and tokens of people and workloads that signed in.
Tokens are checked only if authentication.required is true.`

const tokenCreateHelp = `Create a static token and print it, without anything else, on the standard output.
It cannot be shown again: the service stores only its hash.`

const tokenListHelp = `List the static tokens, including expired ones, in creation order. With --subject, list
the sessions and tokens of a person or a workload instead. The tokens themselves are
not stored and cannot be shown.`

const revokeHelp = `Delete all sessions and tokens of a person or a workload. Requests with any of them
are rejected. It does not keep anybody from signing in again.

The subject is who signed in: oidc:<provider>:sub:<sub>, codehost:id:<number> or
kubernetes:serviceaccount:<namespace>/<name>. The actor of change records has it.`

// tokenCommands are the commands about tokens.
type tokenCommands struct {
	*object
	subject string
}

func tokens(p *cli.Program) *object {
	o := &object{Task: &cli.Task{Program: p}, kind: "token", group: "access"}
	o.short, o.long, o.Scope = "Create, list, delete and revoke tokens", tokenHelp, cli.InService
	t := &tokenCommands{object: o}
	creation := &tokenCreation{object: o, request: new(auth.CreateTokenRequest)}
	o.verbs = []cli.Verb{
		{
			Use: "create <name>", Short: "Create a token", Long: tokenCreateHelp,
			Example: `  guidon token create ci
  guidon token create checkout-service --namespace shop --expires-in 90d
  guidon token create dashboard --role viewer --on shop,pay-*
  guidon token create ci --address https://flags.example > token.txt`,
			Options: creation.options, Check: creation.parse, Write: creation.create,
		},
		{
			Use: "list", Short: "List the tokens", Long: tokenListHelp, Names: "ids",
			Example: `  guidon token list
  guidon token list -o json
  guidon token list --subject oidc:google:sub:1234 --address https://flags.example`,
			Options: func(command *cobra.Command) {
				command.Flags().StringVar(&t.subject, "subject", "", "list the sessions and tokens of this `subject`")
			},
			Read: t.list,
		},
		{
			Use: "delete <id>...", Short: "Delete tokens",
			Long: "Delete the tokens with the given ids, which \"guidon token list\" shows. " +
				"Requests with a deleted token are rejected.",
			Example: `  guidon token delete 8a6e0804-2bd0-4672-b79d-d97027f9071a
  guidon token delete 8a6e0804-2bd0-4672-b79d-d97027f9071a --address https://flags.example`,
			Write: t.delete,
		},
		{
			Use: "revoke --subject <subject>", Short: "Delete all sessions and tokens of a subject",
			Long: revokeHelp, Args: cobra.NoArgs,
			Example: `  guidon token revoke --subject oidc:google:sub:1234 --address https://flags.example
  guidon token revoke --subject kubernetes:serviceaccount:shop/checkout`,
			Options: func(command *cobra.Command) {
				command.Flags().StringVar(&t.subject, "subject", "",
					"the `subject` whose sessions and tokens are deleted")
				_ = command.MarkFlagRequired("subject") // the flag exists
			},
			Check: func(*cobra.Command) error {
				if t.subject == "" {
					return cli.UsageError("--subject must not be empty")
				}
				return nil
			},
			Write: t.revoke,
		},
	}
	return o
}

func (t *tokenCommands) list(ctx context.Context, c client.Client, _ []string) (cli.Output, error) {
	request := &auth.ListAuthenticationsRequest{Method: auth.Method_METHOD_TOKEN, Subject: t.subject}
	if t.subject != "" {
		request.Method = auth.Method_METHOD_NONE // all
	}
	all, err := listTokens(ctx, c, request)
	const header = "ID\tNAME\tROLE\tNAMESPACE\tCREATED\tEXPIRES"
	return cli.List(all, (*auth.Authentication).GetId, header, func(a *auth.Authentication) []any {
		role, namespaces := granted(a)
		return []any{a.GetId(), cli.OrDash(cli.NameOf(a)), role, namespaces, cli.When(a.GetCreatedAt()), t.Expiry(a)}
	}), err
}

// tokenPage is how many tokens are requested at a time, the maximum of the service.
const tokenPage = 100

// listTokens returns all pages of the list.
func listTokens(
	ctx context.Context, c client.Client, request *auth.ListAuthenticationsRequest,
) (tokens []*auth.Authentication, err error) {
	request.Limit = tokenPage
	err = cli.Pages(func(token string) (string, error) {
		request.PageToken = token
		page, err := cli.Call[auth.ListAuthenticationsResponse](ctx, c, "/flipt.auth.AuthenticationService/ListAuthentications", request)
		tokens = append(tokens, page.GetAuthentications()...)
		return page.GetNextPageToken(), err
	})
	return tokens, err
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

// delete deletes tokens. The service treats an unknown id as already deleted; on the command
// line it is more likely a typing error.
func (t *tokenCommands) delete(ctx context.Context, c client.Client, ids []string) (cli.Output, error) {
	for _, id := range ids {
		_, err := cli.Call[auth.Authentication](ctx, c,
			"/flipt.auth.AuthenticationService/GetAuthentication", &auth.GetAuthenticationRequest{Id: id})
		if err != nil {
			return cli.Output{}, t.unknown(id, err)
		}
	}
	return cli.Output{}, t.each(ids, "deleted", func(id string) error {
		_, err := cli.Call[emptypb.Empty](ctx, c,
			"/flipt.auth.AuthenticationService/DeleteAuthentication", &auth.DeleteAuthenticationRequest{Id: id})
		return err
	})
}

// unknown returns err or, for an object that does not exist, an error that says where its id
// can be found.
func (o *object) unknown(id string, err error) error {
	if guidon.CodeOf(err) != guidon.NotFound {
		return err
	}
	return guidon.Errorf(guidon.NotFound, "%s %q not found; \"guidon %s list\" shows the ids", o.kind, id, o.kind)
}

// each calls do for each of the ids, and prints what was done.
func (o *object) each(ids []string, done string, do func(id string) error) error {
	for _, id := range ids {
		if err := do(id); err != nil {
			return o.unknown(id, err)
		}
		fmt.Fprintf(o.Out, "%s %s %s\n", done, o.kind, id)
	}
	return nil
}

// revoke deletes the sessions and tokens of the subject. The service treats an unknown subject
// as one without any; on the command line it is more likely a typing error.
func (t *tokenCommands) revoke(ctx context.Context, c client.Client, _ []string) (cli.Output, error) {
	all, err := listTokens(ctx, c, &auth.ListAuthenticationsRequest{Subject: t.subject})
	if err != nil {
		return cli.Output{}, err
	}
	if len(all) == 0 {
		return cli.Output{}, guidon.Errorf(guidon.NotFound, "no sessions or tokens of %q found", t.subject)
	}
	_, err = cli.Call[emptypb.Empty](ctx, c,
		"/guidon.v1.AccessService/DeleteAuthentications", &guidonv1.DeleteAuthenticationsRequest{Subject: t.subject})
	if err == nil {
		_, err = fmt.Fprintf(t.Out, "deleted sessions and tokens of %s: %d\n", t.subject, len(all))
	}
	return cli.Output{}, err
}

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
)

const revokeHelp = `Delete all sessions and tokens of a person or a workload. Requests with any of them
are rejected. It does not keep anybody from signing in again.

The subject is who signed in: oidc:<provider>:sub:<sub>, codehost:id:<number> or
kubernetes:serviceaccount:<namespace>/<name>. The actor of change records has it.`

func tokenRevokeCommand(p *cli.Program) *cobra.Command {
	var c cli.Connection
	var subject string
	command := &cobra.Command{
		Use:   "revoke --subject <subject>",
		Short: "Delete all sessions and tokens of a subject",
		Long:  revokeHelp,
		Example: `  guidon token revoke --subject oidc:google:sub:1234 --address https://flags.example
  guidon token revoke --subject kubernetes:serviceaccount:shop/checkout`,
		Args: cobra.NoArgs,
		RunE: p.Action(func(ctx context.Context, _ []string) error {
			if subject == "" {
				return cli.UsageError("--subject must not be empty")
			}
			return p.WithClient(ctx, &c, cli.Writing, func(service client.Client) error { return revokeSubject(p, ctx, service, subject) })
		}),
	}
	c.WriteFlags(command)
	command.Flags().StringVar(&subject, "subject", "", "the `subject` whose sessions and tokens are deleted")
	_ = command.MarkFlagRequired("subject") // the flag exists
	return command
}

// revokeSubject deletes the sessions and tokens of the subject. The service treats an
// unknown subject as one without any; on the command line it is more likely a typing error.
func revokeSubject(p *cli.Program, ctx context.Context, service client.Client, subject string) error {
	tokens, err := listTokens(ctx, service, &auth.ListAuthenticationsRequest{Subject: subject})
	if err != nil {
		return err
	}
	if len(tokens) == 0 {
		return guidon.Errorf(guidon.NotFound, "no sessions or tokens of %q found", subject)
	}
	if err := service.Invoke(ctx, "/guidon.v1.AccessService/DeleteAuthentications", &guidonv1.DeleteAuthenticationsRequest{Subject: subject}, new(emptypb.Empty)); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Out, "deleted sessions and tokens of %s: %d\n", subject, len(tokens))
	return err
}

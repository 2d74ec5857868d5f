package object

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/auth"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

const sessionHelp = `List and end your own sessions on a server: those of browsers and of other machines
with "guidon login". "guidon logout" ends that of this machine.`

func sessions(p *cli.Program) *object {
	o := &object{Task: &cli.Task{Program: p}, kind: "session", group: "access"}
	o.short, o.long, o.Scope = "List and end your own sessions", sessionHelp, cli.OnServer
	o.verbs = []cli.Verb{
		{
			Use: "list", Short: "List your sessions", Names: "ids",
			Long: "List your own sessions on a server, in creation order. " +
				"Sessions of a command line have the name of their machine.",
			Example: `  guidon session list
  guidon session list -o json`,
			Read: o.listSessions,
		},
		{
			Use: "end <id>...", Short: "End sessions of yours",
			Long: "End your own sessions with the given ids, which \"guidon session list\" shows. " +
				"Their tokens are rejected from then on.",
			Example: `  guidon session end 8a6e0804-2bd0-4672-b79d-d97027f9071a`,
			Write: func(ctx context.Context, c client.Client, ids []string) (cli.Output, error) {
				return cli.Output{}, o.each(ids, "ended", func(id string) error {
					_, err := cli.Call[emptypb.Empty](ctx, c, "/guidon.v1.SessionService/DeleteSession",
						&guidonv1.DeleteSessionRequest{Id: id})
					return err
				})
			},
		},
	}
	return o
}

func (o *object) listSessions(ctx context.Context, c client.Client, _ []string) (cli.Output, error) {
	list, err := cli.Call[guidonv1.ListSessionsResponse](ctx, c,
		"/guidon.v1.SessionService/ListSessions", new(emptypb.Empty))
	if err != nil {
		return cli.Output{}, err
	}
	self, err := cli.Self(ctx, c)
	const header = "ID\tNAME\tMETHOD\tCREATED\tEXPIRES\tCURRENT"
	return cli.List(list.GetAuthentications(), (*auth.Authentication).GetId, header,
		func(a *auth.Authentication) []any {
			return []any{a.GetId(), cli.OrDash(a.GetMetadata()[service.MetadataSessionName]), cli.MethodOf(a),
				cli.When(a.GetCreatedAt()), o.Expiry(a), cli.YesOrDash(a.GetId() == self.GetId())}
		}), err
}

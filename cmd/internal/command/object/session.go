package object

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/auth"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

const sessionHelp = `List and end your own sessions on a server: those of browsers and of other machines
with "guidon login". "guidon logout" ends that of this machine.`

func SessionCommand(p *cli.Program) *cobra.Command {
	return cli.Group("session", "List and end your own sessions", sessionHelp, sessionListCommand(p), sessionEndCommand(p))
}

func sessionListCommand(p *cli.Program) *cobra.Command {
	var c cli.Connection
	var format cli.Format
	command := &cobra.Command{
		Use:   "list",
		Short: "List your sessions",
		Long:  "List your own sessions on a server, in creation order. Sessions of a command line have the name of their machine.",
		Example: `  guidon session list
  guidon session list -o json`,
		Args: cobra.NoArgs,
		RunE: p.Action(func(ctx context.Context, _ []string) error {
			return p.WithClient(ctx, &c, cli.Reading, func(server client.Client) error { return listSessions(p, ctx, server, format) })
		}),
	}
	c.ServerFlags(command)
	format.Flag(command, "ids")
	return command
}

func listSessions(p *cli.Program, ctx context.Context, server client.Client, format cli.Format) error {
	list := new(guidonv1.ListSessionsResponse)
	if err := server.Invoke(ctx, "/guidon.v1.SessionService/ListSessions", new(emptypb.Empty), list); err != nil {
		return err
	}
	sessions := list.GetAuthentications()
	return p.Show(format, cli.ListOutput(sessions, (*auth.Authentication).GetId, func(out io.Writer) error {
		self, err := cli.Self(ctx, server)
		if err != nil {
			return err
		}
		return printSessions(p, out, sessions, self.GetId())
	}))
}

func printSessions(p *cli.Program, out io.Writer, sessions []*auth.Authentication, current string) error {
	table := cli.NewTable(out, "ID\tNAME\tMETHOD\tCREATED\tEXPIRES\tCURRENT")
	for _, s := range sessions {
		mark := "-"
		if s.GetId() == current {
			mark = "yes"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", s.GetId(), cli.OrDash(s.GetMetadata()[service.MetadataSessionName]), cli.MethodOf(s),
			cli.TimeOr(cli.Instant(s.GetCreatedAt()), "-"), p.Expiry(s), mark)
	}
	return table.Flush()
}

func sessionEndCommand(p *cli.Program) *cobra.Command {
	var c cli.Connection
	command := &cobra.Command{
		Use:     "end <id>...",
		Short:   "End sessions of yours",
		Long:    "End your own sessions with the given ids, which \"guidon session list\" shows. Their tokens are rejected from then on.",
		Example: `  guidon session end 8a6e0804-2bd0-4672-b79d-d97027f9071a`,
		Args:    cobra.MinimumNArgs(1),
		RunE: p.Action(func(ctx context.Context, ids []string) error {
			return p.WithClient(ctx, &c, cli.Writing, func(server client.Client) error { return endSessions(p, ctx, server, ids) })
		}),
	}
	c.ServerFlags(command)
	return command
}

func endSessions(p *cli.Program, ctx context.Context, server client.Client, ids []string) error {
	for _, id := range ids {
		err := server.Invoke(ctx, "/guidon.v1.SessionService/DeleteSession", &guidonv1.DeleteSessionRequest{Id: id}, new(emptypb.Empty))
		if guidon.CodeOf(err) == guidon.NotFound {
			return guidon.Errorf(guidon.NotFound, "session %q not found; \"guidon session list\" shows the ids", id)
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(p.Out, "ended session %s\n", id)
	}
	return nil
}

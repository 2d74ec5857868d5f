package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/handler/wire/auth"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

const sessionHelp = `List and end your own sessions on a server: those of browsers and of other machines
with "guidon login". "guidon logout" ends that of this machine.`

func (p *program) sessionCommand() *cobra.Command {
	return group("session", "List and end your own sessions", sessionHelp, p.sessionListCommand(), p.sessionEndCommand())
}

func (p *program) sessionListCommand() *cobra.Command {
	var c connection
	var format outputFormat
	command := &cobra.Command{
		Use:   "list",
		Short: "List your sessions",
		Long:  "List your own sessions on a server, in creation order. Sessions of a command line have the name of their machine.",
		Example: `  guidon session list
  guidon session list -o json`,
		Args: cobra.NoArgs,
		RunE: p.action(func(ctx context.Context, _ []string) error {
			return p.withClient(ctx, &c, reading, func(server client.Client) error { return p.listSessions(ctx, server, format) })
		}),
	}
	c.serverFlags(command)
	format.flag(command, "ids")
	return command
}

func (p *program) listSessions(ctx context.Context, server client.Client, format outputFormat) error {
	list := new(guidonv1.ListSessionsResponse)
	if err := server.Invoke(ctx, "/guidon.v1.SessionService/ListSessions", new(emptypb.Empty), list); err != nil {
		return err
	}
	sessions := list.GetAuthentications()
	return p.show(format, shownList(sessions, (*auth.Authentication).GetId, func(out io.Writer) error {
		self, err := getSelf(ctx, server)
		if err != nil {
			return err
		}
		return p.printSessions(out, sessions, self.GetId())
	}))
}

func (p *program) printSessions(out io.Writer, sessions []*auth.Authentication, current string) error {
	table := newTable(out, "ID\tNAME\tMETHOD\tCREATED\tEXPIRES\tCURRENT")
	for _, s := range sessions {
		mark := "-"
		if s.GetId() == current {
			mark = "yes"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", s.GetId(), orDash(s.GetMetadata()[service.MetadataSessionName]), methodOf(s),
			timeOr(instant(s.GetCreatedAt()), "-"), p.expiry(s), mark)
	}
	return table.Flush()
}

func (p *program) sessionEndCommand() *cobra.Command {
	var c connection
	command := &cobra.Command{
		Use:     "end <id>...",
		Short:   "End sessions of yours",
		Long:    "End your own sessions with the given ids, which \"guidon session list\" shows. Their tokens are rejected from then on.",
		Example: `  guidon session end 8a6e0804-2bd0-4672-b79d-d97027f9071a`,
		Args:    cobra.MinimumNArgs(1),
		RunE: p.action(func(ctx context.Context, ids []string) error {
			return p.withClient(ctx, &c, writing, func(server client.Client) error { return p.endSessions(ctx, server, ids) })
		}),
	}
	c.serverFlags(command)
	return command
}

func (p *program) endSessions(ctx context.Context, server client.Client, ids []string) error {
	for _, id := range ids {
		err := server.Invoke(ctx, "/guidon.v1.SessionService/DeleteSession", &guidonv1.DeleteSessionRequest{Id: id}, new(emptypb.Empty))
		if guidon.CodeOf(err) == guidon.NotFound {
			return guidon.Errorf(guidon.NotFound, "session %q not found; \"guidon session list\" shows the ids", id)
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(p.out, "ended session %s\n", id)
	}
	return nil
}

package access

import (
	"cmp"
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/store/redact"
)

const statusHelp = `Show where the next command works and as whom: the server or the database, the context,
the namespace, and who you are there. It also says whether changes are possible: a read-only
server refuses every change of flags, segments and namespaces.`

// commandStatus is the output of "status".
type commandStatus struct {
	Address   string `json:"address,omitempty"`  // of the server
	Database  string `json:"database,omitempty"` // or the local database
	Context   string `json:"context,omitempty"`
	Namespace string `json:"namespace"`
	Identity  string `json:"identity,omitempty"` // the name of the caller, or the id
	cli.ServerInfo
}

// StatusCommand returns the command "status".
func StatusCommand(p *cli.Program) *cobra.Command {
	t := &cli.Task{Program: p}
	command := &cobra.Command{
		Use:   "status",
		Short: "Show which server commands use, and who you are there",
		Long:  statusHelp,
		Example: `  guidon status
  guidon status -o json | jq .readOnly`,
		Args: cobra.NoArgs,
		RunE: p.Action(func(ctx context.Context, _ []string) error { return status(ctx, t) }),
	}
	t.Connection.Flags(command)
	cli.NamespaceFlag(command, &t.Namespace)
	t.Output.Flag(command, "the address, or the database")
	return command
}

func status(ctx context.Context, t *cli.Task) error {
	s := commandStatus{Namespace: t.Namespace}
	err := t.Reading(ctx, func(service client.Client) error {
		if !t.Connection.Remote() {
			return databaseStatus(ctx, t, &s)
		}
		return serverStatus(ctx, t, service, &s)
	})
	if err != nil {
		return err
	}
	return t.Show(t.Output, cli.Output{
		Data: cli.DataOfValue(s), Names: []string{cmp.Or(s.Address, s.Database)},
		Table: func(out io.Writer) error { return printStatus(out, s) },
	})
}

func databaseStatus(ctx context.Context, t *cli.Task, s *commandStatus) error {
	c, err := t.LoadConfig(ctx, t.Connection.Database)
	if err != nil {
		return err
	}
	s.Database, s.ReadOnly = redact.URL(c.DB.URL), c.Server.ReadOnly
	return nil
}

func serverStatus(ctx context.Context, t *cli.Task, service client.Client, s *commandStatus) error {
	address, err := t.Connection.Normalized()
	if err != nil {
		return err
	}
	contexts, err := t.ReadContexts()
	if err != nil {
		return err
	}
	s.Address, s.Context = t.Connection.Address, contexts.At(address)
	self, err := cli.Self(ctx, service)
	switch {
	case err == nil:
		s.Identity = cmp.Or(cli.NameOf(self), self.GetId())
	case !errors.Is(err, guidon.Unauthenticated):
		return err
	}
	s.ServerInfo, err = cli.Info(ctx, service)
	return err
}

func printStatus(out io.Writer, s commandStatus) error {
	table := cli.NewFieldTable(out)
	changes := "allowed, as far as your roles do"
	if s.Database != "" {
		table.Row("DATABASE", s.Database)
		changes = "allowed"
	} else {
		table.Row("SERVER", s.Address)
		table.Row("VERSION", cli.OrDash(s.Version))
		table.Row("CONTEXT", cli.OrDash(s.Context))
		you := "not signed in"
		if !s.Authentication.Required {
			you, changes = "anybody: the server does not require authentication", "allowed"
		}
		table.Row("YOU", cmp.Or(cli.Printable(s.Identity), you))
	}
	if s.ReadOnly {
		changes = "refused: read-only (server.read_only is set)"
	}
	table.Row("NAMESPACE", s.Namespace)
	table.Row("CHANGES", changes)
	return table.Flush()
}

package access

import (
	"cmp"
	"context"
	"errors"

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
	return t.Command(cli.Verb{
		Use: "status", Short: "Show which server commands use, and who you are there", Long: statusHelp,
		Example: `  guidon status
  guidon status -o json | jq .readOnly`,
		Names: "the address, or the database",
		Read: func(ctx context.Context, service client.Client, _ []string) (cli.Output, error) {
			s := commandStatus{Namespace: t.Namespace}
			read := databaseStatus
			if t.Connection.Remote() {
				read = serverStatus
			}
			err := read(ctx, t, service, &s)
			return cli.Output{
				Data: cli.DataOfValue(s), Names: []string{cmp.Or(s.Address, s.Database)},
				Table: cli.Fields(s.fields),
			}, err
		},
	})
}

func databaseStatus(ctx context.Context, t *cli.Task, _ client.Client, s *commandStatus) error {
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

func (s commandStatus) fields(field cli.Field) {
	changes := "allowed, as far as your roles do"
	if s.Database != "" {
		field("DATABASE", s.Database)
		changes = "allowed"
	} else {
		field("SERVER", s.Address)
		field("VERSION", cli.OrDash(s.Version))
		field("CONTEXT", cli.OrDash(s.Context))
		you := "not signed in"
		if !s.Authentication.Required {
			you, changes = "anybody: the server does not require authentication", "allowed"
		}
		field("YOU", cmp.Or(s.Identity, you))
	}
	if s.ReadOnly {
		changes = "refused: read-only (server.read_only is set)"
	}
	field("NAMESPACE", s.Namespace)
	field("CHANGES", changes)
}

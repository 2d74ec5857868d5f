package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/spf13/cobra"
	"google.golang.org/genproto/googleapis/api/httpbody"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/store/redact"
)

const statusHelp = `Show what commands work on without further flags: the server or the database, the
namespace, and who you are there. A read-only server refuses all changes of flags, segments
and namespaces, whoever asks for them.`

// commandStatus is the output of "status".
type commandStatus struct {
	Address   string `json:"address,omitempty"`  // of the server
	Database  string `json:"database,omitempty"` // or the local database
	Context   string `json:"context,omitempty"`
	Namespace string `json:"namespace"`
	Version   string `json:"version,omitempty"` // of the server
	ReadOnly  bool   `json:"readOnly"`
	Identity  string `json:"identity,omitempty"` // the name of the caller, or the id
}

func (p *program) statusCommand() *cobra.Command {
	o := &task{program: p}
	command := &cobra.Command{
		Use:   "status",
		Short: "Show which server commands use, and who you are there",
		Long:  statusHelp,
		Example: `  guidon status
  guidon status -o json | jq .readOnly`,
		Args: cobra.NoArgs,
		RunE: p.action(func(ctx context.Context, _ []string) error { return o.status(ctx) }),
	}
	o.readFlags(command, "the address, or the database")
	return command
}

func (o *task) status(ctx context.Context) error {
	s := commandStatus{Namespace: o.namespace}
	err := o.reading(ctx, func(service client.Client) error {
		if !o.connection.remote() {
			return o.databaseStatus(ctx, &s)
		}
		return o.serverStatus(ctx, service, &s)
	})
	if err != nil {
		return err
	}
	return o.show(o.output, shown{
		data: dataOfValue(s), names: []string{cmp.Or(s.Address, s.Database)},
		table: func(out io.Writer) error { return printStatus(out, s) },
	})
}

func (o *task) databaseStatus(ctx context.Context, s *commandStatus) error {
	c, err := o.loadConfig(ctx, o.connection.database)
	if err != nil {
		return err
	}
	s.Database, s.ReadOnly = redact.URL(c.DB.URL), c.Server.ReadOnly
	return nil
}

func (o *task) serverStatus(ctx context.Context, service client.Client, s *commandStatus) error {
	address, err := o.connection.normalized()
	if err != nil {
		return err
	}
	contexts, err := o.readContexts()
	if err != nil {
		return err
	}
	s.Address, s.Context = o.connection.address, contexts.At(address)
	self, err := getSelf(ctx, service)
	switch {
	case err == nil:
		s.Identity = cmp.Or(nameOf(self), self.GetId())
	case !errors.Is(err, guidon.Unauthenticated):
		return err
	}
	info := new(httpbody.HttpBody)
	err = service.Invoke(ctx, "/flipt.meta.MetadataService/GetInfo", new(emptypb.Empty), info)
	if errors.Is(err, guidon.Unauthenticated) && s.Identity == "" {
		return err
	}
	if err == nil {
		err = json.Unmarshal(info.GetData(), s) // its version and whether it is read-only
	}
	return err
}

func printStatus(out io.Writer, s commandStatus) error {
	table := newFieldTable(out)
	changes := "allowed, as far as your roles do"
	if s.Database != "" {
		table.row("DATABASE", s.Database)
		changes = "allowed"
	} else {
		table.row("SERVER", s.Address)
		table.row("VERSION", orDash(s.Version))
		table.row("CONTEXT", orDash(s.Context))
		table.row("YOU", cmp.Or(printable(s.Identity), "not signed in"))
	}
	if s.ReadOnly {
		changes = "refused: read-only (server.read_only is set)"
	}
	table.row("NAMESPACE", s.Namespace)
	table.row("CHANGES", changes)
	return table.Flush()
}

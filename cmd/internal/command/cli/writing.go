package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon/cmd/internal/client"
)

// WriteFlags adds the connection flags to a command that changes something.
func (c *Connection) WriteFlags(command *cobra.Command) {
	c.writes = true
	c.Flags(command)
	command.Flags().BoolVarP(&c.Yes, "yes", "y", false, "do not ask for confirmation")
	command.Flags().StringVarP(&c.Message, "message", "m", "", "why the change is made, `text` that is kept in the change log")
}

// DryRunFlag adds --dry-run to a command whose changes the service tries.
func (c *Connection) DryRunFlag(command *cobra.Command) {
	command.Flags().BoolVar(&c.DryRun, "dry-run", false, "check the change as if it were made, and change nothing")
}

// writingClient is a client whose writes are as the flags of the connection say: they have the
// message, and are only tried, or are confirmed first in a protected context.
type writingClient struct {
	client.Client
	program    *Program
	connection *Connection
	dryRuns    bool // the server makes dry runs
}

var errNoDryRun = errors.New("nothing was changed: the server does not know dry runs; it is of an earlier release")

// Invoke implements client.Client.
func (w *writingClient) Invoke(ctx context.Context, method string, request, response proto.Message) (err error) {
	if w.connection.Message != "" {
		ctx = client.WithMessage(ctx, w.connection.Message)
	}
	trial, ok := request.(interface{ GetDryRun() bool })
	switch {
	case !client.Changes(method), ok && trial.GetDryRun():
	case w.connection.DryRun:
		err = w.checkDryRuns(ctx)
		ctx = client.WithDryRun(ctx)
	case w.connection.writes && w.program.protected != "" && !w.program.confirmed:
		err = w.confirm(request)
	}
	if err != nil {
		return err
	}
	return w.Client.Invoke(ctx, method, request, response)
}

// checkDryRuns returns an error if the server would make the change.
func (w *writingClient) checkDryRuns(ctx context.Context) error {
	if !w.connection.Remote() || w.dryRuns {
		return nil
	}
	info, err := Info(ctx, w.Client)
	if w.dryRuns = info.DryRun; err == nil && !w.dryRuns {
		err = errNoDryRun
	}
	return err
}

// confirm asks before the first change, unless the command has asked.
func (w *writingClient) confirm(request proto.Message) error {
	where := w.connection.Address
	if m, ok := request.(interface{ GetNamespaceKey() string }); ok && m.GetNamespaceKey() != "" {
		where = m.GetNamespaceKey() + " at " + where
	}
	return w.program.Confirm("This changes "+where+".\n", w.connection.Yes)
}

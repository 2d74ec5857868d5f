package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon/cmd/internal/client"
)

// DryRunFlag adds --dry-run to a command whose changes the service tries.
func (c *Connection) DryRunFlag(command *cobra.Command) {
	command.Flags().BoolVar(&c.DryRun, "dry-run", false, "check the change as if it were made, and change nothing")
}

// dryRunClient is a client whose writes are checked and answered, and not stored.
type dryRunClient struct {
	client.Client
	remote bool
	known  bool // the server makes dry runs
}

var errNoDryRun = errors.New("nothing was changed: the server does not know dry runs; it is of an earlier release")

// Invoke implements client.Client.
func (c *dryRunClient) Invoke(ctx context.Context, method string, request, response proto.Message) error {
	if !client.Changes(method) {
		return c.Client.Invoke(ctx, method, request, response)
	}
	if c.remote && !c.known {
		info, err := Info(ctx, c.Client)
		if err != nil {
			return err
		}
		if !info.DryRun {
			return errNoDryRun
		}
		c.known = true
	}
	return c.Client.Invoke(client.WithDryRun(ctx), method, request, response)
}

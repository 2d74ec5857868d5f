package cli

import (
	"context"

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

// messageClient is a client whose writes have a message.
type messageClient struct {
	client.Client
	message string
}

// Invoke implements client.Client.
func (m messageClient) Invoke(ctx context.Context, method string, request, response proto.Message) error {
	return m.Client.Invoke(client.WithMessage(ctx, m.message), method, request, response)
}

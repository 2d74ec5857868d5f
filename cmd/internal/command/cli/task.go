package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/client"
)

// Task is one run of a command on a server or a database.
type Task struct {
	*Program
	Connection Connection
	Namespace  string
	Output     Format
	Yes        bool
}

// YesFlag adds the flag of a command that asks for confirmation.
func (t *Task) YesFlag(command *cobra.Command) {
	command.Flags().BoolVarP(&t.Yes, "yes", "y", false, "do not ask for confirmation")
}

// Reading calls fn with a client for reads.
func (t *Task) Reading(ctx context.Context, fn func(client.Client) error) error {
	return t.With(ctx, Reading, fn)
}

// Writing calls fn with a client for writes.
func (t *Task) Writing(ctx context.Context, fn func(client.Client) error) error {
	return t.With(ctx, Writing, fn)
}

// With calls fn with a client.
func (t *Task) With(ctx context.Context, mode Access, fn func(client.Client) error) error {
	return t.WithClient(ctx, &t.Connection, mode, fn)
}

// Place returns where the command works, for messages.
func (t *Task) Place() string {
	if t.Connection.Remote() {
		return t.Namespace + " at " + t.Connection.Address
	}
	return t.Namespace
}

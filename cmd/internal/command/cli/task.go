package cli

import (
	"context"

	"github.com/guidonhq/guidon/cmd/internal/client"
)

// Task is one run of a command on a server or a database.
type Task struct {
	*Program
	Connection Connection
	Namespace  string
	Output     Format
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

// Confirm is that of the program, with the answer of --yes. A dry run needs none.
func (t *Task) Confirm(what string) error {
	if t.Connection.DryRun {
		return nil
	}
	return t.Program.Confirm(what, t.Connection.Yes)
}

// Place returns where the command works, for messages.
func (t *Task) Place() string { return t.Connection.Place(t.Namespace) }

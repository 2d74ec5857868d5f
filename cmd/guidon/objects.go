package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// objects is one run of a command about the flags or segments of a namespace.
type objects struct{ task }

// task is one run of a command on a server or a database.
type task struct {
	*program
	connection connection
	namespace  string
	output     outputFormat
	yes        bool
}

// readFlags adds the flags of a command that prints objects.
func (t *task) readFlags(command *cobra.Command, names string) {
	t.connection.flags(command)
	namespaceFlag(command, &t.namespace)
	t.output.flag(command, names)
}

// writeFlags adds the flags of a command that changes objects, and prints them.
func (t *task) writeFlags(command *cobra.Command, names string) {
	t.connection.writeFlags(command)
	t.connection.quiet = true // messages have the place
	namespaceFlag(command, &t.namespace)
	t.output.flag(command, names)
}

// yesFlag adds the flag of a command that asks for confirmation.
func (t *task) yesFlag(command *cobra.Command) {
	command.Flags().BoolVarP(&t.yes, "yes", "y", false, "do not ask for confirmation")
}

// reading calls fn with a client for reads.
func (t *task) reading(ctx context.Context, fn func(client.Client) error) error {
	return t.withClient(ctx, &t.connection, reading, fn)
}

// writing calls fn with a client for writes.
func (t *task) writing(ctx context.Context, fn func(client.Client) error) error {
	return t.withClient(ctx, &t.connection, writing, fn)
}

// checkNamespace returns an error unless the namespace exists. Lists of one that does not are
// empty.
func (o *objects) checkNamespace(ctx context.Context, c client.Client) error {
	key, _ := service.ReferenceKey(o.namespace)
	_, err := getNamespace(ctx, c, key)
	return err
}

// place returns where the command works, for messages.
func (t *task) place() string {
	if t.connection.remote() {
		return t.namespace + " at " + t.connection.address
	}
	return t.namespace
}

// revision returns the revision of the namespace before anything else is read, so that a
// write can be rejected if the object is changed meanwhile.
func (o *objects) revision(ctx context.Context, service client.Client) (*int64, error) {
	newest, err := newestChange(ctx, service, o.namespace)
	revision := newest.GetRevision()
	return &revision, err
}

// changedMeanwhile adds a hint to the error of a write that was rejected because the object
// has changed since it was read.
func changedMeanwhile(err error) error {
	if errors.Is(err, guidon.FailedPrecondition) {
		return fmt.Errorf("%w; nothing was changed: run the command again", err)
	}
	return err
}

// patch applies the edits, all of them or none.
func (o *objects) patch(ctx context.Context, service client.Client, request *guidonv1.PatchRequest) (*guidonv1.EditResponse, error) {
	request.NamespaceKey = o.namespace
	done := new(guidonv1.EditResponse)
	err := service.Invoke(ctx, "/guidon.v1.EditService/Patch", request, done)
	return done, changedMeanwhile(err)
}

// givenFlags returns which flags of the command were given, in the order of the names.
func givenFlags(command *cobra.Command, names ...string) []string {
	var given []string
	for _, name := range names {
		if command.Flags().Changed(name) {
			given = append(given, name)
		}
	}
	return given
}

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// objects is one run of a command about the flags or segments of a namespace.
type objects struct {
	*program
	connection connection
	namespace  string
	output     outputFormat
	yes        bool
}

// readFlags adds the flags of a command that prints objects.
func (o *objects) readFlags(command *cobra.Command, names string) {
	o.connection.flags(command)
	namespaceFlag(command, &o.namespace)
	o.output.flag(command, names)
}

// writeFlags adds the flags of a command that changes objects, and prints them.
func (o *objects) writeFlags(command *cobra.Command, names string) {
	o.connection.writeFlags(command)
	namespaceFlag(command, &o.namespace)
	o.output.flag(command, names)
}

// yesFlag adds the flag of a command that asks for confirmation.
func (o *objects) yesFlag(command *cobra.Command) {
	command.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask for confirmation")
}

// reading calls fn with a client for reads.
func (o *objects) reading(ctx context.Context, fn func(client.Client) error) error {
	return o.withClient(ctx, &o.connection, reading, fn)
}

// writing calls fn with a client for writes.
func (o *objects) writing(ctx context.Context, fn func(client.Client) error) error {
	return o.withClient(ctx, &o.connection, writing, fn)
}

// checkNamespace returns an error unless the namespace exists. Lists of one that does not are
// empty.
func (o *objects) checkNamespace(ctx context.Context, c client.Client) error {
	key, _ := service.ReferenceKey(o.namespace)
	_, err := getNamespace(ctx, c, key)
	return err
}

// place returns where the command works, for messages.
func (o *objects) place() string {
	if o.connection.remote() {
		return o.namespace + " at " + o.connection.address
	}
	return o.namespace
}

// revision returns the revision of the namespace before anything else is read, so that a
// write can be refused if somebody changes the object meanwhile.
func (o *objects) revision(ctx context.Context, service client.Client) (*int64, error) {
	newest, err := newestChange(ctx, service, o.namespace)
	revision := newest.GetRevision()
	return &revision, err
}

// changedMeanwhile adds what to do to the error of a write that was refused because the
// object has changed since it was read.
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

// maxDeleted is how many objects one command deletes, the most that the service deletes at
// once.
const maxDeleted = 100

// keysToDelete is a check for the arguments of a command that deletes objects.
func keysToDelete(what string) cobra.PositionalArgs {
	return func(command *cobra.Command, keys []string) error {
		switch {
		case len(keys) == 0:
			return usageError("missing argument <%s>: %s", what, command.UseLine())
		case len(keys) > maxDeleted:
			return usageError("at most %d can be deleted at once; got %d", maxDeleted, len(keys))
		}
		seen := make(map[string]bool)
		for _, key := range keys {
			if key == "" {
				return usageError("the %s must not be empty", what)
			}
			if seen[key] {
				return usageError("%s %q is given twice", what, key)
			}
			seen[key] = true
		}
		return nil
	}
}

// confirmDelete asks for confirmation before objects are deleted.
func (o *objects) confirmDelete(what string, keys []string) error {
	return o.confirm(fmt.Sprintf("This deletes from %s: %s %s\n", o.place(), what, strings.Join(keys, ", ")), o.yes)
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

// Package object has the commands about single objects: flags, segments, namespaces, tokens, bindings and sessions.
package object

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// objects is one run of a command about the flags or segments of a namespace.
type objects struct{ cli.Task }

// checkNamespace returns an error unless the namespace exists. Lists of one that does not are
// empty.
func (o *objects) checkNamespace(ctx context.Context, c client.Client) error {
	key, _ := service.ReferenceKey(o.Namespace)
	_, err := getNamespace(ctx, c, key)
	return err
}

// revision returns the revision of the namespace before anything else is read, so that a
// write can be rejected if the object is changed meanwhile.
func (o *objects) revision(ctx context.Context, service client.Client) (*int64, error) {
	newest, err := cli.NewestChange(ctx, service, o.Namespace)
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
	request.NamespaceKey = o.Namespace
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

package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

const segmentDeleteHelp = `Delete segments, all of them or none. It asks for confirmation. A segment that a flag refers
to cannot be deleted; "guidon segment usage" shows where it is used. "guidon undo" brings
deleted segments back.`

func (p *program) segmentDeleteCommand() *cobra.Command {
	o := &objects{program: p}
	command := &cobra.Command{
		Use:               "delete <segment>...",
		Aliases:           []string{"rm"},
		Short:             "Delete segments",
		Long:              segmentDeleteHelp,
		Example:           `  guidon segment delete beta-users --yes`,
		Args:              keysToDelete("segment"),
		ValidArgsFunction: p.completeSegments,
		RunE: p.action(func(ctx context.Context, keys []string) error {
			return o.writing(ctx, func(service client.Client) error { return o.deleteSegments(ctx, service, keys) })
		}),
	}
	o.writeFlags(command, "the keys")
	o.yesFlag(command)
	return command
}

func (o *objects) deleteSegments(ctx context.Context, service client.Client, keys []string) error {
	request := new(guidonv1.PatchRequest)
	for _, key := range keys {
		if _, err := o.segment(ctx, service, key); err != nil {
			return err
		}
		request.Segments = append(request.Segments, &guidonv1.SegmentEdit{Delete: key})
	}
	if err := o.confirmDelete("segment", keys); err != nil {
		return err
	}
	done, err := o.patch(ctx, service, request)
	if err != nil {
		return err
	}
	return o.showDeleted("segment", keys, done)
}

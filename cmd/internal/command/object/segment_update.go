package object

import (
	"context"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

const segmentUpdateHelp = `Change fields of a segment. What is not given stays as it is. "guidon segment edit" changes
constraints.

If somebody changes the segment at the same time, nothing is changed.`

func segmentUpdateCommand(p *cli.Program) *cobra.Command {
	o := &objects{cli.Task{Program: p}}
	var fields segmentFields
	command := &cobra.Command{
		Use:               "update <segment>",
		Short:             "Change fields of a segment",
		Long:              segmentUpdateHelp,
		Example:           `  guidon segment update iberia --name "Spain and Portugal" --match any`,
		Args:              cli.OneArgument("segment"),
		ValidArgsFunction: cli.FirstArgument(p.CompleteSegments),
	}
	command.RunE = p.Action(func(ctx context.Context, args []string) error {
		given := givenFlags(command, "name", "description", "match")
		if len(given) == 0 {
			return cli.UsageError("nothing to change: give --name, --description or --match")
		}
		return o.Writing(ctx, func(service client.Client) error { return o.updateSegment(ctx, service, args[0], fields, given) })
	})
	o.WriteFlags(command, "the key")
	fields.flags(command)
	return command
}

// updateSegment sets the given fields of the segment.
func (o *objects) updateSegment(ctx context.Context, service client.Client, key string, fields segmentFields, given []string) error {
	since, err := o.revision(ctx, service)
	if err != nil {
		return err
	}
	content, err := o.segment(ctx, service, key)
	if err != nil {
		return err
	}
	updated := proto.CloneOf(content.GetSegment())
	if err := fields.set(updated, given); err != nil {
		return err
	}
	done, err := o.replaceSegment(ctx, service, updated, since)
	if err != nil {
		return err
	}
	return o.showSegment(ctx, service, key, outcomeWord(done, "updated"))
}

// replaceSegment replaces the segment unless it has changed since the revision.
func (o *objects) replaceSegment(
	ctx context.Context, service client.Client, segment *guidonv1.DocumentSegment, since *int64,
) (*guidonv1.EditResponse, error) {
	done := new(guidonv1.EditResponse)
	err := service.Invoke(ctx, "/guidon.v1.EditService/ReplaceSegment", &guidonv1.ReplaceSegmentRequest{
		NamespaceKey: o.Namespace, Key: segment.GetKey(), Segment: segment, UnlessChangedSince: since,
	}, done)
	return done, changedMeanwhile(err)
}

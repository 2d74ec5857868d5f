package object

import (
	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
)

const segmentHelp = `Work with single segments of a namespace. A segment is the entities whose context meets
its constraints: all of them, or any.`

func SegmentCommand(p *cli.Program) *cobra.Command {
	command := cli.Group("segment", "List, create, change and delete segments", segmentHelp,
		segmentListCommand(p), segmentGetCommand(p), segmentCreateCommand(p), segmentUpdateCommand(p), segmentEditCommand(p),
		segmentDeleteCommand(p), segmentUsageCommand(p))
	command.Aliases = []string{"segments"}
	return command
}

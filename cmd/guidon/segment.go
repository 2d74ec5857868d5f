package main

import "github.com/spf13/cobra"

const segmentHelp = `Work with single segments of a namespace. A segment is the entities whose context meets
its constraints: all of them, or any.`

func (p *program) segmentCommand() *cobra.Command {
	command := group("segment", "List, create, change and delete segments", segmentHelp,
		p.segmentListCommand(), p.segmentGetCommand(), p.segmentCreateCommand(), p.segmentUpdateCommand(), p.segmentEditCommand(),
		p.segmentDeleteCommand(), p.segmentUsageCommand())
	command.Aliases = []string{"segments"}
	return command
}

package object

import (
	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
)

const flagHelp = `Work with single flags of a namespace.

A boolean flag answers true or false: its rollouts decide in order, and "enabled" is the
value for those whom none matches. A variant flag answers with one of its variants, which
its rules distribute; if it is not enabled, everybody gets the default variant, or none.`

func FlagCommand(p *cli.Program) *cobra.Command {
	command := cli.Group("flag", "List, create, change, switch and delete flags", flagHelp,
		flagListCommand(p), flagGetCommand(p), flagCreateCommand(p), flagUpdateCommand(p), flagEditCommand(p),
		flagOnCommand(p), flagOffCommand(p), flagDeleteCommand(p), flagReachCommand(p))
	command.Aliases = []string{"flags"}
	return command
}

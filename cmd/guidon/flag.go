package main

import "github.com/spf13/cobra"

const flagHelp = `Work with single flags of a namespace.

A boolean flag answers true or false: its rules decide in order, and "enabled" is the
value for those whom none matches. A variant flag answers with one of its variants, which
its rules distribute; if it is not enabled, everybody gets the default variant, or none.`

func (p *program) flagCommand() *cobra.Command {
	command := group("flag", "List, create, change, switch and delete flags", flagHelp,
		p.flagListCommand(), p.flagGetCommand(), p.flagCreateCommand(), p.flagUpdateCommand(), p.flagEditCommand(),
		p.flagOnCommand(), p.flagOffCommand(), p.flagDeleteCommand(), p.flagReachCommand())
	command.Aliases = []string{"flags"}
	return command
}

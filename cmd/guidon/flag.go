package main

import "github.com/spf13/cobra"

func (p *program) flagCommand() *cobra.Command {
	return group("flag", "Work with single flags", "Work with single flags of a namespace.", p.flagReachCommand())
}

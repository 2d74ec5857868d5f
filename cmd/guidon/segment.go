package main

import "github.com/spf13/cobra"

func (p *program) segmentCommand() *cobra.Command {
	return group("segment", "Work with single segments", "Work with single segments of a namespace.", p.segmentUsageCommand())
}

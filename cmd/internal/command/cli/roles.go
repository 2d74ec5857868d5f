package cli

import (
	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/service"
)

// CompleteRole offers the names of roles to the shell.
func CompleteRole(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for role := service.RoleEvaluator; role <= service.RoleAdmin; role++ {
		names = append(names, role.String())
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// CompleteFirstRole offers the names of roles for the first argument.
func CompleteFirstRole(command *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return CompleteRole(command, args, word)
}

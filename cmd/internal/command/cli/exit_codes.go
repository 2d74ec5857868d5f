package cli

import "github.com/spf13/cobra"

// findings is the annotation of commands that may end with [ExitFindings]. It says when.
const findings = "findings"

// Finds makes the help of the command say when it ends with [ExitFindings].
func Finds(command *cobra.Command, when string) {
	command.Annotations = map[string]string{findings: when}
}

// exitCodes returns the exit codes of the command for its help.
func exitCodes(command *cobra.Command) string {
	text := `
Exit codes:
  0    success
  1    failure
  2    usage error
`
	if when := command.Annotations[findings]; when != "" {
		text += "  3    " + when + "\n"
	}
	return text + "  130  interrupted (a second SIGTERM: 143)\n"
}

// Differences is the option --exit-code.
type Differences struct{ ExitCode bool }

// Flag adds the option to the command. what is what there may be, such as "changes".
func (d *Differences) Flag(command *cobra.Command, what string) {
	command.Flags().BoolVar(&d.ExitCode, "exit-code", false, "exit with 3 if there are "+what)
	Finds(command, "with --exit-code: there are "+what)
}

// Check returns a usage error if the option is given without a dry run.
func (d *Differences) Check(dryRun bool) error {
	if d.ExitCode && !dryRun {
		return UsageError("--exit-code requires --dry-run")
	}
	return nil
}

// Result returns [ErrFindings] if there are differences and the option is given.
func (d *Differences) Result(different bool) error {
	if different && d.ExitCode {
		return ErrFindings
	}
	return nil
}

package cli

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/guidonhq/guidon/internal/clock"
	"github.com/guidonhq/guidon/internal/lists"
)

// Group returns a command that only has subcommands. Without one it prints its help;
// an unknown one is an error.
func Group(use, short, long string, commands ...*cobra.Command) *cobra.Command {
	command := &cobra.Command{
		Use: use, Short: short, Long: long,
		Args: NoSuchCommand,
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	command.AddCommand(commands...)
	return command
}

// usageTexts rephrases cobra's errors about flags that were combined or are missing in plain
// words.
var usageTexts = []struct {
	cobra *regexp.Regexp // its first group lists flags
	plain func(flags []string) string
}{
	{
		regexp.MustCompile(`^if any flags in the group \[.*\] are set none of the others can be; \[(.*)\] were all set$`),
		func(flags []string) string { return JoinWords(flags, "and") + " cannot be combined" },
	},
	{
		regexp.MustCompile(`^at least one of the flags in the group \[(.*)\] is required$`),
		func(flags []string) string { return JoinWords(flags, "or") + " is required" },
	},
	{
		regexp.MustCompile(`^if any flags in the group \[(.*)\] are set they must all be set; missing \[.*\]$`),
		func(flags []string) string { return JoinWords(flags, "and") + " must be used together" },
	},
	{
		regexp.MustCompile(`^required flag\(s\) (.*) not set$`),
		func(flags []string) string { return JoinWords(flags, "and") + " " + areRequired(len(flags)) },
	},
}

func areRequired(flags int) string {
	if flags == 1 {
		return "is required"
	}
	return "are required"
}

var flagName = regexp.MustCompile(`[\w-]+`)

// plainUsage returns the error, which may be nil, with its text in plain words.
func plainUsage(err error) error {
	if err == nil {
		return nil
	}
	for _, text := range usageTexts {
		found := text.cobra.FindStringSubmatch(err.Error())
		if found == nil {
			continue
		}
		flags := flagName.FindAllString(found[1], -1)
		for i := range flags {
			flags[i] = "--" + flags[i]
		}
		return errors.New(text.plain(flags))
	}
	return err
}

// Usage returns the function that prints the usage of a command: that of cobra, with the flags
// that select the target and the exit codes below. It is not a template, because a program that
// can execute one contains every exported method of all its types, which makes it a quarter larger.
func Usage(usage func(*cobra.Command) error) func(*cobra.Command) error {
	return func(command *cobra.Command) error {
		apart := pflag.NewFlagSet("", pflag.ContinueOnError)
		for _, flags := range []*pflag.FlagSet{command.LocalFlags(), command.InheritedFlags()} {
			flags.VisitAll(func(f *pflag.Flag) {
				if isConnection(f) {
					shown := *f
					apart.AddFlag(&shown)
					f.Hidden = true
				}
			})
		}
		if err := usage(command); err != nil {
			return err
		}
		text := ""
		if apart.HasFlags() {
			text = "\nServer or database:\n" + apart.FlagUsages()
		}
		_, err := fmt.Fprint(command.OutOrStderr(), text+exitCodes(command))
		return err
	}
}

// JoinWords lists the words, with conjunction before the last one.
func JoinWords(words []string, conjunction string) string { return lists.Join(words, conjunction) }

// Durations lets the durations of all commands have days, such as 90d, and their help show
// defaults without trailing zeros, and none of 0.
func Durations(command *cobra.Command) {
	command.Flags().VisitAll(func(f *pflag.Flag) {
		if d, err := time.ParseDuration(f.DefValue); err == nil && f.Value.Type() == "duration" {
			f.Value, f.DefValue = duration{f.Value}, clock.Text(d)
			if d == 0 {
				f.DefValue = ""
			}
		}
	})
	for _, child := range command.Commands() {
		Durations(child)
	}
}

// duration is the value of a flag for a duration.
type duration struct{ pflag.Value }

// Set implements pflag.Value.
func (d duration) Set(text string) error {
	parsed, err := clock.ParseDuration(text)
	if err != nil {
		return err
	}
	return d.Value.Set(parsed.String())
}

// StrictHelp makes "help" fail for a command that does not exist.
func StrictHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	help, _, _ := root.Find([]string{"help"}) // it exists
	help.Run, help.Example = nil, "  guidon help token create"
	help.RunE = func(_ *cobra.Command, args []string) error {
		command, rest, _ := root.Find(args)
		if len(rest) > 0 {
			return NoSuchCommand(command, rest)
		}
		command.InitDefaultHelpFlag()
		return command.Help()
	}
}

// NoSuchCommand returns an error for an argument, which can only be a misspelled command.
func NoSuchCommand(command *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	command.SuggestionsMinimumDistance = 2
	hint := ""
	if other, _, _ := command.Root().Find(args[:1]); other != command.Root() {
		hint = fmt.Sprintf("; did you mean %q?", other.CommandPath())
	}
	if similar := command.SuggestionsFor(args[0]); len(similar) > 0 {
		hint = "; did you mean " + JoinWords(similar, "or") + "?"
	}
	return fmt.Errorf("unknown command %q for %q%s", args[0], command.CommandPath(), hint)
}

// OptionError returns the error of a command whose options are malformed. If it has other commands, an argument is a
// misspelled one of them, whose options it does not know.
func OptionError(command *cobra.Command, err error) error {
	if command.HasSubCommands() {
		return cmp.Or(NoSuchCommand(command, command.Flags().Args()), err)
	}
	return err
}

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

package object

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

const rampHelp = `Control the ramp of a rule, which "guidon flag rollout --over" or --steps has set:

    pause     keep the percentage of this minute until the ramp is resumed
    resume    go on from there, later by as long as it was paused
    reverse   go back to the percentage that it began with, at the speed of the ramp
    confirm   let a ramp with --confirm-every go on until the next confirmation is needed
    stop      end the ramp, and keep the percentage of this minute
    finish    end the ramp with the percentage that it leads to`

// pastActions are what has happened after each of [service.RampActions].
var pastActions = []string{"paused", "resumed", "reversed", "confirmed", "stopped", "finished"}

// ramp returns the verb that controls the ramp of a rule.
func (r ruleVerbs) ramp() verb {
	actions := service.RampActions()
	rule := new(int32)
	return verb{
		use: "ramp <flag> <action>", short: "Pause, resume, reverse, confirm or end the ramp of a rule", long: rampHelp,
		example: `  guidon flag ramp new-checkout pause -m "errors in the new checkout"
  guidon flag ramp new-checkout resume
  guidon flag ramp new-checkout finish --rule 2 --dry-run`,
		names: "the key", args: arguments(1, false), complete: completeInOrder(r.complete, cli.CompleteWords(actions...)),
		options: func(command *cobra.Command) {
			r.dryRunFlag(command)
			command.Flags().Int32Var(rule, "rule", 0, "`number` of the rule (default: the only one with a ramp)")
		},
		check: func(command *cobra.Command) error {
			switch action := command.Flags().Arg(1); {
			case !slices.Contains(actions, action):
				return cli.UsageError("invalid action %q: must be %s", action, cli.JoinWords(actions, "or"))
			case command.Flags().Changed("rule") && *rule < 1:
				return cli.UsageError("invalid --rule %d: must be at least 1", *rule)
			}
			return nil
		},
		write: func(ctx context.Context, c client.Client, args []string) (cli.Output, error) {
			action := guidonv1.RampAction(1 + slices.Index(actions, args[1])) // #nosec G115 -- of six
			if r.dryRun {
				return r.previewRamp(ctx, c, args, *rule, action)
			}
			return r.controlRamp(ctx, c, args[0], *rule, action)
		},
	}
}

// completeInOrder returns the completion of each argument by its own function.
func completeInOrder(each ...cobra.CompletionFunc) cobra.CompletionFunc {
	return func(command *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		if len(args) >= len(each) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return each[len(args)](command, args, word)
	}
}

func (r ruleVerbs) controlRamp(
	ctx context.Context, c client.Client, key string, rule int32, action guidonv1.RampAction,
) (cli.Output, error) {
	edit, err := cli.Call[guidonv1.EditResponse](ctx, c, "/guidon.v1.EditService/ControlRamp", &guidonv1.ControlRampRequest{
		NamespaceKey: r.Namespace, Key: key, Rule: rule, Action: action,
	})
	if err != nil {
		return cli.Output{}, err
	}
	found, err := r.read(ctx, c, key)
	if err != nil {
		return cli.Output{}, err
	}
	output := r.output(key, found)
	done := cli.Line("%s flag %s in %s", outcomeWord(edit, key, pastActions[action-1]+" the ramp of"), key, r.Place())
	output.Table = r.withRules(done, flagOf(found.document))
	return output, nil
}

// previewRamp returns the output of --dry-run.
func (r ruleVerbs) previewRamp(
	ctx context.Context, c client.Client, args []string, rule int32, action guidonv1.RampAction,
) (cli.Output, error) {
	effect, err := cli.Call[guidonv1.FlagEffect](ctx, c, "/guidon.v1.AnalysisService/PreviewFlag",
		&guidonv1.PreviewFlagRequest{NamespaceKey: r.Namespace, Key: args[0], Ramp: action, Rule: rule})
	return cli.Output{Data: cli.DataOf(effect), Names: args[:1], Table: func(out io.Writer) error {
		_, err := fmt.Fprintf(out, "would %s the ramp of flag %s in %s\n", args[1], cli.Printable(args[0]), r.Place())
		printEffect(out, effect)
		return err
	}}, err
}

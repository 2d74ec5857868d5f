package object

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/clock"
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
func (r ruleVerbs) ramp() cli.Verb {
	actions := service.RampActions()
	rule := new(int32)
	return cli.Verb{
		Use: "ramp <flag> <action>", Short: "Pause, resume, reverse, confirm or end the ramp of a rule", Long: rampHelp,
		Example: `  guidon flag ramp new-checkout pause -m "errors in the new checkout"
  guidon flag ramp new-checkout resume
  guidon flag ramp new-checkout finish --rule 2 --dry-run`,
		Names: "the key", Complete: cli.InOrder(r.complete, cli.CompleteWords(actions...)),
		Options: func(command *cobra.Command) {
			r.dryRunFlag(command)
			command.Flags().Int32Var(rule, "rule", 0, "`number` of the rule (default: the only one with a ramp)")
		},
		Check: func(command *cobra.Command) error {
			switch action := command.Flags().Arg(1); {
			case !slices.Contains(actions, action):
				return cli.UsageError("invalid action %q: must be %s", action, cli.JoinWords(actions, "or"))
			case command.Flags().Changed("rule") && *rule < 1:
				return cli.UsageError("invalid --rule %d: must be at least 1", *rule)
			}
			return nil
		},
		Write: func(ctx context.Context, c client.Client, args []string) (cli.Output, error) {
			action := guidonv1.RampAction(1 + slices.Index(actions, args[1])) // #nosec G115 -- of six
			if r.dryRun {
				return r.previewRamp(ctx, c, args, *rule, action)
			}
			return r.controlRamp(ctx, c, args[0], *rule, action)
		},
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
		return cli.Output{}, unread(err)
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
	return r.would(args[1]+" the ramp of", args[0], effect), err
}

// rampOptions are what a command says of how a share comes to its percentage.
type rampOptions struct {
	over, confirmEvery time.Duration
	steps              []*flipt.RampStep
	start              *timestamppb.Timestamp
	lapse              string
}

// lapses are the values of --lapse, in the order of flipt.RampLapse.
var lapses = []string{"hold", "back"}

func (o *rampOptions) add(command *cobra.Command, flags *pflag.FlagSet) {
	flags.DurationVar(&o.over, "over", 0, "reach the percentage in equal steps within this `time`, such as 72h or 3d; 0 immediately")
	flags.Func("steps", "reach the percentage after these `steps`, such as 5%:24h,25%:24h", o.addSteps)
	flags.String("ramp-from", "", "`percentage` before the first step (default: the present one, or 0% of a new rule)")
	flags.String("ramp-start", "", "`time` at which the ramp starts, rounded up to a minute (default: now, or a later --from)")
	flags.DurationVar(&o.confirmEvery, "confirm-every", 0, "the ramp needs a confirmation within this `time`, again and again; 0 for none")
	cli.Choice(command, &o.lapse, "lapse", "",
		"without a confirmation, the ramp holds its percentage, or goes back to the first one", lapses...)
	flags.AddFlag(command.Flags().Lookup("lapse"))
}

// addSteps adds the steps of a text such as "5%:24h,25%:24h".
func (o *rampOptions) addSteps(text string) error {
	for step := range strings.SplitSeq(text, ",") {
		percentage, duration, _ := strings.Cut(step, ":")
		p, err := parsePercentage("percentage", percentage)
		if err != nil {
			return err
		}
		d, err := clock.ParseDuration(duration)
		if err != nil {
			return errors.New("each must be a percentage and how long it holds, such as 5%:24h")
		}
		o.steps = append(o.steps, &flipt.RampStep{Percentage: p, Duration: durationpb.New(d)})
	}
	return nil
}

// setRamp sets what the options say of the ramp of the portion, which was for the percentage
// until now.
func (o *ruleOptions) setRamp(p *flipt.Portion, now float32) (err error) {
	if o.givesRamp() {
		p.Ramp = o.newRamp(now)
	}
	r, detail := p.GetRamp(), o.firstGiven(rampNames[2:]...)
	switch {
	case r == nil && detail != "":
		return cli.UsageError("--%s needs --over or --steps", detail)
	case r == nil:
		return nil
	}
	if o.given("ramp-from") {
		if r.Initial, err = parsePercentage("--ramp-from", o.text("ramp-from")); err != nil {
			return err
		}
	}
	if o.ramp.start != nil {
		r.Start, r.Delay, r.Paused, r.Reversed = o.ramp.start, nil, nil, nil
	}
	if o.given("over") && r.GetInitial() == p.GetPercentage() {
		return cli.UsageError("the share is at %s already: give another percentage, or --ramp-from", cli.Percent(r.GetInitial()))
	}
	return o.setConfirm(r)
}

// rampNames are the options of a ramp: the two that make a new one, and its details.
var rampNames = []string{"over", "steps", "ramp-from", "ramp-start", "confirm-every", "lapse"}

// givesRamp reports whether the options make a new ramp, or say that there is none.
func (o *ruleOptions) givesRamp() bool { return o.firstGiven(rampNames[:2]...) != "" }

// newRamp returns the ramp of --over or --steps, or nil for none.
func (o *ruleOptions) newRamp(from float32) *flipt.Ramp {
	if o.ramp.over == 0 && len(o.ramp.steps) == 0 {
		return nil
	}
	start := timestamppb.New(o.program.Now())
	if o.from.AsTime().After(start.AsTime()) {
		start = o.from
	}
	return &flipt.Ramp{Start: nextMinute(start), Initial: from, Over: durationpb.New(o.ramp.over), Steps: o.ramp.steps}
}

// setConfirm sets what the options say of the confirmations of a ramp.
func (o *ruleOptions) setConfirm(r *flipt.Ramp) error {
	if o.given("confirm-every") {
		r.Confirm = cmp.Or(r.GetConfirm(), new(flipt.RampConfirm))
		if r.Confirm.Every = durationpb.New(o.ramp.confirmEvery); o.ramp.confirmEvery == 0 {
			r.Confirm = nil
		}
	}
	switch {
	case !o.given("lapse"):
		return nil
	case r.GetConfirm() == nil:
		return cli.UsageError("--lapse needs --confirm-every")
	}
	r.Confirm.Lapse = flipt.RampLapse(slices.Index(lapses, o.ramp.lapse)) // #nosec G115 -- of two
	return nil
}

// checkNoRamp checks that the options do not set the percentage of a portion and leave a ramp as it
// is: the share would not be that percentage.
func (o *ruleOptions) checkNoRamp(p *flipt.Portion) error {
	if p.GetRamp() == nil || o.givesRamp() {
		return nil
	}
	return cli.UsageError("the share has a ramp to %s: give --over 0 to end that, or --over or --steps for another one from where it is",
		cli.Percent(p.GetPercentage()))
}

// percentageNow returns the percentage of a rule. That of a new one is 0.
func (o *ruleOptions) percentageNow(r *guidonv1.DocumentRule) float32 {
	p := r.GetPortion()
	switch {
	case p == nil && !hasTarget(r):
		return 0
	case p == nil:
		return 100
	}
	return convert.RampOf(p.GetRamp()).PercentageAt(o.program.Now().Unix(), p.GetPercentage())
}

// nextMinute returns the first whole minute that is not before the time, or nil without one.
func nextMinute(at *timestamppb.Timestamp) *timestamppb.Timestamp {
	if at == nil {
		return nil
	}
	return timestamppb.New(at.AsTime().Add(time.Minute - 1).Truncate(time.Minute))
}

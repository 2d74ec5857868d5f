package object

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/internal/clock"
)

// rampOptions are what a command says of how a share comes to its percentage.
type rampOptions struct {
	over, confirmEvery time.Duration
	steps              []*flipt.RampStep
	start              *timestamppb.Timestamp
	lapse              cli.Choice
}

func (o *rampOptions) add(flags *pflag.FlagSet) {
	o.lapse.Words = []string{"hold", "back"} // in the order of flipt.RampLapse
	flags.DurationVar(&o.over, "over", 0, "reach the percentage in equal steps within this `time`, such as 72h or 3d; 0 immediately")
	flags.Func("steps", "reach the percentage after these `steps`, such as 5%:24h,25%:24h", o.addSteps)
	flags.String("ramp-from", "", "`percentage` before the first step (default: the present one, or 0% of a new rule)")
	flags.String("ramp-start", "", "`time` at which the ramp starts, rounded up to a minute (default: now, or a later --from)")
	flags.DurationVar(&o.confirmEvery, "confirm-every", 0, "the ramp needs a confirmation within this `time`, again and again; 0 for none")
	flags.Var(&o.lapse, "lapse", "without a confirmation, the ramp holds its percentage, or goes back to the first one")
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
	r.Confirm.Lapse = flipt.RampLapse(slices.Index(o.ramp.lapse.Words, o.ramp.lapse.Word)) // #nosec G115 -- of two
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

// percentageNow returns the percentage of the portion of a rule, which may be nil. That of a new rule
// is 0.
func (o *ruleOptions) percentageNow(p *flipt.Portion, isNew bool) float32 {
	switch {
	case isNew:
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

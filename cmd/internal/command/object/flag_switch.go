package object

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/changes"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

const flagOnHelp = `Turn a flag on: restore what it was before it was turned off, by "guidon flag off", on its
page or by the API. The rules decide again who gets what. If the flag was off for
everybody before, it still is.

A flag that is off but has not been turned off, such as a new one or one whose rule is
at 0%, can only be turned on for more people than ever had it. The command shows for whom,
and asks. Scripts give --everyone instead. A boolean flag then gets the default value on, for
everybody whom no rule matches. A variant flag gets the state on: its rules decide.`

const flagOffHelp = `Turn a flag off for everybody, whatever its rules say. Nothing of them is
lost; "guidon flag on" restores what the flag was.

A boolean flag gets a first rule that is off for 100%.

A variant flag gets the state off: everybody gets the default variant, or none. Its
metadata get guidon.turnedOff, by which "guidon flag on" knows that the flag was enabled.`

// flagSwitch is the command "flag on" or "flag off".
type flagSwitch struct {
	*keyed
	word     string // "on" or "off"
	everyone bool
}

func flagOn(k *keyed) verb {
	s := &flagSwitch{keyed: k, word: "on"}
	v := s.verb("Turn a flag on", flagOnHelp, s.turnOn)
	v.options = func(command *cobra.Command) {
		command.Flags().BoolVar(&s.everyone, "everyone", false,
			"if the flag has not been turned off, enable it for everyone without asking")
	}
	return v
}

func flagOff(k *keyed) verb {
	s := &flagSwitch{keyed: k, word: "off"}
	return s.verb("Turn a flag off for everybody", flagOffHelp, s.turnOff)
}

// verb returns the verb that switches a flag with turn.
func (s *flagSwitch) verb(
	short, long string, turn func(ctx context.Context, service client.Client, key string) (*guidonv1.EditResponse, error),
) verb {
	return verb{
		use: s.word + " <flag>", short: short, long: long,
		names: "the state: on, off or partly", complete: cli.FirstArgument(s.complete),
		example: fmt.Sprintf(`  guidon flag %[1]s new-checkout
  guidon flag %[1]s new-checkout -n shop -m "too many bots" --address https://flags.example`, s.word),
		write: func(ctx context.Context, service client.Client, args []string) (cli.Output, error) {
			done, err := turn(ctx, service, args[0])
			if err != nil {
				return cli.Output{}, err
			}
			return s.switched(ctx, service, args[0], done)
		},
	}
}

func (s *flagSwitch) turnOff(ctx context.Context, service client.Client, key string) (*guidonv1.EditResponse, error) {
	if _, err := s.read(ctx, service, key); err != nil {
		return nil, err
	}
	return s.patch(ctx, service, &guidonv1.PatchRequest{Flags: []*guidonv1.FlagEdit{{TurnOff: key}}})
}

// turnOn turns the flag on. If that would not restore anything, it asks first, unless
// --everyone was given.
func (s *flagSwitch) turnOn(ctx context.Context, service client.Client, key string) (*guidonv1.EditResponse, error) {
	since, err := s.revision(ctx, service)
	if err != nil {
		return nil, err
	}
	summary, err := s.summary(ctx, service, key)
	if err != nil {
		return nil, err
	}
	everyone := s.everyone
	if summary.GetState() == guidonv1.FlagState_OFF_FLAG_STATE && !summary.GetTurnedOff() && !everyone {
		if err := s.askForEveryone(ctx, service, key); err != nil {
			return nil, err
		}
		everyone = true
	}
	request := &guidonv1.SwitchFlagRequest{NamespaceKey: s.Namespace, Key: key, Everyone: everyone, UnlessChangedSince: since}
	done, err := cli.Call[guidonv1.EditResponse](ctx, service, "/guidon.v1.EditService/TurnFlagOn", request)
	return done, changedMeanwhile(err)
}

// askForEveryone prints the effect of turning the flag on for everyone, and asks for
// confirmation.
func (s *flagSwitch) askForEveryone(ctx context.Context, service client.Client, key string) error {
	effect, err := cli.Call[guidonv1.FlagEffect](ctx, service, "/guidon.v1.AnalysisService/PreviewFlag",
		&guidonv1.PreviewFlagRequest{NamespaceKey: s.Namespace, Key: key, TurnOn: new(true)})
	if err != nil {
		return err
	}
	fmt.Fprintf(s.Err,
		"Flag %s in %s has not been turned off, so there is nothing to restore. Turning it on enables it for everyone:\n",
		cli.Printable(key), s.Place())
	if len(changes.EffectLines(effect)) == 0 {
		fmt.Fprintln(s.Err, "    effect: nobody gets anything else")
	}
	changes.PrintEffect(s.Err, effect)
	return s.Ask("--everyone")
}

// summary returns the summary of the flag.
func (s *flagSwitch) summary(ctx context.Context, service client.Client, key string) (*guidonv1.FlagSummary, error) {
	request := &guidonv1.ListFlagSummariesRequest{NamespaceKey: s.Namespace, Keys: []string{key}}
	flags, err := cli.AllFlags(ctx, service, request)
	if err == nil && len(flags) != 1 {
		err = guidon.Errorf(guidon.NotFound, "flag %q not found", s.Namespace+"/"+key)
	}
	if err != nil {
		return nil, err
	}
	return flags[0], nil
}

// switched returns the output about the new state of the flag.
func (s *flagSwitch) switched(
	ctx context.Context, service client.Client, key string, done *guidonv1.EditResponse,
) (cli.Output, error) {
	summary, err := s.summary(ctx, service, key)
	return cli.Output{
		Data: cli.DataOf(summary), Names: []string{stateWord(summary.GetState())},
		Table: cli.Line("%s flag %s in %s: %s", outcomeWord(done, "turned "+s.word), key, s.Place(), s.stateText(summary)),
	}, err
}

// stateText returns the state of a flag in words.
func (s *flagSwitch) stateText(f *guidonv1.FlagSummary) string {
	boolean := f.GetType() == flipt.FlagType_BOOLEAN_FLAG_TYPE
	switch {
	case !boolean && f.GetEnabled():
		return "its rules decide"
	case !boolean && f.GetWhileOff().GetVariantKey() != "":
		return "everybody gets " + cli.Printable(f.GetWhileOff().GetVariantKey())
	case !boolean:
		return "nobody gets a variant"
	case f.GetState() == guidonv1.FlagState_ON_FLAG_STATE:
		return "on for everybody"
	case f.GetState() == guidonv1.FlagState_OFF_FLAG_STATE && s.word == "on":
		return "off for everybody, as before it was turned off"
	case f.GetState() == guidonv1.FlagState_OFF_FLAG_STATE:
		return "off for everybody"
	}
	return "on for some, as its rules say"
}

package object

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/changes"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
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

func flagOn(k *keyed) cli.Verb {
	s := &flagSwitch{keyed: k, word: "on"}
	return s.verb("Turn flags on", flagOnHelp, func(command *cobra.Command) {
		command.Flags().BoolVar(&s.everyone, "everyone", false,
			"enable flags that have not been turned off for everyone without asking")
	})
}

func flagOff(k *keyed) cli.Verb {
	s := &flagSwitch{keyed: k, word: "off"}
	return s.verb("Turn flags off for everybody", flagOffHelp, nil)
}

// verb returns the verb that switches flags.
func (s *flagSwitch) verb(short, long string, options func(command *cobra.Command)) cli.Verb {
	return s.ofSeveral(cli.Verb{
		Use: s.word, Short: short, Long: long, Names: "the states: on, off or partly", Options: options, Write: s.run,
		Example: fmt.Sprintf(`  guidon flag %[1]s new-checkout
  guidon flag %[1]s new-checkout banner -n shop -m "too many bots" --address https://flags.example
  guidon flag %[1]s -q 'tag:payments owner:ada' --dry-run`, s.word),
	})
}

func (s *flagSwitch) run(ctx context.Context, c client.Client, args []string) (cli.Output, error) {
	keys, err := s.selected(ctx, c, args, "turns "+s.word)
	if err != nil {
		return cli.Output{}, err
	}
	since, err := s.revision(ctx, c)
	if err != nil {
		return cli.Output{}, err
	}
	flags, err := s.summaries(ctx, c, keys)
	if err != nil {
		return cli.Output{}, err
	}
	if s.dryRun {
		return s.preview(ctx, c, flags)
	}
	edits := lists.Map(keys, func(key string) *guidonv1.FlagEdit { return &guidonv1.FlagEdit{TurnOff: key} })
	if s.word == "on" {
		if edits, err = s.turnOn(ctx, c, flags, since); err != nil {
			return cli.Output{}, err
		}
	}
	done, err := s.patch(ctx, c, &guidonv1.PatchRequest{Flags: edits})
	if err != nil {
		return cli.Output{}, err
	}
	return s.switched(ctx, c, keys, done)
}

// turnOn returns the edits that turn the flags on. If one of them would not restore anything, it
// asks first, unless --everyone is given.
func (s *flagSwitch) turnOn(
	ctx context.Context, c client.Client, flags []*guidonv1.FlagSummary, since *int64,
) ([]*guidonv1.FlagEdit, error) {
	var edits []*guidonv1.FlagEdit
	var wider []string // the keys of flags that more people would get than ever had them
	for _, f := range flags {
		edit := &guidonv1.FlagEdit{TurnOn: f.GetKey(), Everyone: s.everyone, UnlessChangedSince: since}
		if isOff(f) && !f.GetTurnedOff() && !s.everyone {
			wider, edit.Everyone = append(wider, f.GetKey()), true
		}
		edits = append(edits, edit)
	}
	if len(wider) == 0 {
		return edits, nil
	}
	for _, key := range wider {
		effect, err := s.effect(ctx, c, key)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(s.Err,
			"Flag %s in %s has not been turned off, so there is nothing to restore. Turning it on enables it for everyone:\n%s",
			cli.Printable(key), s.Place(), effectText(effect))
	}
	return edits, s.Ask("--everyone")
}

// isOff reports whether the flag is off, whatever it requires of others.
func isOff(f *guidonv1.FlagSummary) bool {
	state := f.GetState()
	if f.OwnState != nil {
		state = f.GetOwnState()
	}
	return state == guidonv1.FlagState_OFF_FLAG_STATE
}

// effect returns the effect of switching the flag: of turning it on for everyone, if that is
// the command.
func (s *flagSwitch) effect(ctx context.Context, c client.Client, key string) (*guidonv1.FlagEffect, error) {
	return cli.Call[guidonv1.FlagEffect](ctx, c, "/guidon.v1.AnalysisService/PreviewFlag",
		&guidonv1.PreviewFlagRequest{NamespaceKey: s.Namespace, Key: key, TurnOn: new(s.word == "on")})
}

// would returns the output of --dry-run about a flag: what the command would do, and its effect.
func (k *keyed) would(do, key string, effect *guidonv1.FlagEffect) cli.Output {
	return cli.Output{
		Data: cli.DataOf(effect), Names: []string{key},
		Table: cli.Text("would %s flag %s in %s\n%s", do, cli.Printable(key), k.Place(), effectText(effect)),
	}
}

func effectText(effect *guidonv1.FlagEffect) string {
	return cmp.Or(changes.EffectText(effect), "    effect: nobody gets anything else\n")
}

// preview returns the output of --dry-run.
func (s *flagSwitch) preview(ctx context.Context, c client.Client, flags []*guidonv1.FlagSummary) (cli.Output, error) {
	outputs := make([]cli.Output, len(flags))
	for i, f := range flags {
		effect := new(guidonv1.FlagEffect)
		if s.word == "off" || s.everyone || isOff(f) {
			var err error
			if effect, err = s.effect(ctx, c, f.GetKey()); err != nil {
				return cli.Output{}, err
			}
		}
		outputs[i] = s.would("turn "+s.word, f.GetKey(), effect)
	}
	return s.together(outputs), nil
}

// summaries returns the summaries of the flags, in the order of the keys.
func (s *flagSwitch) summaries(ctx context.Context, c client.Client, keys []string) ([]*guidonv1.FlagSummary, error) {
	found, err := cli.AllFlags(ctx, c, &guidonv1.ListFlagSummariesRequest{NamespaceKey: s.Namespace, Keys: keys}, 0)
	if err != nil {
		return nil, err
	}
	flags := make([]*guidonv1.FlagSummary, len(keys))
	for i, key := range keys {
		at := slices.IndexFunc(found, func(f *guidonv1.FlagSummary) bool { return f.GetKey() == key })
		if at < 0 {
			return nil, guidon.FlagNotFound(s.Namespace, key)
		}
		flags[i] = found[at]
	}
	return flags, nil
}

// switched returns the output about the new states of the flags.
func (s *flagSwitch) switched(ctx context.Context, c client.Client, keys []string, done *guidonv1.EditResponse) (cli.Output, error) {
	flags, err := s.summaries(ctx, c, keys)
	if err != nil {
		return cli.Output{}, unread(err)
	}
	outputs := make([]cli.Output, len(flags))
	for i, f := range flags {
		outputs[i] = cli.Output{
			Data: cli.DataOf(f), Names: []string{stateWord(f.GetState())},
			Table: cli.Line("%s flag %s in %s: %s", outcomeWord(done, f.GetKey(), "turned "+s.word), f.GetKey(), s.Place(), s.stateText(f)),
		}
	}
	return s.together(outputs), nil
}

// stateText returns the state of a flag in words.
func (s *flagSwitch) stateText(f *guidonv1.FlagSummary) string {
	boolean := f.GetType() == flipt.FlagType_BOOLEAN_FLAG_TYPE
	switch {
	case f.GetState() == guidonv1.FlagState_OFF_FLAG_STATE && !isOff(f):
		return "off for everybody, because of a flag that it requires"
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

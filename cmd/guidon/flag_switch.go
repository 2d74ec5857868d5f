package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

const flagOnHelp = `Turn a flag on.

A boolean flag that "guidon flag off" has turned off gets back what it was before: the
rollout that makes it false for everybody is removed. If it is true for nobody then, it
becomes enabled: true for everybody whom no rollout matches.

A variant flag becomes enabled: its rules decide who gets which variant.`

const flagOffHelp = `Turn a flag off for everybody, whatever its rules and rollouts say. Nothing of them is
lost; "guidon flag on" brings them back.

A boolean flag becomes false for everybody: it gets a first rollout of 100 % with the
value false.

A variant flag becomes not enabled: everybody gets the default variant, or none.`

func (p *program) flagOnCommand() *cobra.Command {
	return p.switchCommand("on", "Turn a flag on", flagOnHelp, (*objects).turnOn)
}

func (p *program) flagOffCommand() *cobra.Command {
	return p.switchCommand("off", "Turn a flag off for everybody", flagOffHelp, (*objects).turnOff)
}

// switchCommand returns a command that switches a flag with fn.
func (p *program) switchCommand(word, short, long string, fn func(o *objects, ctx context.Context, service client.Client, key string) (*guidonv1.EditResponse, error)) *cobra.Command {
	o := &objects{program: p}
	command := &cobra.Command{
		Use:   word + " <flag>",
		Short: short,
		Long:  long,
		Example: fmt.Sprintf(`  guidon flag %s new-checkout
  guidon flag %s new-checkout -n shop -m "too many bots" --address https://flags.example`, word, word),
		Args:              oneArgument("flag"),
		ValidArgsFunction: firstArgument(p.completeFlags),
		RunE: p.action(func(ctx context.Context, args []string) error {
			return o.writing(ctx, func(service client.Client) error {
				done, err := fn(o, ctx, service, args[0])
				if err != nil {
					return err
				}
				return o.showSwitched(ctx, service, args[0], word, done)
			})
		}),
	}
	o.writeFlags(command, "the state: on, off or partly")
	return command
}

func (o *objects) turnOff(ctx context.Context, service client.Client, key string) (*guidonv1.EditResponse, error) {
	if _, err := o.flag(ctx, service, key); err != nil {
		return nil, err
	}
	return o.patch(ctx, service, &guidonv1.PatchRequest{Flags: []*guidonv1.FlagEdit{{TurnOff: key}}})
}

func (o *objects) turnOn(ctx context.Context, service client.Client, key string) (*guidonv1.EditResponse, error) {
	since, err := o.revision(ctx, service)
	if err != nil {
		return nil, err
	}
	content, err := o.flag(ctx, service, key)
	if err != nil {
		return nil, err
	}
	flag := content.GetFlag()
	if flag.GetType() == flipt.FlagType_BOOLEAN_FLAG_TYPE {
		done := new(guidonv1.EditResponse)
		err := service.Invoke(ctx, "/guidon.v1.EditService/TurnFlagOn", &guidonv1.SwitchFlagRequest{NamespaceKey: o.namespace, Key: key, UnlessChangedSince: since}, done)
		if err != nil {
			return nil, changedMeanwhile(err)
		}
		summary, err := o.summary(ctx, service, key)
		if err != nil || summary.GetState() != guidonv1.FlagState_OFF_FLAG_STATE {
			return done, err
		}
		if len(done.GetChanges()) > 0 { // without its first rollout now
			since = &done.Revision
			flag.Rollouts = flag.GetRollouts()[1:]
		}
	}
	flag.Enabled = true
	return o.replaceFlag(ctx, service, flag, since)
}

// summary returns what the flag does in short.
func (o *objects) summary(ctx context.Context, service client.Client, key string) (*guidonv1.FlagSummary, error) {
	flags, err := allFlags(ctx, service, &guidonv1.ListFlagSummariesRequest{NamespaceKey: o.namespace, Keys: []string{key}})
	if err == nil && len(flags) != 1 {
		err = guidon.Errorf(guidon.NotFound, "flag %q not found", o.namespace+"/"+key)
	}
	if err != nil {
		return nil, err
	}
	return flags[0], nil
}

// showSwitched prints what the flag is now.
func (o *objects) showSwitched(ctx context.Context, service client.Client, key, word string, done *guidonv1.EditResponse) error {
	summary, err := o.summary(ctx, service, key)
	if err != nil {
		return err
	}
	return o.show(o.output, shown{
		data: dataOf(summary), names: []string{stateWord(summary.GetState())},
		table: func(out io.Writer) error {
			action := "turned " + word
			if len(done.GetChanges()) == 0 {
				action = "nothing to do for"
			}
			_, err := fmt.Fprintf(out, "%s flag %s in %s: %s\n", action, key, o.place(), stateText(summary))
			return err
		},
	})
}

// stateText returns the state of a flag in words.
func stateText(f *guidonv1.FlagSummary) string {
	boolean := f.GetType() == flipt.FlagType_BOOLEAN_FLAG_TYPE
	switch {
	case !boolean && f.GetEnabled():
		return "its rules decide"
	case !boolean && f.GetWhileOff().GetVariantKey() != "":
		return "everybody gets " + printable(f.GetWhileOff().GetVariantKey())
	case !boolean:
		return "nobody gets a variant"
	case f.GetState() == guidonv1.FlagState_ON_FLAG_STATE:
		return "true for everybody"
	case f.GetState() == guidonv1.FlagState_OFF_FLAG_STATE:
		return "false for everybody"
	}
	return "true for some, as its rollouts say"
}

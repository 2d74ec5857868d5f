package object

import (
	"context"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

const flagUpdateHelp = `Change fields of a flag. What is not given stays as it is. "guidon flag edit" changes
variants, rules and rollouts.

To switch a flag for everybody, use "guidon flag on" and "guidon flag off": --enabled only
sets what a boolean flag is for those whom no rollout matches.

If somebody changes the flag at the same time, nothing is changed.`

const flagUpdateExample = `  guidon flag update new-checkout --name "New checkout" --metadata owner=grace
  guidon flag update payment-methods --default-variant classic -m "after the incident"`

func flagUpdateCommand(p *cli.Program) *cobra.Command {
	o := &objects{cli.Task{Program: p}}
	var fields flagFields
	command := &cobra.Command{
		Use:               "update <flag>",
		Short:             "Change fields of a flag",
		Long:              flagUpdateHelp,
		Example:           flagUpdateExample,
		Args:              cli.OneArgument("flag"),
		ValidArgsFunction: cli.FirstArgument(p.CompleteFlags),
	}
	command.RunE = p.Action(func(ctx context.Context, args []string) error {
		given := givenFlags(command, "name", "description", "enabled", "default-variant", "metadata")
		if len(given) == 0 {
			return cli.UsageError("nothing to change: give --name, --description, --enabled, --default-variant or --metadata")
		}
		return o.Writing(ctx, func(service client.Client) error { return o.updateFlag(ctx, service, args[0], fields, given) })
	})
	o.WriteFlags(command, "the key")
	fields.flags(command)
	return command
}

// updateFlag sets the given fields of the flag.
func (o *objects) updateFlag(ctx context.Context, service client.Client, key string, fields flagFields, given []string) error {
	since, err := o.revision(ctx, service)
	if err != nil {
		return err
	}
	content, err := o.flag(ctx, service, key)
	if err != nil {
		return err
	}
	updated := proto.CloneOf(content.GetFlag())
	if err := fields.set(updated, given); err != nil {
		return err
	}
	done, err := o.replaceFlag(ctx, service, updated, since)
	if err != nil {
		return err
	}
	return o.showFlag(ctx, service, key, outcomeWord(done, "updated"))
}

// set sets the given fields of the flag.
func (f *flagFields) set(flag *guidonv1.DocumentFlag, given []string) error {
	for _, name := range given {
		switch name {
		case "name":
			flag.Name = f.name
		case "description":
			flag.Description = f.description
		case "enabled":
			flag.Enabled = f.enabled
		case "default-variant":
			if err := setDefaultVariant(flag, f.defaultVariant); err != nil {
				return err
			}
		case "metadata":
			if err := setMetadata(flag, f.metadata); err != nil {
				return err
			}
		}
	}
	return nil
}

// replaceFlag replaces the flag unless it has changed since the revision.
func (o *objects) replaceFlag(
	ctx context.Context, service client.Client, flag *guidonv1.DocumentFlag, since *int64,
) (*guidonv1.EditResponse, error) {
	done := new(guidonv1.EditResponse)
	err := service.Invoke(ctx, "/guidon.v1.EditService/ReplaceFlag", &guidonv1.ReplaceFlagRequest{
		NamespaceKey: o.Namespace, Key: flag.GetKey(), Flag: flag, UnlessChangedSince: since,
	}, done)
	return done, changedMeanwhile(err)
}

// outcomeWord returns the word for the action, or says that nothing was done.
func outcomeWord(done *guidonv1.EditResponse, word string) string {
	if len(done.GetChanges()) == 0 {
		return "nothing to do for"
	}
	return word
}

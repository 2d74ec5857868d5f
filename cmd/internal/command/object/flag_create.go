package object

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

const flagCreateHelp = `Create a flag. It is a boolean flag, or a variant flag if there are variants.

Without --enabled, a boolean flag is false for everybody, and a variant flag gives
everybody the default variant, or none. "guidon flag edit" adds rules and rollouts.`

const flagCreateExample = `  guidon flag create new-checkout
  guidon flag create new-checkout --name "New checkout" --enabled -m "for the beta"
  guidon flag create payment-methods --variant classic --variant nordics --default-variant classic
  guidon flag create new-checkout --metadata owner=ada --metadata 'tags=["web","payments"]'`

// flagFields are the fields of a flag that the command line sets.
type flagFields struct {
	name           string
	description    string
	enabled        bool
	defaultVariant string
	metadata       []string
}

func (f *flagFields) flags(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&f.name, "name", "", "the name for people (default: the key)")
	flags.StringVar(&f.description, "description", "", "what the flag is for")
	flags.BoolVar(&f.enabled, "enabled", false, "whether the flag is enabled")
	flags.StringVar(&f.defaultVariant, "default-variant", "", "`key` of the variant for those whom no rule gives one; empty for none")
	flags.StringArrayVar(&f.metadata, "metadata", nil, "a `key=value`, which may be JSON; an empty value removes the key; may be repeated")
}

// flagCreation is one run of "flag create".
type flagCreation struct {
	objects
	kind     string
	fields   flagFields
	variants []string
}

func flagCreateCommand(p *cli.Program) *cobra.Command {
	c := &flagCreation{objects: objects{cli.Task{Program: p}}}
	command := &cobra.Command{
		Use:     "create <flag>",
		Short:   "Create a flag",
		Long:    flagCreateHelp,
		Example: flagCreateExample,
		Args:    cli.OneArgument("flag"),
		RunE:    p.Action(c.run),
	}
	c.WriteFlags(command, "the key")
	c.fields.flags(command)
	command.Flags().StringVar(&c.kind, "type", "", "boolean or variant (default boolean, or variant with --variant)")
	_ = command.RegisterFlagCompletionFunc("type", cli.CompleteWords("boolean", "variant")) // the flag exists
	command.Flags().StringArrayVar(&c.variants, "variant", nil, "`key` of a variant, or key=attachment with any JSON; may be repeated")
	return command
}

func (c *flagCreation) run(ctx context.Context, args []string) error {
	flag, err := c.flag(args[0])
	if err != nil {
		return err
	}
	return c.Writing(ctx, func(service client.Client) error {
		since, err := c.revision(ctx, service)
		if err != nil {
			return err
		}
		if _, err := c.objects.flag(ctx, service, flag.GetKey()); !errors.Is(err, guidon.NotFound) {
			return existing("flag", c.Namespace, flag.GetKey(), err)
		}
		_, err = c.patch(ctx, service, &guidonv1.PatchRequest{Flags: []*guidonv1.FlagEdit{{Put: flag, UnlessChangedSince: since}}})
		if err != nil {
			return err
		}
		return c.showFlag(ctx, service, flag.GetKey(), "created")
	})
}

// existing returns the error for creating an object that already exists. If reading the
// object failed with err, it returns that.
func existing(kind, namespace, key string, err error) error {
	if err != nil {
		return err
	}
	return guidon.Errorf(guidon.InvalidArgument, "%s %q already exists in namespace %q; \"guidon %s update\" and \"guidon %s edit\" change it",
		kind, key, namespace, kind, kind)
}

// flag returns the flag to create.
func (c *flagCreation) flag(key string) (*guidonv1.DocumentFlag, error) {
	flag := &guidonv1.DocumentFlag{
		Key: key, Name: c.fields.name, Description: c.fields.description, Enabled: c.fields.enabled, Type: flipt.FlagType_BOOLEAN_FLAG_TYPE,
	}
	if flag.GetName() == "" {
		flag.Name = key
	}
	if c.kind == "variant" || c.kind == "" && len(c.variants) > 0 {
		flag.Type = flipt.FlagType_VARIANT_FLAG_TYPE
	}
	switch {
	case c.kind != "" && c.kind != "boolean" && c.kind != "variant":
		return nil, cli.UsageError("invalid --type %q: must be boolean or variant", c.kind)
	case c.kind == "boolean" && len(c.variants) > 0:
		return nil, cli.UsageError("a boolean flag has no variants: leave out --variant, or use --type variant")
	}
	for _, text := range c.variants {
		key, attachment, _ := strings.Cut(text, "=")
		if key == "" {
			return nil, cli.UsageError("invalid --variant %q: must be a key, or key=attachment", text)
		}
		flag.Variants = append(flag.Variants, &guidonv1.DocumentVariant{Key: key, Name: key, Attachment: attachment})
	}
	if err := setDefaultVariant(flag, c.fields.defaultVariant); err != nil {
		return nil, err
	}
	return flag, setMetadata(flag, c.fields.metadata)
}

// setDefaultVariant makes the variant with the key the default, or none if the key is empty.
func setDefaultVariant(flag *guidonv1.DocumentFlag, key string) error {
	found := key == ""
	for _, v := range flag.GetVariants() {
		v.Default = v.GetKey() == key
		found = found || v.GetDefault()
	}
	if !found {
		return cli.UsageError("invalid --default-variant %q: flag %q has no such variant", key, flag.GetKey())
	}
	return nil
}

// setMetadata sets the values of the texts, which are key=value, in the metadata of the flag.
func setMetadata(flag *guidonv1.DocumentFlag, texts []string) error {
	if len(texts) == 0 {
		return nil
	}
	values, err := cli.Pairs("--metadata", texts)
	if err != nil {
		return err
	}
	metadata := make(map[string]json.RawMessage)
	if flag.GetMetadata() != "" {
		if err := json.Unmarshal([]byte(flag.GetMetadata()), &metadata); err != nil {
			return fmt.Errorf("the flag has malformed metadata: %w", err)
		}
	}
	for key, value := range values {
		switch {
		case value == "":
			delete(metadata, key)
		case json.Valid([]byte(value)):
			metadata[key] = json.RawMessage(value)
		default:
			if metadata[key], err = json.Marshal(value); err != nil {
				return err
			}
		}
	}
	flag.Metadata = ""
	if len(metadata) > 0 {
		text, err := json.Marshal(metadata)
		flag.Metadata = string(text)
		return err
	}
	return nil
}

// showFlag prints the action on the flag or, for programs, the flag.
func (o *objects) showFlag(ctx context.Context, service client.Client, key, done string) error {
	content, err := o.flag(ctx, service, key)
	if err != nil {
		return err
	}
	s := o.shownFlag(content)
	s.Table = func(out io.Writer) error {
		_, err := fmt.Fprintf(out, "%s flag %s in %s\n", done, key, o.Place())
		return err
	}
	return o.Show(o.Output, s)
}

package object

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/document"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

const flagGetHelp = `Show a flag with its variants, and its rules or rollouts. As JSON and YAML it has the
fields of import files, and the times of its creation and last change.

The namespace may be an earlier state, such as shop@412 or shop@2026-11-20T14:03:00Z.`

const flagGetExample = `  guidon flag get new-checkout
  guidon flag get price-test -n shop -o yaml
  guidon flag get new-checkout -o json | jq .enabled`

func flagGetCommand(p *cli.Program) *cobra.Command {
	o := &objects{cli.Task{Program: p}}
	command := &cobra.Command{
		Use:               "get <flag>",
		Short:             "Show a flag",
		Long:              flagGetHelp,
		Example:           flagGetExample,
		Args:              cli.OneArgument("flag"),
		ValidArgsFunction: cli.FirstArgument(p.CompleteFlags),
		RunE: p.Action(func(ctx context.Context, args []string) error {
			return o.Reading(ctx, func(service client.Client) error {
				content, err := o.flag(ctx, service, args[0])
				if err != nil {
					return err
				}
				return p.Show(o.Output, o.shownFlag(content))
			})
		}),
	}
	o.ReadFlags(command, "the key")
	return command
}

// flag returns the flag with everything under it.
func (o *objects) flag(ctx context.Context, service client.Client, key string) (*guidonv1.FlagContent, error) {
	content := new(guidonv1.FlagContent)
	err := service.Invoke(ctx, "/guidon.v1.EditService/GetFlagContent",
		&guidonv1.GetFlagContentRequest{NamespaceKey: o.Namespace, Key: key}, content)
	return content, err
}

func (o *objects) shownFlag(content *guidonv1.FlagContent) cli.Output {
	flag := convert.DocumentFlagOf(content.GetFlag())
	return cli.Output{
		Names: []string{flag.Key},
		Data: func() ([]byte, error) {
			times := stamps{o.Namespace, cli.Instant(content.GetCreatedAt()), cli.Instant(content.GetUpdatedAt())}
			return objectData(&service.Document{Flags: []*service.DocumentFlag{flag}}, times)
		},
		Table: func(out io.Writer) error { return printFlag(out, content) },
	}
}

// stamps are the fields in the data of an object that import files do not have.
type stamps struct {
	NamespaceKey string    `json:"namespaceKey,omitempty"`
	CreatedAt    time.Time `json:"createdAt,omitzero"`
	UpdatedAt    time.Time `json:"updatedAt,omitzero"`
}

// objectData returns the JSON of the only flag or segment of the document, in the form of
// import files, with the stamps after its own fields.
func objectData(d *service.Document, times stamps) ([]byte, error) {
	var text bytes.Buffer
	if err := document.Encode(&text, document.JSON, []*service.Document{d}); err != nil {
		return nil, err
	}
	var encoded struct{ Flags, Segments []json.RawMessage }
	if err := json.Unmarshal(text.Bytes(), &encoded); err != nil {
		return nil, err
	}
	stamped, err := json.Marshal(times)
	if err != nil {
		return nil, err
	}
	object := bytes.TrimSpace(append(encoded.Flags, encoded.Segments...)[0])
	return bytes.Join([][]byte{object[:len(object)-1], stamped[1:]}, []byte(",")), nil
}

func printFlag(out io.Writer, content *guidonv1.FlagContent) error {
	f := content.GetFlag()
	table := cli.NewFieldTable(out)
	table.Row("KEY", f.GetKey())
	table.Row("NAME", cli.Printable(f.GetName()))
	table.Row("DESCRIPTION", cli.OrDash(cli.Printable(f.GetDescription())))
	table.Row("TYPE", cli.FlagKind(f.GetType()))
	table.Row("ENABLED", fmt.Sprint(f.GetEnabled()))
	table.Row("METADATA", cli.OrDash(cli.Printable(f.GetMetadata())))
	table.Row("CREATED", cli.TimeOr(cli.Instant(content.GetCreatedAt()), "-"))
	table.Row("CHANGED", cli.TimeOr(cli.Instant(content.GetUpdatedAt()), "-"))
	for _, v := range f.GetVariants() {
		table.Row("VARIANT", variantLine(v))
	}
	for i, r := range f.GetRules() {
		table.Row(fmt.Sprintf("RULE %d", i+1), ruleLine(r))
	}
	for i, r := range f.GetRollouts() {
		table.Row(fmt.Sprintf("ROLLOUT %d", i+1), rolloutLine(r))
	}
	return table.Flush()
}

// variantLine returns a variant in words, such as "one-page (default): {"columns":1}".
func variantLine(v *guidonv1.DocumentVariant) string {
	line := cli.Printable(v.GetKey())
	if v.GetDefault() {
		line += " (default)"
	}
	if v.GetAttachment() != "" {
		line += ": " + cli.Printable(v.GetAttachment())
	}
	return line
}

// ruleLine returns a rule in words, such as "any of germany, nordics: 50 % a, 50 % b".
func ruleLine(r *guidonv1.DocumentRule) string {
	var shares []string
	for _, d := range r.GetDistributions() {
		shares = append(shares, cli.Percent(d.GetRollout())+" "+cli.Printable(d.GetVariant()))
	}
	if len(shares) == 0 {
		shares = []string{"no variant"}
	}
	return segmentsText(r.GetSegmentKeys(), r.GetSegmentOperator()) + ": " + strings.Join(shares, ", ")
}

// rolloutLine returns a rollout in words, such as "50 %: true".
func rolloutLine(r *guidonv1.DocumentRollout) string {
	line := ""
	if s := r.GetSegment(); s != nil {
		line = fmt.Sprintf("%s: %t", segmentsText(s.GetSegmentKeys(), s.GetSegmentOperator()), s.GetValue())
	} else {
		line = fmt.Sprintf("%s: %t", cli.Percent(r.GetThreshold().GetPercentage()), r.GetThreshold().GetValue())
	}
	if r.GetDescription() != "" {
		line += " (" + cli.Printable(r.GetDescription()) + ")"
	}
	return line
}

func segmentsText(keys []string, operator flipt.SegmentOperator) string {
	text := cli.Printable(strings.Join(keys, ", "))
	switch {
	case len(keys) < 2:
		return text
	case operator == flipt.SegmentOperator_AND_SEGMENT_OPERATOR:
		return "all of " + text
	}
	return "any of " + text
}

package main

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

func (p *program) flagGetCommand() *cobra.Command {
	o := &objects{task{program: p}}
	command := &cobra.Command{
		Use:               "get <flag>",
		Short:             "Show a flag",
		Long:              flagGetHelp,
		Example:           flagGetExample,
		Args:              oneArgument("flag"),
		ValidArgsFunction: firstArgument(p.completeFlags),
		RunE: p.action(func(ctx context.Context, args []string) error {
			return o.reading(ctx, func(service client.Client) error {
				content, err := o.flag(ctx, service, args[0])
				if err != nil {
					return err
				}
				return p.show(o.output, o.shownFlag(content))
			})
		}),
	}
	o.readFlags(command, "the key")
	return command
}

// flag returns the flag with everything under it.
func (o *objects) flag(ctx context.Context, service client.Client, key string) (*guidonv1.FlagContent, error) {
	content := new(guidonv1.FlagContent)
	err := service.Invoke(ctx, "/guidon.v1.EditService/GetFlagContent",
		&guidonv1.GetFlagContentRequest{NamespaceKey: o.namespace, Key: key}, content)
	return content, err
}

func (o *objects) shownFlag(content *guidonv1.FlagContent) shown {
	flag := convert.DocumentFlagOf(content.GetFlag())
	return shown{
		names: []string{flag.Key},
		data: func() ([]byte, error) {
			times := stamps{o.namespace, instant(content.GetCreatedAt()), instant(content.GetUpdatedAt())}
			return objectData(&service.Document{Flags: []*service.DocumentFlag{flag}}, times)
		},
		table: func(out io.Writer) error { return printFlag(out, content) },
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
	table := newFieldTable(out)
	table.row("KEY", f.GetKey())
	table.row("NAME", printable(f.GetName()))
	table.row("DESCRIPTION", orDash(printable(f.GetDescription())))
	table.row("TYPE", flagKind(f.GetType()))
	table.row("ENABLED", fmt.Sprint(f.GetEnabled()))
	table.row("METADATA", orDash(printable(f.GetMetadata())))
	table.row("CREATED", timeOr(instant(content.GetCreatedAt()), "-"))
	table.row("CHANGED", timeOr(instant(content.GetUpdatedAt()), "-"))
	for _, v := range f.GetVariants() {
		table.row("VARIANT", variantLine(v))
	}
	for i, r := range f.GetRules() {
		table.row(fmt.Sprintf("RULE %d", i+1), ruleLine(r))
	}
	for i, r := range f.GetRollouts() {
		table.row(fmt.Sprintf("ROLLOUT %d", i+1), rolloutLine(r))
	}
	return table.Flush()
}

// variantLine returns a variant in words, such as "one-page (default): {"columns":1}".
func variantLine(v *guidonv1.DocumentVariant) string {
	line := printable(v.GetKey())
	if v.GetDefault() {
		line += " (default)"
	}
	if v.GetAttachment() != "" {
		line += ": " + printable(v.GetAttachment())
	}
	return line
}

// ruleLine returns a rule in words, such as "any of germany, nordics: 50 % a, 50 % b".
func ruleLine(r *guidonv1.DocumentRule) string {
	var shares []string
	for _, d := range r.GetDistributions() {
		shares = append(shares, percent(d.GetRollout())+" "+printable(d.GetVariant()))
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
		line = fmt.Sprintf("%s: %t", percent(r.GetThreshold().GetPercentage()), r.GetThreshold().GetValue())
	}
	if r.GetDescription() != "" {
		line += " (" + printable(r.GetDescription()) + ")"
	}
	return line
}

func segmentsText(keys []string, operator flipt.SegmentOperator) string {
	text := printable(strings.Join(keys, ", "))
	switch {
	case len(keys) < 2:
		return text
	case operator == flipt.SegmentOperator_AND_SEGMENT_OPERATOR:
		return "all of " + text
	}
	return "any of " + text
}

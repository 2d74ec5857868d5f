package object

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/changes"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/document"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

const editHelp = `Edit a %[1]s in an editor, as YAML in the form of import files: that of $VISUAL or
$EDITOR, which may have arguments, or else the usual one of the system.

What you save is checked, and shown as a plan, with what changes for users. It is applied
if you confirm that, unless somebody has changed the %[1]s since the editor began. If
something is wrong with it, you can edit again. Nothing that you typed is lost.`

// edit is one edit of an object.
type edit struct {
	*keyed
	key string
}

// edit returns the verb that edits an object.
func (k *keyed) edit(complete cobra.CompletionFunc) verb {
	return verb{
		use: "edit <" + k.kind + ">", short: "Edit a " + k.kind + " in an editor", long: fmt.Sprintf(editHelp, k.kind),
		example: fmt.Sprintf(`  guidon %[1]s edit new-checkout
  EDITOR='code --wait' guidon %[1]s edit new-checkout -n shop -m "for the sale"`, k.kind),
		names: "the key", complete: complete,
		write: func(ctx context.Context, c client.Client, args []string) (cli.Output, error) {
			return edit{k, args[0]}.run(ctx, c)
		},
	}
}

func (e edit) run(ctx context.Context, c client.Client) (cli.Output, error) {
	since, err := e.revision(ctx, c)
	if err != nil {
		return cli.Output{}, err
	}
	text, err := e.text(ctx, c)
	if err != nil {
		return cli.Output{}, err
	}
	name := e.key + ".yaml"
	var edited *guidonv1.Document
	var plan *guidonv1.PlanResponse
	var typed []byte
	err = e.Revise(ctx, name, text, func(changed []byte) (err error) {
		typed = changed
		if edited, err = e.parse(changed); err == nil {
			plan, err = e.plan(ctx, c, &guidonv1.PlanRequest{Document: edited})
		}
		return err
	})
	switch {
	case errors.Is(err, cli.ErrUnedited) || err == nil && len(plan.GetChanges()) == 0:
		fmt.Fprintf(e.Err, "nothing to do for %s %s in %s\n", e.kind, e.key, e.Place())
		return cli.Output{}, nil
	case err != nil:
		return cli.Output{}, err
	}
	e.printWarnings(typed)
	output, err := e.apply(ctx, c, edited, plan, since)
	if err != nil {
		err = errors.Join(err, cli.KeepEdited(name, typed, text))
	}
	return output, err
}

// text returns the YAML of the object.
func (e edit) text(ctx context.Context, c client.Client) ([]byte, error) {
	found, err := e.read(ctx, c, e.key)
	if err != nil {
		return nil, err
	}
	d := convert.DocumentOf(found.document)
	d.Namespace.Key = e.Namespace
	var text bytes.Buffer
	err = document.Encode(&text, document.YAML, []*service.Document{d})
	return text.Bytes(), err
}

// parse returns the document of the text, which must have nothing but the object.
func (e edit) parse(text []byte) (*guidonv1.Document, error) {
	documents, err := document.DecodeText(text, document.YAML, document.RejectUnknown)
	if err != nil {
		return nil, err
	}
	if len(documents) != 1 {
		return nil, fmt.Errorf("it must have one document, not %d", len(documents))
	}
	d := convert.TakeDocument(documents[0])
	var keys []string
	for _, flag := range d.GetFlags() {
		keys = append(keys, "flag "+flag.GetKey())
	}
	for _, segment := range d.GetSegments() {
		keys = append(keys, "segment "+segment.GetKey())
	}
	switch want := e.kind + " " + e.key; {
	case d.GetNamespace().GetKey() != e.Namespace:
		return nil, fmt.Errorf("the namespace must stay %q", e.Namespace)
	case len(keys) != 1 || keys[0] != want:
		return nil, fmt.Errorf("it must have %s alone, not %q; its key cannot be changed", want, keys)
	}
	return d, nil
}

// printWarnings prints the warnings about the text, such as one about a misspelled member.
func (e edit) printWarnings(text []byte) {
	for _, f := range document.Lint(text, document.YAML, document.RejectUnknown).Findings {
		if f.Warning {
			fmt.Fprintf(e.Err, "warning: line %d: %s\n", f.Line, cli.FindingText(f))
		}
	}
}

// apply shows the plan, and replaces the object if the user confirms it.
func (e edit) apply(
	ctx context.Context, c client.Client, d *guidonv1.Document, plan *guidonv1.PlanResponse, since *int64,
) (cli.Output, error) {
	out := e.Out
	if e.Output.ForPrograms() {
		out = e.Err
	}
	changes.PrintPlan(out, plan)
	if err := e.Confirm(changes.WillApply(len(plan.GetChanges()), e.Place())); err != nil {
		return cli.Output{}, err
	}
	return e.replaced(ctx, c, e.key, d, since)
}

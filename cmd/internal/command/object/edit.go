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

// objectEditCommand is one run of "flag edit" or "segment edit".
type objectEditCommand struct {
	objects
	kind, key string

	// read returns the document that has only the object, and replace replaces the object
	// by that of a document.
	read    func(ctx context.Context, service client.Client) (*service.Document, error)
	replace func(ctx context.Context, service client.Client, d *guidonv1.Document, since *int64) (*guidonv1.EditResponse, error)
}

func flagEditCommand(p *cli.Program) *cobra.Command {
	e := &objectEditCommand{objects: objects{cli.Task{Program: p}}, kind: "flag"}
	e.read = func(ctx context.Context, c client.Client) (*service.Document, error) {
		content, err := e.flag(ctx, c, e.key)
		if err != nil {
			return nil, err
		}
		return &service.Document{Flags: []*service.DocumentFlag{convert.DocumentFlagOf(content.GetFlag())}}, nil
	}
	e.replace = func(ctx context.Context, c client.Client, d *guidonv1.Document, since *int64) (*guidonv1.EditResponse, error) {
		return e.replaceFlag(ctx, c, d.GetFlags()[0], since)
	}
	return e.command(cli.FirstArgument(p.CompleteFlags))
}

func segmentEditCommand(p *cli.Program) *cobra.Command {
	e := &objectEditCommand{objects: objects{cli.Task{Program: p}}, kind: "segment"}
	e.read = func(ctx context.Context, c client.Client) (*service.Document, error) {
		content, err := e.segment(ctx, c, e.key)
		if err != nil {
			return nil, err
		}
		return &service.Document{Segments: []*service.DocumentSegment{convert.DocumentSegmentOf(content.GetSegment())}}, nil
	}
	e.replace = func(ctx context.Context, c client.Client, d *guidonv1.Document, since *int64) (*guidonv1.EditResponse, error) {
		return e.replaceSegment(ctx, c, d.GetSegments()[0], since)
	}
	return e.command(cli.FirstArgument(p.CompleteSegments))
}

func (e *objectEditCommand) command(complete cobra.CompletionFunc) *cobra.Command {
	command := &cobra.Command{
		Use:   "edit <" + e.kind + ">",
		Short: "Edit a " + e.kind + " in an editor",
		Long:  fmt.Sprintf(editHelp, e.kind),
		Example: fmt.Sprintf(`  guidon %[1]s edit new-checkout
  EDITOR='code --wait' guidon %[1]s edit new-checkout -n shop -m "for the sale"`, e.kind),
		Args:              cli.OneArgument(e.kind),
		ValidArgsFunction: complete,
		RunE: e.Action(func(ctx context.Context, args []string) error {
			e.key = args[0]
			return e.Writing(ctx, func(service client.Client) error { return e.run(ctx, service) })
		}),
	}
	e.WriteFlags(command, "the key")
	e.YesFlag(command)
	return command
}

func (e *objectEditCommand) run(ctx context.Context, c client.Client) error {
	since, err := e.revision(ctx, c)
	if err != nil {
		return err
	}
	d, err := e.read(ctx, c)
	if err != nil {
		return err
	}
	d.Namespace.Key = e.Namespace
	var text bytes.Buffer
	if err := document.Encode(&text, document.YAML, []*service.Document{d}); err != nil {
		return err
	}
	name := e.key + ".yaml"
	var edited *guidonv1.Document
	var plan *guidonv1.PlanResponse
	var typed []byte
	err = e.Revise(ctx, name, text.Bytes(), func(changed []byte) (err error) {
		typed = changed
		if edited, err = e.parse(changed); err == nil {
			plan, err = e.plan(ctx, c, edited)
		}
		return err
	})
	switch {
	case errors.Is(err, cli.ErrUnedited) || err == nil && len(plan.GetChanges()) == 0:
		fmt.Fprintf(e.Err, "nothing to do for %s %s in %s\n", e.kind, e.key, e.Place())
		return nil
	case err != nil:
		return err
	}
	e.printWarnings(typed)
	if err := e.apply(ctx, c, edited, plan, since); err != nil {
		return errors.Join(err, cli.KeepEdited(name, typed, text.Bytes()))
	}
	return nil
}

// parse returns the document of the text, which must have nothing but the object.
func (e *objectEditCommand) parse(text []byte) (*guidonv1.Document, error) {
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
func (e *objectEditCommand) printWarnings(text []byte) {
	for _, f := range document.Lint(text, document.YAML, document.RejectUnknown).Findings {
		if f.Warning {
			fmt.Fprintf(e.Err, "warning: line %d: %s\n", f.Line, cli.FindingText(f))
		}
	}
}

// plan returns the plan of the document, with its effects.
func (e *objectEditCommand) plan(ctx context.Context, c client.Client, d *guidonv1.Document) (*guidonv1.PlanResponse, error) {
	plan := new(guidonv1.PlanResponse)
	err := c.Invoke(ctx, "/guidon.v1.PlanService/Plan", &guidonv1.PlanRequest{
		NamespaceKey: e.Namespace, Document: d, Mode: guidonv1.PlanMode_UPDATE_PLAN_MODE, WithEffects: true,
	}, plan)
	return plan, err
}

// apply shows the plan, and replaces the object if the user confirms it.
func (e *objectEditCommand) apply(
	ctx context.Context, c client.Client, d *guidonv1.Document, plan *guidonv1.PlanResponse, since *int64,
) error {
	out := e.Out
	if e.Output.Data() {
		out = e.Err
	}
	changes.PrintPlan(out, plan)
	if err := e.Confirm(changes.WillApply(len(plan.GetChanges()), e.Place()), e.Yes); err != nil {
		return err
	}
	done, err := e.replace(ctx, c, d, since)
	if err != nil {
		return err
	}
	show := e.showFlag
	if e.kind == "segment" {
		show = e.showSegment
	}
	return show(ctx, c, e.key, outcomeWord(done, "updated"))
}

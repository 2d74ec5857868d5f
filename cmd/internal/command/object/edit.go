package object

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/changes"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/document"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service"
)

const editHelp = `Edit a %[1]s in your editor, as YAML in the form of import files.

When you have saved and closed it, the command checks the text, shows what would change,
also for users, and asks before it applies that. If the text has a mistake, you can go on
in the editor. An edit that is not applied is kept in a file; --file continues with it.

If a colleague has changed the %[1]s in the meantime, the command shows their change, and
can combine it with yours. Where both changed the same, yours stays.

The editor is $VISUAL or $EDITOR, which may have arguments, or the usual one of the system.`

// edit is one edit of an object.
type edit struct {
	*keyed
	key string
}

// edit returns the verb that edits an object.
func (k *keyed) edit(complete cobra.CompletionFunc) cli.Verb {
	return cli.Verb{
		Use: "edit <" + k.kind + ">", Short: "Edit a " + k.kind + " in an editor", Long: fmt.Sprintf(editHelp, k.kind),
		Example: fmt.Sprintf(`  guidon %[1]s edit %[2]s
  EDITOR='code --wait' guidon %[1]s edit %[2]s -n shop -m "for the sale"
  guidon %[1]s edit %[2]s --file /tmp/guidon-edit-1/guidon-%[2]s.yaml`, k.kind,
			map[string]string{"flag": "new-checkout", "segment": "beta-users"}[k.kind]),
		Names: "the key", Complete: complete,
		Options: func(command *cobra.Command) {
			command.Flags().StringVar(&k.file, "file", "", "use this `file`, which an edit has kept, instead of an editor")
		},
		Write: func(ctx context.Context, c client.Client, args []string) (cli.Output, error) {
			return edit{k, args[0]}.run(ctx, c)
		},
	}
}

func (e edit) run(ctx context.Context, c client.Client) (cli.Output, error) {
	since, err := e.revision(ctx, c)
	if err != nil {
		return cli.Output{}, err
	}
	text, err := e.text(ctx, c, *since)
	if err != nil {
		return cli.Output{}, err
	}
	name := e.key + ".yaml"
	var edited *guidonv1.Document
	var plan *guidonv1.PlanResponse
	var typed []byte
	use := func(changed []byte) (err error) {
		typed = changed
		if edited, err = e.parse(changed); err == nil {
			plan, err = e.plan(ctx, c, &guidonv1.PlanRequest{Document: edited})
		}
		return err
	}
	if e.file == "" {
		err = e.Revise(ctx, name, text, use)
	} else if text, err = e.kept(since); err == nil {
		err = use(text)
	}
	switch {
	case errors.Is(err, cli.ErrUnedited):
		return cli.Output{}, e.nothingToDo()
	case err != nil:
		return cli.Output{}, e.resumable(err)
	}
	e.printWarnings(typed)
	output, err := e.apply(ctx, c, edited, plan, since)
	if err != nil && e.file == "" {
		err = e.resumable(errors.Join(err, cli.KeepEdited(name, typed, text)))
	}
	return output, err
}

func (e edit) nothingToDo() error {
	_, err := fmt.Fprintf(e.Err, "nothing to do for %s %s in %s\n", e.kind, e.key, e.Place())
	return err
}

// resumable adds to an error that names the kept text how to continue with that.
func (e edit) resumable(err error) error {
	if _, kept := errors.AsType[*cli.KeptError](err); kept {
		return fmt.Errorf("%w; continue with \"guidon %s edit %s --file\"", err, e.kind, e.key)
	}
	return err
}

// kept returns the text of --file, and sets the revision at which its edit began.
func (e edit) kept(since *int64) ([]byte, error) {
	text, err := e.ReadInput(e.file, maxKept)
	if err != nil {
		return nil, err
	}
	if _, err := fmt.Sscanf(string(text), beganAt, since); err != nil {
		return nil, fmt.Errorf("%s must begin with the line of the edit that kept it, such as %q", e.file, fmt.Sprintf(beganAt, 412))
	}
	return text, nil
}

// maxKept limits the size of --file, in bytes.
const maxKept = 16 << 20

// beganAt is the first line of a text to edit.
const beganAt = "# revision: %d\n"

// text returns the YAML of the object, after a line with the revision.
func (e edit) text(ctx context.Context, c client.Client, revision int64) ([]byte, error) {
	found, err := e.read(ctx, c, e.key)
	if err != nil {
		return nil, err
	}
	d := convert.DocumentOf(found.document)
	d.Namespace.Key = e.Namespace
	var text bytes.Buffer
	fmt.Fprintf(&text, beganAt, revision)
	err = document.Encode(&text, document.YAML, []*service.Document{d})
	return text.Bytes(), err
}

// parse returns the document of the text, which must have nothing but the object.
func (e edit) parse(text []byte) (*guidonv1.Document, error) {
	documents, err := document.Decode(text, document.YAML, document.RejectUnknown)
	if err != nil {
		return nil, err
	}
	if len(documents) != 1 {
		return nil, fmt.Errorf("it must have one document, not %d", len(documents))
	}
	d := convert.TakeDocument(documents[0])
	keys := lists.Map(d.GetFlags(), func(flag *guidonv1.DocumentFlag) string { return "flag " + flag.GetKey() })
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

// apply shows the plan, and replaces the object if the user confirms it. What somebody else has
// saved since the revision is shown first.
func (e edit) apply(
	ctx context.Context, c client.Client, d *guidonv1.Document, plan *guidonv1.PlanResponse, since *int64,
) (cli.Output, error) {
	merged, err := e.mergedWithSaved(ctx, c, d, since)
	if err == nil && merged != d {
		d = merged
		plan, err = e.plan(ctx, c, &guidonv1.PlanRequest{Document: d})
	}
	switch {
	case err != nil:
		return cli.Output{}, err
	case len(plan.GetChanges()) == 0:
		return cli.Output{}, e.nothingToDo()
	}
	out := e.Out
	if e.Output.ForPrograms() {
		out = e.Err
	}
	changes.PrintPlan(out, plan)
	if err := e.Confirm(changes.WillApply(len(plan.GetChanges()), e.Place())); err != nil {
		return cli.Output{}, err
	}
	return e.save(ctx, c, e.put(d, since), []string{e.key}, "updated")
}

// mergedWithSaved returns the edited document or, if the object has changed since the revision
// and the user wants that, both brought together. It then sets the revision to the current one.
func (e edit) mergedWithSaved(
	ctx context.Context, c client.Client, d *guidonv1.Document, since *int64,
) (*guidonv1.Document, error) {
	merged, how, err := e.merge(ctx, c, d, *since)
	if err != nil || how.GetLatest() == nil && !how.GetBaseMissing() {
		return d, err
	}
	fmt.Fprintf(e.Err, "%s %s has changed since revision %d: %s in revision %d by %s\n", e.kind, e.key, *since,
		how.GetLatest().GetAction(), how.GetLatest().GetRevision(), cli.ActorName(how.GetLatest().GetActor()))
	for _, theirs := range how.GetTheirs() {
		fmt.Fprintf(e.Err, "    %s\n", theirs.GetSummary())
	}
	for _, both := range how.GetConflicts() {
		fmt.Fprintf(e.Err, "    both changed %s: you to %s, they to %s\n", both.GetName(),
			cmp.Or(both.GetWording().GetMine(), "nothing"), cmp.Or(both.GetWording().GetTheirs(), "nothing"))
	}
	both, err := e.YesOrNo("Bring both together? Where both changed the same, what you typed stays.")
	if err == nil && !both {
		err = guidon.Errorf(guidon.FailedPrecondition, "nothing was changed: %s %s has changed since the edit began", e.kind, e.key)
	}
	*since = how.GetCurrentRevision()
	return merged, err
}

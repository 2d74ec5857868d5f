package document

import (
	"fmt"
	"io"
	"strings"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/document"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// summary describes in one line the changes that an import made, or would make.
func summary(r *guidonv1.ImportResponse) string {
	counts := make(map[string]int)
	for _, c := range r.GetChanges() {
		counts[c.GetAction()]++
	}
	text := fmt.Sprintf("%s: %d created, %d updated, %d deleted, %d unchanged",
		r.GetNamespaceKey(), counts[string(change.ActionCreate)], counts[string(change.ActionUpdate)],
		counts[string(change.ActionDelete)], r.GetUnchanged())
	if n := len(r.GetSkipped()); n > 0 {
		text += fmt.Sprintf(", %d skipped", n)
	}
	if !r.GetDryRun() {
		text += fmt.Sprintf("; revision %d", r.GetRevision())
	}
	return text
}

// shownImports returns the output for imports, for programs.
func shownImports(imports []*guidonv1.ImportResponse) cli.Output {
	var names []string
	for _, r := range imports {
		for _, c := range r.GetChanges() {
			names = append(names, r.GetNamespaceKey()+"/"+c.GetKind()+"/"+c.GetKey())
		}
	}
	return cli.Output{Data: cli.DataOfAll(imports), Names: names}
}

// printPreview prints the changes that imports would make.
func printPreview(out io.Writer, plans []*guidonv1.ImportResponse) error {
	for _, plan := range plans {
		fmt.Fprintf(out, "%s (dry run, nothing was changed)\n", summary(plan))
		if err := printChanges(out, plan.GetChanges()); err != nil {
			return err
		}
	}
	return nil
}

// printChanges prints the action for each object, with a diff of its YAML.
func printChanges(out io.Writer, changes []*guidonv1.DocumentChange) error {
	for _, c := range changes {
		fmt.Fprintf(out, "\n%s %s %s\n", cli.Action(c.GetAction()).For(out), c.GetKind(), c.GetKey())
		difference, err := document.Diff(convert.DocumentOf(c.GetBefore()), convert.DocumentOf(c.GetAfter()))
		if err != nil {
			return err
		}
		fmt.Fprint(out, cli.PaintDiff(out, difference))
	}
	return nil
}

// deletes returns the number of objects that an import would delete.
func deletes(r *guidonv1.ImportResponse) int {
	n := 0
	for _, c := range r.GetChanges() {
		if c.GetAction() == string(change.ActionDelete) {
			n++
		}
	}
	return n
}

// maxListed is how many deletions confirmDrop lists.
const maxListed = 50

// confirmDrop asks for confirmation of the deletions in the plans, if any.
func (i *importCommand) confirmDrop(plans []*guidonv1.ImportResponse) error {
	var list strings.Builder
	total := 0
	for _, plan := range plans {
		for _, c := range plan.GetChanges() {
			if c.GetAction() != string(change.ActionDelete) {
				continue
			}
			if total++; total <= maxListed {
				fmt.Fprintf(&list, "  %s %s in namespace %s\n", c.GetKind(), c.GetKey(), plan.GetNamespaceKey())
			}
		}
	}
	if total == 0 {
		return nil
	}
	if total > maxListed {
		fmt.Fprintf(&list, "  and %d more\n", total-maxListed)
	}
	return i.Confirm(fmt.Sprintf("The following are not in the file and will be deleted%s:\n%s", i.Connection.Place(""), list.String()))
}

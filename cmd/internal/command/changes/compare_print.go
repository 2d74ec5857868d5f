package changes

import (
	"fmt"
	"io"
	"strings"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
)

// output returns the output for the comparison of the two sides.
func (c *compareCommand) output(r *guidonv1.CompareResponse, before, after string) cli.Output {
	return cli.Output{
		Data:  cli.DataOf(r),
		Names: lists.Map(r.GetObjects(), func(o *guidonv1.ComparedObject) string { return o.GetKind() + "/" + o.GetKey() }),
		Table: func(out io.Writer) error {
			return c.printWords(out, r, sides{cli.StreamName(before), cli.StreamName(after)})
		},
		Result: c.differences.Result(isDifferent(r)),
	}
}

// printWords prints the comparison for people.
func (c *compareCommand) printWords(out io.Writer, r *guidonv1.CompareResponse, sides sides) error {
	for _, o := range r.GetObjects() {
		if c.stat {
			break
		}
		fmt.Fprintf(out, "%s %s: %s\n", o.GetKind(), o.GetKey(), sides.words(o))
		fmt.Fprintln(out, cli.PaintDiff(out, details(o)))
	}
	fmt.Fprintf(out, "flags: %s\n", sides.counts(r.GetFlags()))
	_, err := fmt.Fprintf(out, "segments: %s\n", sides.counts(r.GetSegments()))
	return err
}

// details returns the diff of an object or, if it has no diff, one line for each difference.
func details(o *guidonv1.ComparedObject) string {
	if o.Diff != nil {
		return o.GetDiff()
	}
	var b strings.Builder
	for _, d := range o.GetDifferences() {
		fmt.Fprintf(&b, "  %s\n", d.GetSummary())
	}
	if n := o.GetMoreDifferences(); n > 0 {
		fmt.Fprintf(&b, "  and %d more differences\n", n)
	}
	return b.String()
}

// sides are the names of the two sides.
type sides struct{ before, after string }

// words returns how an object differs.
func (s sides) words(o *guidonv1.ComparedObject) string {
	switch change.Action(o.GetAction()) {
	case change.ActionCreate:
		return "only in " + s.after
	case change.ActionDelete:
		return "only in " + s.before
	}
	return o.GetSummary()
}

// counts returns how many objects differ, and how.
func (s sides) counts(n *guidonv1.CompareCounts) string {
	var parts []string
	for _, count := range []struct {
		n    int32
		what string
	}{
		{n.GetDeleted(), "only in " + s.before}, {n.GetCreated(), "only in " + s.after}, {n.GetUpdated(), "different"},
	} {
		if count.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count.n, count.what))
		}
	}
	return strings.Join(append(parts, fmt.Sprintf("%d equal", n.GetUnchanged())), ", ")
}

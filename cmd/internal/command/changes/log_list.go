package changes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/codec"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// changeList prints changes: for programs one after the other, because a change may have
// megabytes, and otherwise as a table at the end.
type changeList struct {
	*cli.Program
	format cli.Format
	all    bool // with the namespaces
	begun  bool
	rows   [][]any
}

func (l *changeList) add(c *guidonv1.Change) error {
	switch l.format {
	case cli.FormatName:
		_, err := fmt.Fprintln(l.Out, c.GetRevision())
		return err
	case cli.FormatJSON, cli.FormatYAML:
		return l.addElement(c)
	}
	var namespace []any
	if l.all {
		namespace = []any{c.GetNamespaceKey()}
	}
	l.rows = append(l.rows, append(namespace,
		c.GetRevision(), cli.When(c.GetAt()), cli.ActorName(c.GetActor()), cli.Action(c.GetAction()), c.GetKind(), c.GetKey(),
		cli.OrDash(c.GetReason().GetText()), cli.OrDash(c.GetMessage()), cli.OrDash(c.GetSummary()),
	))
	return nil
}

// addElement prints an element of a JSON array or of a YAML list.
func (l *changeList) addElement(c *guidonv1.Change) error {
	text, err := codec.Marshal(c)
	if err != nil {
		return err
	}
	before := "[\n  "
	if l.begun {
		before = ",\n  "
	}
	l.begun = true
	if l.format == cli.FormatYAML {
		return cli.WriteYAML(l.Out, bytes.Join([][]byte{{'['}, text, {']'}}, nil))
	}
	b := bytes.NewBufferString(before)
	if err := json.Indent(b, text, "  ", "  "); err != nil {
		return err
	}
	_, err = b.WriteTo(l.Out)
	return err
}

func (l *changeList) end() error {
	end := ""
	switch {
	case !l.format.ForPrograms():
		return l.showTable()
	case l.format == cli.FormatName:
	case !l.begun:
		end = "[]\n"
	case l.format == cli.FormatJSON:
		end = "\n]\n"
	}
	_, err := io.WriteString(l.Out, end)
	return err
}

func (l *changeList) showTable() error {
	header := "REVISION\tTIME\tACTOR\tACTION\tKIND\tKEY\tREASON\tMESSAGE\tSUMMARY"
	if l.all {
		header = "NAMESPACE\t" + header
	}
	return l.Show("", cli.Output{Table: func(out io.Writer) error {
		return cli.PrintTable(out, header, l.rows, func(row []any) []any { return row })
	}})
}

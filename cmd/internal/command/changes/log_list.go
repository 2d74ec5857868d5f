package changes

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/codec"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// add lists a change: for programs at once, because it may have megabytes, and otherwise in a
// table at the end.
func (l *logCommand) add(c *guidonv1.Change) error {
	first := !l.found
	l.found = true
	switch l.Output {
	case cli.FormatName, cli.FormatYAML:
		return l.printLine(c)
	case cli.FormatJSON:
		return l.addElement(c, first)
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

// addElement prints an element of a JSON array.
func (l *logCommand) addElement(c *guidonv1.Change, first bool) error {
	text, err := codec.Marshal(c)
	if err != nil {
		return err
	}
	b := bytes.NewBufferString(",\n  ")
	if first {
		b = bytes.NewBufferString("[\n  ")
	}
	if err := json.Indent(b, text, "  ", "  "); err != nil {
		return err
	}
	_, err = b.WriteTo(l.Out)
	return err
}

// end prints what follows the changes, or returns their table.
func (l *logCommand) end() (cli.Output, error) {
	end := ""
	switch {
	case !l.Output.ForPrograms():
		return l.table(), nil
	case l.Output == cli.FormatName:
	case !l.found:
		end = "[]\n"
	case l.Output == cli.FormatJSON:
		end = "\n]\n"
	}
	_, err := io.WriteString(l.Out, end)
	return cli.Output{}, err
}

func (l *logCommand) table() cli.Output {
	header := "REVISION\tTIME\tACTOR\tACTION\tKIND\tKEY\tREASON\tMESSAGE\tSUMMARY"
	if l.all {
		header = "NAMESPACE\t" + header
	}
	return cli.Output{Table: cli.Rows(header, l.rows, func(row []any) []any { return row })}
}

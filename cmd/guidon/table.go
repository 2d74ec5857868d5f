package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"google.golang.org/protobuf/proto"
)

// newTable returns a table with the header. Tabs end the cells of a line, and Flush prints
// the lines with aligned columns.
func newTable(out io.Writer, header string) *tabwriter.Writer {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, header)
	return table
}

// fieldTable prints the fields of one object, a line each. Flush prints the lines.
type fieldTable struct{ *tabwriter.Writer }

func newFieldTable(out io.Writer) fieldTable {
	return fieldTable{tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)}
}

func (t fieldTable) row(name, value string) { fmt.Fprintf(t, "%s\t%s\n", name, value) }

// shownList returns the output for a list of messages. name returns the line of one of them
// in the format "name".
func shownList[M proto.Message](list []M, name func(M) string, table func(out io.Writer) error) shown {
	names := make([]string, len(list))
	for i, m := range list {
		names[i] = name(m)
	}
	return shown{data: dataOfAll(list), names: names, table: table}
}

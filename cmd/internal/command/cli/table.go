package cli

import (
	"fmt"
	"io"
	"text/tabwriter"

	"google.golang.org/protobuf/proto"
)

// NewTable returns a table with the header. Tabs end the cells of a line, and Flush prints
// the lines with aligned columns.
func NewTable(out io.Writer, header string) *tabwriter.Writer {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, header)
	return table
}

// fieldTable prints the fields of one object, a line each. Flush prints the lines.
type fieldTable struct{ *tabwriter.Writer }

func NewFieldTable(out io.Writer) fieldTable {
	return fieldTable{tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)}
}

func (t fieldTable) Row(name, value string) { fmt.Fprintf(t, "%s\t%s\n", name, value) }

// ListOutput returns the output for a list of messages. name returns the line of one of them
// in the format "name".
func ListOutput[M proto.Message](list []M, name func(M) string, table func(out io.Writer) error) Output {
	names := make([]string, len(list))
	for i, m := range list {
		names[i] = name(m)
	}
	return Output{Data: DataOfAll(list), Names: names, Table: table}
}

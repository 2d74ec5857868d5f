package cli

import (
	"fmt"
	"io"
	"strings"
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

// FieldTable prints the fields of one object, a line each. Flush prints the lines.
type FieldTable struct{ *tabwriter.Writer }

// NewFieldTable returns an empty table of fields.
func NewFieldTable(out io.Writer) FieldTable {
	return FieldTable{tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)}
}

// Row adds a field.
func (t FieldTable) Row(name, value string) { fmt.Fprintf(t, "%s\t%s\n", name, value) }

// PrintTable prints a table with the header and a row of cells for each element of the list.
func PrintTable[T any](out io.Writer, header string, list []T, cells func(T) []any) error {
	table := NewTable(out, header)
	format := "%v" + strings.Repeat("\t%v", strings.Count(header, "\t")) + "\n"
	for _, one := range list {
		fmt.Fprintf(table, format, cells(one)...)
	}
	return table.Flush()
}

// List returns the output for a list of messages: as a table, as with PrintTable, or only the
// name of each.
func List[M proto.Message](list []M, name func(M) string, header string, cells func(M) []any) Output {
	return Output{
		Data: DataOfAll(list), Names: namesOf(list, name),
		Table: func(out io.Writer) error { return PrintTable(out, header, list, cells) },
	}
}

func namesOf[T any](list []T, name func(T) string) []string {
	names := make([]string, len(list))
	for i, one := range list {
		names[i] = name(one)
	}
	return names
}

// Line returns the output of a line for people.
func Line(format string, args ...any) func(out io.Writer) error {
	return func(out io.Writer) error {
		_, err := fmt.Fprintf(out, format+"\n", args...)
		return err
	}
}

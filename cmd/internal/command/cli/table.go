package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/rivo/uniseg"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/guidonhq/guidon/internal/lists"
)

// Table prints rows with aligned columns. A cell is a text, a number, a [Colored] text or a
// [time.Time], which at a terminal is relative to now.
type Table struct {
	out  io.Writer
	rows [][]Colored
}

// NewTable returns a table with the header, whose cells tabs separate. Flush prints it.
func NewTable(out io.Writer, header string) *Table {
	t := &Table{out: out}
	var cells []any
	for _, name := range strings.Split(header, "\t") {
		cells = append(cells, Colored{Faint, name})
	}
	t.Row(cells...)
	return t
}

// Row adds a row.
func (t *Table) Row(cells ...any) {
	row := make([]Colored, len(cells))
	for i, cell := range cells {
		switch cell := cell.(type) {
		case Colored:
			row[i] = cell
		case time.Time:
			row[i].Text = timeFor(t.out, cell)
		default:
			row[i].Text = fmt.Sprint(cell)
		}
	}
	t.rows = append(t.rows, row)
}

// gap is the space between two columns.
const gap = 2

// Flush prints the rows.
func (t *Table) Flush() error {
	var widths []int
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], uniseg.StringWidth(cell.Text))
		}
	}
	for _, row := range t.rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell.For(t.out))
			if i < len(row)-1 {
				line.WriteString(strings.Repeat(" ", widths[i]-uniseg.StringWidth(cell.Text)+gap))
			}
		}
		if _, err := fmt.Fprintln(t.out, line.String()); err != nil {
			return err
		}
	}
	return nil
}

// FieldTable prints the fields of one object, a line each. Flush prints the lines.
type FieldTable struct{ *Table }

// NewFieldTable returns an empty table of fields.
func NewFieldTable(out io.Writer) FieldTable { return FieldTable{&Table{out: out}} }

// Row adds a field.
func (t FieldTable) Row(name string, value any) { t.Table.Row(Colored{Faint, name}, value) }

// PrintTable prints a table with the header and a row of cells for each element of the list.
func PrintTable[T any](out io.Writer, header string, list []T, cells func(T) []any) error {
	table := NewTable(out, header)
	for _, one := range list {
		table.Row(cells(one)...)
	}
	return table.Flush()
}

// List returns the output for a list of messages: as a table, as with PrintTable, or only the
// name of each.
func List[M proto.Message](list []M, name func(M) string, header string, cells func(M) []any) Output {
	return Output{
		Data: DataOfAll(list), Names: lists.Map(list, name),
		Table: func(out io.Writer) error { return PrintTable(out, header, list, cells) },
	}
}

// TimeOr returns the cell of a time, or the text if the time is zero.
func TimeOr(t time.Time, text string) any {
	if t.IsZero() {
		return text
	}
	return t
}

// Instant returns the time of a timestamp, or the zero time if it is not set.
func Instant(at *timestamppb.Timestamp) time.Time {
	if at == nil {
		return time.Time{}
	}
	return at.AsTime()
}

// When returns the cell of a timestamp, which is a dash if it is not set.
func When(at *timestamppb.Timestamp) any { return TimeOr(Instant(at), "-") }

// Line returns the output of a line for people.
func Line(format string, args ...any) func(out io.Writer) error { return Text(format+"\n", args...) }

// Text returns the output of a text for people.
func Text(format string, args ...any) func(out io.Writer) error {
	return func(out io.Writer) error {
		_, err := fmt.Fprintf(out, format, args...)
		return err
	}
}

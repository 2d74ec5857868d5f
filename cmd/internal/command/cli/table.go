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

// Rows returns the output of a table for people: the header, whose cells tabs separate, and a row
// for each element of the list. A cell is a text, a number, a [Colored] text or a [time.Time],
// which at a terminal is relative to now. Texts become [Printable].
func Rows[T any](header string, list []T, cells func(T) []any) func(out io.Writer) error {
	return func(out io.Writer) error {
		rows := [][]Colored{lists.Map(strings.Split(header, "\t"), func(name string) Colored { return Colored{Faint, name} })}
		for _, one := range list {
			rows = append(rows, rowFor(out, cells(one)...))
		}
		return printRows(out, rows)
	}
}

// Field adds a field of an object, whose value is a cell as in [Rows].
type Field func(name string, value any)

// Fields returns the output of one object for people, a line for each field.
func Fields(each func(field Field)) func(out io.Writer) error {
	return func(out io.Writer) error {
		var rows [][]Colored
		each(func(name string, value any) { rows = append(rows, rowFor(out, Colored{Faint, name}, value)) })
		return printRows(out, rows)
	}
}

func rowFor(out io.Writer, cells ...any) []Colored {
	return lists.Map(cells, func(cell any) Colored {
		switch cell := cell.(type) {
		case Colored:
			return Colored{cell.Color, Printable(cell.Text)}
		case time.Time:
			return Colored{Text: timeFor(out, cell)}
		default:
			return Colored{Text: Printable(fmt.Sprint(cell))}
		}
	})
}

// gap is the space between two columns.
const gap = 2

// printRows prints the rows, with aligned columns.
func printRows(out io.Writer, rows [][]Colored) error {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], uniseg.StringWidth(cell.Text))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell.For(out))
			if i < len(row)-1 {
				line.WriteString(strings.Repeat(" ", widths[i]-uniseg.StringWidth(cell.Text)+gap))
			}
		}
		if _, err := fmt.Fprintln(out, line.String()); err != nil {
			return err
		}
	}
	return nil
}

// List returns the output for a list of messages: as a table, as [Rows], or only the name of each.
func List[M proto.Message](list []M, name func(M) string, header string, cells func(M) []any) Output {
	return Output{Data: DataOfAll(list), Names: lists.Map(list, name), Table: Rows(header, list, cells)}
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

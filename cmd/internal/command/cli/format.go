package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/document"
	"github.com/guidonhq/guidon/handler/codec"
)

// The formats of --output.
const (
	formatTable = "table"
	FormatJSON  = "json"
	FormatYAML  = "yaml"
	FormatName  = "name"
)

// Format is the value of --output. Empty means that the command decides, for which
// most print a table.
type Format string

// Flag adds --output to a command. name describes the output in the format "name".
func (o *Format) Flag(command *cobra.Command, name string) {
	o.FlagWithDefault(command, name, formatTable)
}

// FlagWithDefault adds --output to a command that prints something else than a table by
// default.
func (o *Format) FlagWithDefault(command *cobra.Command, name, unset string) {
	Choice(command, (*string)(o), "output", "o", fmt.Sprintf("output format; name prints only %s (default %s)", name, unset),
		formatTable, FormatJSON, FormatYAML, FormatName)
}

// AtTerminal is the default of commands that print for people at a terminal, and JSON
// elsewhere.
const AtTerminal = "table at a terminal, json otherwise"

// AtTerminal returns the format, with that default.
func (o Format) AtTerminal(p *Program) Format {
	switch {
	case o != "":
		return o
	case p.Terminal(p.Stdout):
		return formatTable
	}
	return FormatJSON
}

// ForPrograms reports whether the output is for programs.
func (o Format) ForPrograms() bool { return o != "" && o != formatTable }

// Output is the output of a command in the formats that the user can choose.
type Output struct {
	Data  func() ([]byte, error)    // the JSON, for JSON and YAML
	Names []string                  // one for each line
	Table func(out io.Writer) error // for people

	Result error // with which the command ends when it has printed that
}

// Show prints the output of a command in the format.
func (p *Program) Show(format Format, s Output) error {
	switch format {
	case FormatName:
		return printNames(p.Out, s.Names)
	case FormatJSON, FormatYAML:
		text, err := s.Data()
		if err != nil {
			return err
		}
		return format.write(p.Out, text)
	}
	return p.forPeople(s.Table)
}

// ShowLine is show, but prints JSON on one line. The data must be a list, so that in YAML
// successive calls print the elements of one list.
func (p *Program) ShowLine(format Format, s Output) error {
	if format != FormatJSON {
		return p.Show(format, s)
	}
	text, err := s.Data()
	if err != nil {
		return err
	}
	var line bytes.Buffer
	if err := json.Compact(&line, text); err != nil {
		return err
	}
	line.WriteByte('\n')
	_, err = line.WriteTo(p.Out)
	return err
}

func printNames(out io.Writer, names []string) error {
	for _, name := range names {
		if _, err := fmt.Fprintln(out, name); err != nil {
			return err
		}
	}
	return nil
}

// write writes JSON text in the format, which must be that or YAML, indented.
func (o Format) write(out io.Writer, text []byte) error {
	if o == FormatYAML {
		yaml, err := document.ToYAML(text)
		if err == nil {
			_, err = out.Write(yaml)
		}
		return err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err := b.WriteTo(out)
	return err
}

// DataOf returns the JSON of a message, as the API encodes it by default. The API's pretty
// mode would omit "enabled": false.
func DataOf(m proto.Message) func() ([]byte, error) {
	return func() ([]byte, error) { return codec.Marshal(m) }
}

// DataOfAll returns the JSON array of the messages.
func DataOfAll[M proto.Message](messages []M) func() ([]byte, error) {
	return DataOfEach(messages, func(m M) ([]byte, error) { return codec.Marshal(m) })
}

// DataOfEach returns the array of the JSON of each item.
func DataOfEach[T any](items []T, data func(T) ([]byte, error)) func() ([]byte, error) {
	return func() ([]byte, error) {
		list := make([]json.RawMessage, len(items))
		for i, item := range items {
			text, err := data(item)
			if err != nil {
				return nil, err
			}
			list[i] = text
		}
		return json.Marshal(list)
	}
}

// DataOfValue returns the JSON of a value that package json encodes.
func DataOfValue(value any) func() ([]byte, error) {
	return func() ([]byte, error) { return change.Encode(value), nil }
}

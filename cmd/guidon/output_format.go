package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon/handler/codec"
)

// The formats of --output.
const (
	formatTable = "table"
	formatJSON  = "json"
	formatYAML  = "yaml"
	formatName  = "name"
)

var formats = []string{formatTable, formatJSON, formatYAML, formatName}

// outputFormat is the value of --output. Empty means that the command decides, for which
// most print a table.
type outputFormat string

// Set implements pflag.Value.
func (o *outputFormat) Set(word string) error {
	for _, format := range formats {
		if word == format {
			*o = outputFormat(word)
			return nil
		}
	}
	return fmt.Errorf("must be %s or %s", strings.Join(formats[:len(formats)-1], ", "), formats[len(formats)-1])
}

// String implements pflag.Value.
func (o *outputFormat) String() string { return string(*o) }

// Type implements pflag.Value.
func (o *outputFormat) Type() string { return strings.Join(formats, "|") }

// flag adds --output to a command. name describes the output in the format "name".
func (o *outputFormat) flag(command *cobra.Command, name string) {
	o.flagWithDefault(command, name, formatTable)
}

// flagWithDefault adds --output to a command that prints something else than a table by
// default.
func (o *outputFormat) flagWithDefault(command *cobra.Command, name, unset string) {
	command.Flags().VarP(o, "output", "o", fmt.Sprintf("output format; name prints only %s (default %s)", name, unset))
	_ = command.RegisterFlagCompletionFunc("output", completeWords(formats...)) // the flag exists
}

// atTerminal is the default of commands that print for people at a terminal, and JSON
// elsewhere.
const atTerminal = "table at a terminal, json otherwise"

// atTerminal returns the format, with that default.
func (o outputFormat) atTerminal(p *program) outputFormat {
	switch {
	case o != "":
		return o
	case p.terminal(p.stdout):
		return formatTable
	}
	return formatJSON
}

// data reports whether the output is for programs.
func (o outputFormat) data() bool { return o != "" && o != formatTable }

// shown is the output of a command in the formats that the user can choose.
type shown struct {
	data  func() ([]byte, error)    // the JSON, for JSON and YAML
	names []string                  // one for each line
	table func(out io.Writer) error // for people
}

// show prints the output of a command in the format.
func (p *program) show(format outputFormat, s shown) error {
	switch format {
	case formatName:
		return printNames(p.out, s.names)
	case formatJSON, formatYAML:
		text, err := s.data()
		if err != nil {
			return err
		}
		return format.write(p.out, text)
	}
	return s.table(p.out)
}

// showLine is show, but prints JSON on one line. The data must be a list, so that in YAML
// successive calls print the elements of one list.
func (p *program) showLine(format outputFormat, s shown) error {
	if format != formatJSON {
		return p.show(format, s)
	}
	text, err := s.data()
	if err != nil {
		return err
	}
	var line bytes.Buffer
	if err := json.Compact(&line, text); err != nil {
		return err
	}
	line.WriteByte('\n')
	_, err = line.WriteTo(p.out)
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
func (o outputFormat) write(out io.Writer, text []byte) error {
	if o == formatYAML {
		return writeYAML(out, text)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err := b.WriteTo(out)
	return err
}

// dataOf returns the JSON of a message, as the API encodes it by default. The API's pretty
// mode would omit "enabled": false.
func dataOf(m proto.Message) func() ([]byte, error) {
	return func() ([]byte, error) { return codec.Marshal(m) }
}

// dataOfAll returns the JSON array of the messages.
func dataOfAll[M proto.Message](messages []M) func() ([]byte, error) {
	return func() ([]byte, error) {
		list := make([]json.RawMessage, len(messages))
		for i, m := range messages {
			text, err := codec.Marshal(m)
			if err != nil {
				return nil, err
			}
			list[i] = text
		}
		return json.Marshal(list)
	}
}

// dataOfValue returns the JSON of a value that package json encodes.
func dataOfValue(value any) func() ([]byte, error) {
	return func() ([]byte, error) {
		var b bytes.Buffer
		encoder := json.NewEncoder(&b)
		encoder.SetEscapeHTML(false)
		err := encoder.Encode(value)
		return bytes.TrimSpace(b.Bytes()), err
	}
}

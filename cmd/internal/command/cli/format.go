package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/codec"
)

// The formats of --output.
const (
	formatTable = "table"
	FormatJSON  = "json"
	FormatYAML  = "yaml"
	FormatName  = "name"
)

var formats = []string{formatTable, FormatJSON, FormatYAML, FormatName}

// Format is the value of --output. Empty means that the command decides, for which
// most print a table.
type Format string

// Set implements pflag.Value.
func (o *Format) Set(word string) error {
	if !slices.Contains(formats, word) {
		return fmt.Errorf("must be %s", JoinWords(formats, "or"))
	}
	*o = Format(word)
	return nil
}

// String implements pflag.Value.
func (o *Format) String() string { return string(*o) }

// Type implements pflag.Value.
func (o *Format) Type() string { return strings.Join(formats, "|") }

// Flag adds --output to a command. name describes the output in the format "name".
func (o *Format) Flag(command *cobra.Command, name string) {
	o.FlagWithDefault(command, name, formatTable)
}

// FlagWithDefault adds --output to a command that prints something else than a table by
// default.
func (o *Format) FlagWithDefault(command *cobra.Command, name, unset string) {
	command.Flags().VarP(o, "output", "o", fmt.Sprintf("output format; name prints only %s (default %s)", name, unset))
	_ = command.RegisterFlagCompletionFunc("output", CompleteWords(formats...)) // the flag exists
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
		return WriteYAML(out, text)
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

// WriteYAML writes JSON as YAML, with its members in their order.
func WriteYAML(out io.Writer, text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	node, err := yamlNode(decoder)
	if err != nil {
		return err
	}
	encoder := yaml.NewEncoder(out)
	encoder.SetIndent(2)
	return errors.Join(encoder.Encode(node), encoder.Close())
}

// yamlNode returns the next value of the decoder.
func yamlNode(decoder *json.Decoder) (*yaml.Node, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case json.Delim:
		node := &yaml.Node{Kind: yaml.SequenceNode}
		if token == '{' {
			node.Kind = yaml.MappingNode
		}
		for decoder.More() { // of an object: a key, or its value
			member, err := yamlNode(decoder)
			if err != nil {
				return nil, err
			}
			node.Content = append(node.Content, member)
		}
		_, err := decoder.Token()
		return node, err
	case json.Number:
		tag := "!!float"
		if !bytes.ContainsAny([]byte(token), ".eE") {
			tag = "!!int"
		}
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: token.String()}, nil
	}
	node := new(yaml.Node)
	return node, node.Encode(token)
}

package document

import (
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// yaml11Booleans are texts that readers of YAML 1.1 take for booleans.
var yaml11Booleans = []string{"y", "n", "yes", "no", "on", "off"}

// yamlNode returns the value as the YAML library writes it.
func yamlNode(n *node) *yaml.Node {
	switch n.kind {
	case null:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: "null"}
	case boolean, number:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: n.text}
	case text:
		return yamlText(n.text)
	case list:
		out := &yaml.Node{Kind: yaml.SequenceNode}
		for _, item := range n.items {
			out.Content = append(out.Content, yamlNode(item))
		}
		return out
	}
	out := &yaml.Node{Kind: yaml.MappingNode}
	for _, m := range n.members {
		name := yamlText(m.name)
		if strings.Contains(m.name, "\n") {
			name.Style = yaml.DoubleQuotedStyle
		}
		out.Content = append(out.Content, name, yamlNode(m.value))
	}
	return out
}

// yamlText returns a text that every reader takes for a text. The library
// chooses the style, except where its choice would be read as something else.
func yamlText(value string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
	switch {
	case strings.Contains(value, "\n") && !isSimpleBlock(value),
		jsonNumber.MatchString(value),
		slices.Contains(yaml11Booleans, strings.ToLower(value)):
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// isSimpleBlock tells whether a text of several lines can stand as a block
// whose indentation and end are beyond doubt.
func isSimpleBlock(value string) bool {
	lines := strings.Split(strings.TrimSuffix(value, "\n"), "\n")
	if lines[0] == "" || lines[len(lines)-1] == "" {
		return false
	}
	for _, line := range lines {
		if strings.HasPrefix(line, " ") || strings.HasSuffix(line, " ") {
			return false
		}
		for _, r := range line {
			if !unicode.IsPrint(r) {
				return false
			}
		}
	}
	return true
}

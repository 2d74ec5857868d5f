package document

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// yaml11Booleans are strings that YAML 1.1 readers treat as booleans.
var yaml11Booleans = []string{"y", "n", "yes", "no", "on", "off"}

// yaml11Special matches strings that only YAML 1.1 readers treat as something else: numbers to
// the base 60, such as 16:9, fractions with underscores, and = alone, which some refuse.
var yaml11Special = regexp.MustCompile(`^([-+]?([0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?|[0-9_]*\.[0-9_]+)|=)$`)

// yamlNode returns the node of the YAML library for the value.
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

// yamlText returns a string that every reader treats as a string. The library chooses the
// style, unless some readers would misread its choice.
func yamlText(value string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
	switch {
	case strings.Contains(value, "\n") && !isSimpleBlock(value),
		jsonNumber.MatchString(value),
		yaml11Special.MatchString(value),
		slices.Contains(yaml11Booleans, strings.ToLower(value)):
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// isSimpleBlock reports whether a string of several lines can be written as a block with
// unambiguous indentation and end.
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

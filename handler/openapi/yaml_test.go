package openapi

import (
	"bytes"
	"encoding/json"
	"regexp"

	"go.yaml.in/yaml/v3"
)

// object is a mapping whose members keep their order.
type object []member

type member struct {
	name  string
	value any // object, []any, string, bool, int, json.Number or nil
}

// with returns the object with another member.
func (o object) with(name string, value any) object {
	return append(o, member{name, value})
}

func (o object) encode() ([]byte, error) {
	var text bytes.Buffer
	w := yaml.NewEncoder(&text)
	w.SetIndent(2)
	err := w.Encode(node(o))
	return text.Bytes(), err
}

func node(value any) *yaml.Node {
	n := new(yaml.Node)
	switch v := value.(type) {
	case object:
		n.Kind = yaml.MappingNode
		for _, m := range v {
			n.Content = append(n.Content, node(m.name), node(m.value))
		}
	case []any:
		n.Kind = yaml.SequenceNode
		for _, item := range v {
			n.Content = append(n.Content, node(item))
		}
	case json.Number:
		n.Kind, n.Value = yaml.ScalarNode, v.String()
	case string:
		n.Kind, n.Tag, n.Value = yaml.ScalarNode, "!!str", v
		if !plain.MatchString(v) || reserved.MatchString(v) {
			n.Style = yaml.DoubleQuotedStyle
		}
	default:
		if err := n.Encode(v); err != nil {
			panic(err)
		}
	}
	return n
}

// plain matches strings that need no quotes in YAML. It is stricter than necessary.
var plain = regexp.MustCompile(`^[A-Za-z/$][A-Za-z0-9_./$(){},;' -]*[A-Za-z0-9_./)}]$`)

// reserved matches strings that some YAML parsers do not read as strings.
var reserved = regexp.MustCompile(`(?i)^(true|false|null|yes|no|on|off|y|n)$`)
